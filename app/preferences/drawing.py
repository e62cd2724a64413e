"""The effective value in a picture: its steps as tags, a sentence, the divided window."""

import math

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.labels import Words
from app.meter import figure, paint_swatch
from app.preferences.effective import Effective, step_words
from app.theme import theme_of
from app.theme.painting import draw_icon, rounded, snap

_TAG_PX = 22
_BAR_PX = 28
_PAD_PX = 16


class EffectiveView(QWidget):
    """What becomes of a reserve in the chosen model's window; hidden while nothing differs."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.steps = StepTags(self)
        self.sentence = Words("", "interface", "ink", self, wrap=True)
        self.drawing = WindowDrawing(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.steps, self.sentence, self.drawing):
            column.addWidget(widget)
        self._column = column
        self._theme.changed.connect(self._renew)
        self._renew()
        self.hide()

    def _renew(self) -> None:
        px = self._theme.px
        self.sentence.setContentsMargins(0, px(6), 0, px(12))
        self.updateGeometry()

    def show_effective(self, effective: Effective, model: str) -> None:
        """Explain a value, if there is something to explain; `model` is its title."""
        self.setVisible(effective.differs)
        if not effective.differs:
            return
        self.steps.set_effective(effective)
        self.sentence.setText(effective.sentence)
        self.drawing.set_effective(effective, model)
        self.setAccessibleName(f"{self.steps.text}. {effective.sentence}")


class StepTags(QWidget):
    """typed 4,096 › floor raises to 20,000 › capped at 8,384; the last one counts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._words: tuple[str, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._theme.changed.connect(self.updateGeometry)

    @property
    def text(self) -> str:
        """The steps in one line."""
        return " › ".join(self._words)

    def set_effective(self, effective: Effective) -> None:
        """Show the steps of a value."""
        self._words = tuple(step_words(*step) for step in effective.steps())
        self.setAccessibleName(self.text)
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        """Qt's."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Qt's: tags go on in the next line where they must."""
        places = self._places(width)
        return math.ceil(places[-1].bottom()) if places else 0

    def sizeHint(self) -> QSize:
        """Qt's: all in one line."""
        return QSize(self._theme.px(320), self._theme.px(_TAG_PX))

    def minimumSizeHint(self) -> QSize:
        """Qt's."""
        return QSize(self._theme.px(120), self._theme.px(_TAG_PX))

    def _places(self, width: float) -> list[QRectF]:
        px = self._theme.px
        metrics = QFontMetricsF(self._theme.font("small_medium"))
        places: list[QRectF] = []
        x = y = 0.0
        for words in self._words:
            wide = min(math.ceil(metrics.horizontalAdvance(words)) + 2 * px(9), width)
            if places and x + wide > width:
                x, y = 0.0, y + px(_TAG_PX + 4)
            places.append(QRectF(x, y, wide, px(_TAG_PX)))
            x += wide + px(30)
        return places

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        painter.setFont(theme.font("small_medium"))
        places = self._places(self.width())
        for at, (words, place) in enumerate(zip(self._words, places, strict=True)):
            is_last = at == len(places) - 1
            fill, line = ("selected", "selected") if is_last else ("sunken", "line")
            rounded(painter, place, place.height() / 2, theme.color(fill), theme.color(line))
            painter.setPen(theme.color("accent" if is_last else "ink2"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)
            if not is_last:
                side = px(14)
                spot = (place.right() + px(8), place.center().y() - side / 2, side)
                draw_icon(painter, theme, "chevron-right", "ink2", spot)
        painter.end()


class WindowDrawing(QWidget):
    """The whole window: the prompt's part, the reply's, and where the typed value would part them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._effective: Effective | None = None
        self._model = ""
        self._shows_typed = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self.updateGeometry)

    def set_effective(self, effective: Effective, model: str, *, shows_typed: bool = True) -> None:
        """Show a value in a model's window, and where the typed one would part it."""
        self._effective, self._model, self._shows_typed = effective, model, shows_typed
        said = QCoreApplication.translate(
            "Preferences", "The window of {model}, {window} tokens: {prompt} prompt, {reply} reply"
        )
        self.setAccessibleName(
            said.format(
                model=model,
                window=figure(effective.window),
                prompt=figure(effective.prompt),
                reply=figure(effective.reserve),
            )
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Qt's: a card with a head, the bar, and a line below."""
        px = self._theme.px
        below = px(8 + 16) if self._shows_typed else 0
        return QSize(px(360), 2 * px(12) + px(20 + 8 + _BAR_PX) + below)

    def minimumSizeHint(self) -> QSize:
        """Qt's."""
        return QSize(self._theme.px(200), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's."""
        super().resizeEvent(event)
        self.update()

    def bar(self) -> QRectF:
        """Where the bar is, in logical px."""
        px = self._theme.px
        wide = max(0, self.width() - 2 * px(_PAD_PX))
        return QRectF(px(_PAD_PX), px(12 + 20 + 8), wide, px(_BAR_PX))

    def place_of(self, tokens: int) -> float:
        """The x of so many tokens from the window's start."""
        bar, whole = self.bar(), self._effective.window if self._effective else 0
        share = min(max(tokens / whole, 0.0), 1.0) if whole else 0.0
        return snap(bar.left() + share * bar.width(), self.devicePixelRatioF())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the card and what is in it."""
        if self._effective is None:
            return
        painter = QPainter(self)
        theme = self._theme
        card, radius = QRectF(self.rect()), theme.px(10)
        rounded(painter, card, radius, theme.color("raised"), theme.color("line"))
        self._paint_head(painter, self._effective)
        self._paint_bar(painter, self._effective)
        if self._shows_typed:
            self._paint_typed(painter, self._effective)
        painter.end()

    def _paint_head(self, painter: QPainter, effective: Effective) -> None:
        theme, px, bar = self._theme, self._theme.px, self.bar()
        size = QCoreApplication.translate("Preferences", "{tokens} tokens").format(
            tokens=figure(effective.window)
        )
        font = theme.font("interface")
        wide = QFontMetricsF(font).horizontalAdvance(size)
        head = QCoreApplication.translate("Preferences", "The window of {model}").format(
            model=self._model
        )
        bold = theme.font("interface_bold")
        metrics = QFontMetricsF(bold)
        room = max(0.0, bar.width() - wide - px(8))
        head = metrics.elidedText(head, Qt.TextElideMode.ElideRight, room)
        line = QRectF(bar.left(), px(12), bar.width(), px(20))
        painter.setFont(bold)
        painter.setPen(theme.color("ink"))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, head)
        painter.setFont(font)
        painter.setPen(theme.color("ink2"))
        line.setLeft(bar.left() + metrics.horizontalAdvance(head) + px(8))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, size)

    def _paint_bar(self, painter: QPainter, effective: Effective) -> None:
        theme, px, bar = self._theme, self._theme.px, self.bar()
        parted = self.place_of(effective.prompt)
        clip = QPainterPath()
        clip.addRoundedRect(bar, px(6), px(6))
        prompt = QRectF(bar.left(), bar.top(), parted - bar.left(), bar.height())
        reply = QRectF(parted, bar.top(), bar.right() - parted, bar.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(clip)
        painter.fillRect(prompt, theme.color("m_recent"))
        paint_swatch(painter, reply, "reserve")
        painter.restore()
        said = QCoreApplication.translate("Preferences", "Prompt {tokens}").format(
            tokens=figure(effective.prompt)
        )
        self._paint_label(painter, prompt, said, on_fill=True)
        said = QCoreApplication.translate("Preferences", "Reply {tokens}").format(
            tokens=figure(effective.reserve)
        )
        self._paint_label(painter, reply, said, on_fill=False)

    def _paint_label(self, painter: QPainter, part: QRectF, words: str, *, on_fill: bool) -> None:
        """The words of a part, if they fit into it; on the hatch they have a ground of their own."""
        theme, px = self._theme, self._theme.px
        painter.setFont(theme.font("small_medium"))
        wide = QFontMetricsF(painter.font()).horizontalAdvance(words)
        tag = QRectF(part.left() + px(6), part.top() + px(4), wide + 2 * px(6), px(20))
        if tag.right() > part.right() - px(2):
            return
        if not on_fill:
            rounded(painter, tag, px(4), theme.color("raised"))
        painter.setPen(theme.color("on_accent" if on_fill else "ink"))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_typed(self, painter: QPainter, effective: Effective) -> None:
        """The dashed line where the typed value would part the window, and the words below."""
        theme, px, bar = self._theme, self._theme.px, self.bar()
        painter.setFont(theme.font("small"))
        metrics = QFontMetricsF(painter.font())
        below = QRectF(bar.left(), bar.bottom() + px(8), bar.width(), px(16))
        right = below.right()
        if effective.typed <= effective.window:
            x = self.place_of(effective.window - effective.typed)
            pen = QPen(theme.color("ink"), max(1.5, px(15) / 10), Qt.PenStyle.CustomDashLine)
            pen.setDashPattern([2, 1.5])
            painter.setPen(pen)
            painter.drawLine(QPointF(x, bar.top() - px(2)), QPointF(x, bar.bottom() + px(7)))
            said = QCoreApplication.translate("Preferences", "where {tokens} would be").format(
                tokens=figure(effective.typed)
            )
            wide = metrics.horizontalAdvance(said) + 1
            left = min(max(x - wide / 2, below.left()), below.right() - wide)
            painter.setPen(theme.color("ink3"))
            painter.drawText(QRectF(left, below.top(), wide, below.height()), 0, said)
            right = left - px(12)
        if effective.is_capped:
            said = QCoreApplication.translate("Preferences", "always left for the prompt")
            if metrics.horizontalAdvance(said) <= right - below.left():
                painter.setPen(theme.color("ink3"))
                painter.drawText(below, 0, said)
