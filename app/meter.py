"""The meter: what of the window is used by what, how much is free, what is kept for the reply."""

from PySide6.QtCore import (
    QCoreApplication,
    QEasingCurve,
    QEvent,
    QLocale,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QVariantAnimation,
)
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.meter_plan import GAP_PX, PARTS, Bar, MeterValues, Row, plan_bar, plan_rows
from app.theme import theme_of
from app.theme.controls import set_focus_ring
from app.theme.painting import rounded

_COLORS: dict[str, str] = {
    "system": "m_system",
    "pins": "m_pins",
    "summary": "m_summary",
    "recent": "m_recent",
    "files": "m_files",
    "thinking": "m_think",
    "draft": "m_draft",
    "over": "red",
    "free": "m_free",
    "reserve": "m_free",
}
_BAR_PX = 8
_ROW_PX = 20
_TICK_PX = 2
_TICK_HEIGHT_PX = 16
_HATCH_STEP_PX = 6
_FIGURES_GAP_PX = 12
_TWEEN_MS = 160


def figure(number: int) -> str:
    """A number as the locale groups it: "2,914"."""
    locale = QLocale()
    if locale.language() == QLocale.Language.C:  # groups nothing
        locale = QLocale(QLocale.Language.English)
    return locale.toString(number)


def part_title(part: str) -> str:
    """What a part of the prompt is called, in the user's language."""
    titles = {
        "system": QCoreApplication.translate("Meter", "System prompt"),
        "pins": QCoreApplication.translate("Meter", "Pins"),
        "summary": QCoreApplication.translate("Meter", "Summary and exact values"),
        "recent": QCoreApplication.translate("Meter", "Recent messages"),
        "files": QCoreApplication.translate("Meter", "Files and tool results"),
        "thinking": QCoreApplication.translate("Meter", "Thinking"),
        "draft": QCoreApplication.translate("Meter", "Draft"),
        "free": QCoreApplication.translate("Meter", "Free for the prompt"),
        "over": QCoreApplication.translate("Meter", "Too much"),
        "reserve": QCoreApplication.translate("Meter", "Kept for the reply"),
        "prompt": QCoreApplication.translate("Meter", "Prompt"),
        "window": QCoreApplication.translate("Meter", "Window"),
    }
    return titles[part]


def sentence(values: MeterValues) -> str:
    """The meter in words, for a screen reader."""
    used = figure(values.used)
    if not values.exact:
        used = QCoreApplication.translate("Meter", "about {used}").format(used=used)
    if not values.budget:
        return QCoreApplication.translate("Meter", "{used} tokens used").format(used=used)
    if values.level == "over":
        text = QCoreApplication.translate(
            "Meter", "{used} of {budget} tokens used, {over} too many"
        )
    else:
        text = QCoreApplication.translate("Meter", "{used} of {budget} tokens used, {free} free")
    return text.format(
        used=used,
        budget=figure(values.budget),
        free=figure(values.free),
        over=figure(values.used - values.budget),
    )


def paint_swatch(painter: QPainter, rect: QRectF, part: str) -> None:
    """Fill a stretch in the colour, or the hatch, of a part; it clips to nothing but `rect`."""
    theme = theme_of()
    painter.fillRect(rect, theme.color(_COLORS[part]))
    if part != "reserve":
        return
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(theme.color("m_hatch"), theme.zoom))
    step, height = _HATCH_STEP_PX * theme.zoom, rect.height()
    x = rect.left() - height
    while x < rect.right():
        painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + height, rect.top()))
        x += step
    painter.restore()


def paint_row(
    painter: QPainter, area: QRectF, row: Row, *, exact: bool, mirrored: bool = False
) -> None:
    """One line of a list of parts: swatch, name, tokens; "≈" before what is estimated."""
    theme, middle = theme_of(), Qt.AlignmentFlag.AlignVCenter
    indent = 0
    if row.part in _COLORS:
        size = theme.px(10)
        left = area.right() - size if mirrored else area.left()
        swatch = QRectF(left, round(area.center().y() - size / 2), size, size)
        clip = QPainterPath()
        clip.addRoundedRect(swatch, theme.px(2), theme.px(2))
        painter.save()
        painter.setClipPath(clip)
        paint_swatch(painter, swatch, row.part)
        painter.restore()
        indent = theme.px(18)
    name = area.adjusted(0, 0, -indent, 0) if mirrored else area.adjusted(indent, 0, 0, 0)
    strong = row.part == "prompt"
    painter.setFont(theme.font("interface_bold" if strong else "interface"))
    painter.setPen(theme.color("red" if row.part == "over" else "ink"))
    painter.drawText(name, middle, part_title(row.part))
    about = "" if exact or row.part in ("window", "reserve") else "≈ "
    painter.drawText(area, middle | Qt.AlignmentFlag.AlignTrailing, about + figure(row.tokens))


