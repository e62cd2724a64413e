"""Controls that take a value: switch, segmented control, field, choice; and the progress bar."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from app.theme.focus import set_focus_ring
from app.theme.menus import PopupMenu
from app.theme.painting import draw_icon, hairline, line_width, ratio_of, rounded, snapped
from app.theme.theme import theme_of

_MNEMONIC = Qt.TextFlag.TextHideMnemonic


class Switch(QCheckBox):
    """On or off, at once: 36 x 20 px. `name` is its accessible name; `toggled` tells."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.setAccessibleName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "outside", 10)
        self._theme.changed.connect(self._on_theme_changed)

    def sizeHint(self) -> QSize:
        """36 x 20."""
        return QSize(self._theme.px(36), self._theme.px(20))

    def minimumSizeHint(self) -> QSize:
        """As large as it wants to be."""
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        """All of it can be pressed, not only where a check box would be."""
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The track, then the knob at the side that is on."""
        px, color = self._theme.px, self._theme.color
        painter = QPainter(self)
        box = QRectF(self.rect())
        on, enabled = self.isChecked(), self.isEnabled()
        if on:
            track = "accent_hover" if self.underMouse() else "accent"
            rounded(painter, box, box.height() / 2, color(track if enabled else "m_free"))
        else:
            edge, width = color("control" if enabled else "line"), max(1.5, px(15) / 10)
            fill = color("hover") if enabled and self.underMouse() else None
            rounded(painter, box, box.height() / 2, fill, edge, width=width)
        side = px(14)
        gap = (box.height() - side) / 2
        x = box.width() - gap - side if on else gap
        knob = "on_accent" if on and enabled else "control" if enabled else "disabled"
        rounded(painter, QRectF(x, gap, side, side), side / 2, color(knob))
        painter.end()

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()


class CheckBox(QCheckBox):
    """A box to tick, with its words beside it."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme_of()
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        set_focus_ring(self, "outside", 4)
        self._theme.changed.connect(self._on_theme_changed)

    def sizeHint(self) -> QSize:
        """The box, 8 px, the words."""
        px = self._theme.px
        metrics = QFontMetrics(self._theme.font("interface"))
        words = metrics.size(_MNEMONIC, self.text()).width()
        return QSize(px(16) + (px(8) + words if self.text() else 0), px(20))

    def minimumSizeHint(self) -> QSize:
        """Never smaller than its words."""
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        """The words can be pressed too."""
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Box, mark, words."""
        px, color = self._theme.px, self._theme.color
        painter = QPainter(self)
        on, enabled = self.isChecked(), self.isEnabled()
        side = px(16)
        box = QRectF(0, (self.height() - side) / 2, side, side)
        if on:
            rounded(painter, box, px(4), color("accent" if enabled else "m_free"))
            mark = "on_accent" if enabled else "disabled"
            at = (box.left() + px(1), box.top() + px(1), side - 2 * px(1))
            draw_icon(painter, self._theme, "check", mark, at)
        else:
            fill = "hover" if enabled and self.underMouse() else "raised"
            edge = "control" if enabled else "line"
            rounded(painter, box, px(4), color(fill), color(edge))
        painter.setFont(self._theme.font("interface"))
        painter.setPen(color("ink" if enabled else "disabled"))
        words = QRectF(self.rect()).adjusted(side + px(8), 0, 0, 0)
        flags = int(Qt.AlignmentFlag.AlignVCenter) | int(_MNEMONIC)
        painter.drawText(words, flags, self.text())
        painter.end()

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()


class Segmented(QWidget):
    """One of a few choices, side by side; arrows move between them.

    Signals:
        chosen(str): the key of the part the person chose.
    """

    chosen = Signal(str)

    def __init__(
        self, parts: Sequence[tuple[str, str]], name: str, parent: QWidget | None = None
    ) -> None:
        """Build it of (key, words) pairs; the first is chosen. `name` is the accessible name."""
        super().__init__(parent)
        self._theme = theme_of()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._parts: dict[str, _Part] = {}
        for at, (key, words) in enumerate(parts):
            part = _Part(words, self, (at == 0, at == len(parts) - 1))
            part.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(key))
            part.toggled.connect(self.update)
            self._parts[key] = part
            row.addWidget(part)
        self.set_value(parts[0][0])

    @property
    def value(self) -> str:
        """The key of the chosen part."""
        return next(key for key, part in self._parts.items() if part.isChecked())

    def set_value(self, key: str) -> None:
        """Choose a part without telling."""
        self._parts[key].setChecked(True)

    def offer(self, keys: Collection[str]) -> None:
        """Show these parts only, at least one."""
        shown = [key for key in self._parts if key in keys]
        for key, part in self._parts.items():
            part.setVisible(key in shown)
            part.set_ends(first=key == shown[0], last=key == shown[-1])

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The box; the parts lie over it and leave its border free."""
        painter = QPainter(self)
        edge = "control" if self.isEnabled() else "line"
        color = self._theme.color
        rounded(painter, QRectF(self.rect()), self._theme.px(6), color("raised"), color(edge))
        painter.end()


class _Part(QRadioButton):
    """One choice of a segmented control."""

    def __init__(self, words: str, parent: Segmented, ends: tuple[bool, bool]) -> None:
        super().__init__(words, parent)
        self._theme = theme_of()
        self._ends = ends  # whether it is the first, the last
        self.setAccessibleName(words)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        set_focus_ring(self, "outside", 6, of_parent=True)
        self._theme.changed.connect(self.updateGeometry)

    def set_ends(self, *, first: bool, last: bool) -> None:
        """Whether it stands at the control's ends."""
        self._ends = (first, last)
        self.update()

    def sizeHint(self) -> QSize:
        """Its words in the heavier weight, so that choosing moves nothing."""
        words = QFontMetrics(self._theme.font("interface_medium")).horizontalAdvance(self.text())
        return QSize(words + 2 * self._theme.px(12), self._theme.px(32))

    def minimumSizeHint(self) -> QSize:
        """Never smaller than its words."""
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        """All of it can be pressed."""
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Its fill within the common border, its words."""
        color = self._theme.color
        painter = QPainter(self)
        on, enabled = self.isChecked(), self.isEnabled()
        if on:
            self._fill(painter, "accent" if enabled else "m_free", 0)
        elif enabled and (self.underMouse() or self.isDown()):
            self._fill(painter, "selected" if self.isDown() else "hover", 1)
        if not self._ends[1] and not on:
            inset = line_width(ratio_of(painter))
            x, height = self.width() - inset, self.height() - 2 * inset
            hairline(painter, x, inset, height, color("line"), vertical=True)
        ink = ("on_accent" if on else "ink2") if enabled else "disabled"
        painter.setFont(self._theme.font("interface_medium" if on else "interface"))
        painter.setPen(color(ink))
        painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()

    def _fill(self, painter: QPainter, token: str, inset: int) -> None:
        """Fill the part; only the corners that lie at the control's ends are round."""
        edge = line_width(ratio_of(painter)) * inset
        first, last = self._ends
        far = self._theme.px(6) * 2
        box = QRectF(self.rect()).adjusted(edge if first else 0, edge, -edge if last else 0, -edge)
        box = snapped(box, ratio_of(painter))
        painter.save()
        painter.setClipRect(box)
        grown = box.adjusted(0 if first else -far, 0, 0 if last else far, 0)
        rounded(painter, grown, self._theme.px(6) - edge, self._theme.color(token))
        painter.restore()