class MeterPopup(QWidget):
    """The list of what the meter shows; lies over the window, takes no focus and no clicks."""

    _WIDTH_PX = 264
    _ROW_PX = 24
    _RULE_PX = 13
    _PADDING_PX = 12

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._groups: tuple[tuple[Row, ...], ...] = ()
        self._exact = True
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(self.tr("What the window holds"))
        self.hide()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The lines as they are shown."""
        return tuple(row for group in self._groups for row in group)

    def set_values(self, values: MeterValues) -> None:
        """Show these values."""
        self._groups, self._exact = plan_rows(values), values.exact
        self.setAccessibleDescription(
            ", ".join(f"{part_title(row.part)} {figure(row.tokens)}" for row in self.rows)
        )
        px = theme_of().px
        height = len(self.rows) * self._ROW_PX + (len(self._groups) - 1) * self._RULE_PX
        self.resize(px(self._WIDTH_PX), px(height + 2 * self._PADDING_PX))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the box and its lines."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        rounded(painter, box, theme.px(8), theme.color("raised"), theme.color("control"))
        pad, y = theme.px(self._PADDING_PX), float(theme.px(self._PADDING_PX))
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        for number, group in enumerate(self._groups):
            if number:
                middle = round(y + theme.px(self._RULE_PX) / 2)
                line = QRectF(pad, middle, box.width() - 2 * pad, 1)
                painter.fillRect(line, theme.color("line"))
                y += theme.px(self._RULE_PX)
            for row in group:
                area = QRectF(pad, y, box.width() - 2 * pad, theme.px(self._ROW_PX))
                paint_row(painter, area, row, exact=self._exact, mirrored=mirrored)
                y += theme.px(self._ROW_PX)
        painter.end()


class Meter(QAbstractButton):
    """The bar with its figures; `clicked` asks for the panel, and shows the list.

    It holds values and nothing else. New values move there from the old ones unless motion is
    reduced. Hovering, or pressing it by keyboard, lists the segments over it.

    Signals:
        clicked(bool): Qt's; pressed by mouse, Space or Enter.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = MeterValues()
        self._from = self._shown = _tokens_of(self._values)
        self._popup: MeterPopup | None = None
        self._tween = QVariantAnimation(self)
        self._tween.setStartValue(0.0)
        self._tween.setEndValue(1.0)
        self._tween.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._tween.valueChanged.connect(self._on_tween)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_focus_ring(self, "outside", 6)
        self.clicked.connect(self.show_list)
        theme_of().changed.connect(self._on_theme)
        self.set_values(self._values)

    @property
    def values(self) -> MeterValues:
        """The values that were set last."""
        return self._values

    @property
    def listing(self) -> MeterPopup | None:
        """The list of segments while it is shown."""
        return self._popup if self._popup is not None and self._popup.isVisible() else None

    def set_values(self, values: MeterValues) -> None:
        """Show these values, at once while hidden or under reduced motion."""
        self._values, self._from = values, self._shown
        self.setAccessibleName(sentence(values))
        rows = (f"{part_title(row.part)} {figure(row.tokens)}" for row in _flat_rows(values))
        self.setAccessibleDescription(", ".join(rows))
        if self._popup is not None:
            self._popup.set_values(values)
        self._tween.stop()
        duration = theme_of().duration(_TWEEN_MS) if self.isVisible() else 0
        if duration:
            self._tween.setDuration(duration)
            self._tween.start()
        else:
            self._shown = _tokens_of(values)
        self.updateGeometry()
        self.update()

    def figures(self) -> str:
        """The figures as they are written at the end of the bar."""
        return "".join(text for text, _ in self._figure_parts())

    def bar(self) -> Bar:
        """The bar as it is painted now, in logical px from its start."""
        values = self._values
        width = self._bar_rect().width()
        return plan_bar(self._shown, values.budget, values.window, width, self.devicePixelRatioF())

    def show_list(self) -> None:
        """Show the list of segments over the bar."""
        window = self.window()
        if self._popup is None or self._popup.parentWidget() is not window:
            self._popup = MeterPopup(window)
        popup = self._popup
        popup.set_values(self._values)
        corner = self.mapTo(window, QPoint(0, -popup.height() - theme_of().px(8)))
        left = min(max(corner.x(), 0), max(0, window.width() - popup.width()))
        popup.move(left, max(0, corner.y()))
        popup.raise_()
        popup.show()

    def hide_list(self) -> None:
        """Take the list away."""
        if self._popup is not None:
            self._popup.hide()

    # -- Qt's ----------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """As wide as its figures and a bar that still shows something."""
        return QSize(round(self._figures_width()) + theme_of().px(160), theme_of().px(_ROW_PX))

    def minimumSizeHint(self) -> QSize:
        """The figures and a short bar."""
        return QSize(round(self._figures_width()) + theme_of().px(72), theme_of().px(_ROW_PX))

    def event(self, event: QEvent) -> bool:
        """Qt's; a resting pointer asks for the list, Escape takes it away before anything else."""
        if event.type() == QEvent.Type.ToolTip:
            self.show_list()
            return True
        if event.type() == QEvent.Type.ShortcutOverride and self.listing is not None:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's; Enter does what Space does, Escape closes the list."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() == Qt.Key.Key_Escape and self.listing is not None:
            self.hide_list()
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Qt's; the list goes with the pointer."""
        self.hide_list()
        super().leaveEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt's; the list goes with the focus."""
        self.hide_list()
        super().focusOutEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints bar, tick and figures from the values."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_bar(painter)
        self._paint_figures(painter)
        painter.end()

    # -- inside --------------------------------------------------------------------------

    def _on_tween(self, share: float) -> None:
        target = _tokens_of(self._values)
        self._shown = {
            name: self._from[name] + (target[name] - self._from[name]) * share for name in target
        }
        self.update()

    def _on_theme(self) -> None:
        self.updateGeometry()
        self.update()

    def _mirrored(self) -> bool:
        return self.layoutDirection() == Qt.LayoutDirection.RightToLeft

    def _figure_parts(self) -> list[tuple[str, bool]]:
        """The figures in the order of the language; True for the number that counts."""
        values = self._values
        used = figure(values.used) if values.exact else f"≈ {figure(values.used)}"
        if not values.budget:
            return [(used, True)]
        text = self.tr("{used} of {budget}")
        before, _, after = text.partition("{used}")
        budget = figure(values.budget)
        parts = [(before, False), (used, True), (after, False)]
        return [(part.replace("{budget}", budget), strong) for part, strong in parts if part]

    def _figure_font(self, *, strong: bool) -> QFont:
        warns = strong and self._values.level != "ok"
        return theme_of().font("small_bold" if warns else "small_medium")

    def _figures_width(self) -> float:
        return sum(
            QFontMetricsF(self._figure_font(strong=strong)).horizontalAdvance(text)
            for text, strong in self._figure_parts()
        )

    def _bar_rect(self) -> QRectF:
        theme = theme_of()
        height, gap = theme.px(_BAR_PX), theme.px(_FIGURES_GAP_PX)
        taken = round(self._figures_width() + 0.5) + gap
        left = taken if self._mirrored() else 0
        top = (self.height() - height) // 2
        return QRectF(left, top, max(0, self.width() - taken), height)

    def _paint_bar(self, painter: QPainter) -> None:
        theme, area, bar = theme_of(), self._bar_rect(), self.bar()
        painter.save()
        painter.translate(area.topLeft())
        if self._mirrored():
            painter.translate(area.width(), 0)
            painter.scale(-1, 1)
        clip = QPainterPath()
        clip.addRoundedRect(
            QRectF(0, 0, area.width(), area.height()), area.height() / 2, area.height() / 2
        )
        painter.save()
        painter.setClipPath(clip)
        for piece in bar.pieces:
            gap = 0 if piece.name in ("free", "reserve") else GAP_PX
            rect = QRectF(piece.left, 0, piece.right - piece.left - gap, area.height())
            paint_swatch(painter, rect, piece.name)
        painter.restore()
        if bar.tick is not None:
            height = theme.px(_TICK_HEIGHT_PX)
            top = (area.height() - height) / 2
            painter.fillRect(
                QRectF(bar.tick - 1, top, _TICK_PX, height), self._level_color("ink2")
            )
        painter.restore()

    def _paint_figures(self, painter: QPainter) -> None:
        theme = theme_of()
        x = 0.0 if self._mirrored() else self.width() - self._figures_width()
        base = round((self.height() + QFontMetricsF(theme.font("small")).capHeight()) / 2)
        parts = self._figure_parts()
        for text, strong in reversed(parts) if self._mirrored() else parts:
            painter.setFont(self._figure_font(strong=strong))
            painter.setPen(self._level_color("ink") if strong else theme.color("ink3"))
            painter.drawText(QPointF(x, base), text)
            x += QFontMetricsF(painter.font()).horizontalAdvance(text)

    def _level_color(self, calm: str) -> QColor:
        names = {"ok": calm, "near": "amber", "over": "red"}
        return theme_of().color(names[self._values.level])


def _flat_rows(values: MeterValues) -> tuple[Row, ...]:
    return tuple(row for group in plan_rows(values) for row in group)


def _tokens_of(values: MeterValues) -> dict[str, float]:
    return {part: float(getattr(values, part)) for part in PARTS}