class Field(QLineEdit):
    """One line of text, 32 px high; `numeric` ones are right-aligned. `name` is read aloud.

    Focus shows in the border. A wrong value turns it red; the sentence that says why is the
    owner's, below.
    """

    def __init__(
        self, name: str, text: str = "", parent: QWidget | None = None, *, numeric: bool = False
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme_of()
        self._wrong = False
        self._icon_name = ""
        self.setProperty("painted", "true")
        self.setFrame(False)
        self.setAccessibleName(name)
        if numeric:
            self.setAlignment(Qt.AlignmentFlag.AlignRight)
        set_focus_ring(self, "none")
        self._theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def is_wrong(self) -> bool:
        """Whether it shows that its value cannot be used."""
        return self._wrong

    def set_wrong(self, wrong: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Show that the value cannot be used, or that it can."""
        self._wrong = wrong
        self.update()

    def set_icon(self, name: str) -> None:
        """An icon at its left: the glass of a search."""
        self._icon_name = name
        self._on_theme_changed()

    def sizeHint(self) -> QSize:
        """32 px high; the width is the layout's."""
        return QSize(self._theme.px(160), self._theme.px(32))

    def minimumSizeHint(self) -> QSize:
        """Room for a figure."""
        return QSize(self._theme.px(56), self._theme.px(32))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box and icon, then Qt's text."""
        px, color = self._theme.px, self._theme.color
        painter = QPainter(self)
        box = QRectF(self.rect())
        focused = self.hasFocus()
        edge = "red" if self._wrong else "accent" if focused else "control"
        if not self.isEnabled():
            edge = "line"
        width = 2.0 if focused else 0.0
        rounded(painter, box, px(6), color("raised"), color(edge), width=width)
        if self._icon_name:
            side = px(16)
            at = (px(8), (box.height() - side) / 2, side)
            draw_icon(painter, self._theme, self._icon_name, "ink3", at)
        painter.end()
        super().paintEvent(event)

    def _on_theme_changed(self) -> None:
        px = self._theme.px
        self.setFont(self._theme.font("interface"))
        left = px(8 + 16 + 6) if self._icon_name else px(8)
        self.setTextMargins(left, 0, px(8), 0)
        self.setFixedHeight(px(32))
        self.update()


class Choice(QComboBox):
    """One of a list that opens, 32 px high. `name` is read aloud."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.setAccessibleName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        set_focus_ring(self, "outside", 6)
        self._theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def sizeHint(self) -> QSize:
        """Room for the longest of its items."""
        px = self._theme.px
        metrics = QFontMetrics(self._theme.font("interface"))
        texts = [self.itemText(at) for at in range(self.count())]
        words = max((metrics.horizontalAdvance(text) for text in texts), default=0)
        return QSize(words + px(10) + px(6) + px(16) + px(8), px(32))

    def minimumSizeHint(self) -> QSize:
        """A few letters and the chevron."""
        return QSize(min(self.sizeHint().width(), self._theme.px(96)), self._theme.px(32))

    def showPopup(self) -> None:
        """Open the items as a menu, the current one marked."""
        menu = PopupMenu(parent=self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setMinimumWidth(self.width())
        for at in range(self.count()):
            action = menu.addAction(self.itemText(at).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(at == self.currentIndex())
            action.triggered.connect(lambda _checked=False, at=at: self._choose(at))
            if at == self.currentIndex():
                menu.setActiveAction(action)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def hidePopup(self) -> None:
        """Nothing to hide: the menu closes itself."""

    def _choose(self, index: int) -> None:
        self.setCurrentIndex(index)
        self.activated.emit(index)
        self.textActivated.emit(self.itemText(index))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Box, words, chevron."""
        px, color = self._theme.px, self._theme.color
        painter = QPainter(self)
        box = QRectF(self.rect())
        enabled = self.isEnabled()
        fill = "hover" if enabled and self.underMouse() else "raised"
        rounded(painter, box, px(6), color(fill), color("control" if enabled else "line"))
        side = px(16)
        ink = "ink2" if enabled else "disabled"
        at = (box.width() - px(8) - side, (box.height() - side) / 2, side)
        draw_icon(painter, self._theme, "chevron-down", ink, at)
        painter.setFont(self._theme.font("interface"))
        painter.setPen(color("ink" if enabled else "disabled"))
        words = box.adjusted(px(10), 0, -(px(8) + side + px(6)), 0)
        shown = painter.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, int(words.width()) + 1
        )
        painter.drawText(words.adjusted(0, 0, 1, 0), Qt.AlignmentFlag.AlignVCenter, shown)
        painter.end()

    def _on_theme_changed(self) -> None:
        self.setFont(self._theme.font("interface"))
        self.setFixedHeight(self._theme.px(32))
        self.updateGeometry()


class Progress(QProgressBar):
    """How far something has come, 4 px high; moves only when there is news. `name` is read."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.setAccessibleName(name)
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._on_theme_changed)

    def sizeHint(self) -> QSize:
        """360 x 4."""
        return QSize(self._theme.px(360), self._theme.px(4))

    def minimumSizeHint(self) -> QSize:
        """4 px high, any width."""
        return QSize(self._theme.px(24), self._theme.px(4))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The track, and on it what is done."""
        painter = QPainter(self)
        box = snapped(QRectF(self.rect()), ratio_of(painter))
        radius = box.height() / 2
        rounded(painter, box, radius, self._theme.color("m_free"))
        span = self.maximum() - self.minimum()
        share = (self.value() - self.minimum()) / span if span > 0 else 0.0
        if share > 0:
            clip = QPainterPath()
            clip.addRoundedRect(box, radius, radius)
            painter.setClipPath(clip)
            done = QRectF(box.left(), box.top(), box.width() * min(share, 1.0), box.height())
            rounded(painter, done, radius, self._theme.color("accent"))
        painter.end()

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()
