"""The card over the composer: a draft that does not fit, a digest being written, the next part."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.client import Digesting, PartsWaiting
from app.client.fit_values import FitOffer
from app.fit_words import (
    about_words,
    digest_share,
    digest_words,
    digesting_words,
    title_words,
    waiting_words,
)
from app.labels import Picture, Words
from app.theme import theme_of
from app.theme.controls import Button, Progress
from app.theme.controls import ButtonKind as Kind
from app.theme.painting import rounded

_PAD_PX = 16
_TOP_PX = 14
_ICON_PX = 18
_GAP_PX = 8
_BELOW_PX = 10
_STEPS = 1_000
_ACTIONS = ("pick", "digest", "follow", "larger", "remove", "stop", "next", "end")


class _Act(NamedTuple):
    """A button: what it does, its words, its look."""

    action: str
    words: str
    kind: Kind = "plain"


class FitCard(QWidget):
    """Says what does not fit and offers what would work; no height while it is hidden.

    It never takes the focus by itself, so that typing goes on.

    Signals:
        acted(action): a button was pressed: "pick", "digest", "follow", "larger", "remove", "stop",
            "next" or "end".
        left(): the button that had the focus is gone.
    """

    acted = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._tone = "amber"
        self._shown = ""
        self._buttons = {action: self._made(action) for action in _ACTIONS}
        self.icon = Picture("file", "amber", _ICON_PX, self)
        self.title = Words("", "interface_bold", "ink", self, wrap=True)
        self.about = Words("", "interface", "ink2", self, wrap=True)
        self.bar = Progress(self.tr("How much of the digest is done"), self)
        self.bar.setRange(0, _STEPS)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme_of().changed.connect(self._place)
        self.hide()

    def button(self, action: str) -> Button | None:
        """The button of an action; None where it is not offered."""
        button = self._buttons[action]
        return None if button.isHidden() else button

    @property
    def actions_offered(self) -> tuple[str, ...]:
        """What the buttons do, in order."""
        return tuple(action for action in _ACTIONS if self.button(action) is not None)

    # -- what is shown -------------------------------------------------------------------

    def show_offer(self, offer: FitOffer) -> None:
        """Say that a draft does not fit, and what would help."""
        acts = []
        if offer.can_pick:
            acts.append(_Act("pick", self.tr("Choose parts…")))
        if offer.digest_pieces:
            acts.append(_Act("digest", digest_words(offer)))
        if offer.part_count:
            acts.append(_Act("follow", self.tr("Ask part by part")))
        if offer.larger is not None:
            words = self.tr("Use a window of {tokens}").format(tokens=f"{offer.larger.tokens:,}")
            acts.append(_Act("larger", words))
        if offer.index >= 0:
            acts.append(_Act("remove", self.tr("Remove"), "quiet" if acts else "plain"))
        if acts and acts[0].kind == "plain":
            acts[0] = acts[0]._replace(kind="primary")
        self._show("offer", "amber", (title_words(offer), about_words(offer)), acts)

    def show_digest(self, digest: Digesting) -> None:
        """Say how far a digest is."""
        self.bar.setValue(round(_STEPS * digest_share(digest)))
        words = digesting_words(digest)
        self._show("digest", "", words, [_Act("stop", self.tr("Stop"))])

    def show_next(self, waiting: PartsWaiting) -> None:
        """Offer the next part."""
        ask = self.tr("Ask part {number} of {total}").format(
            number=waiting.asked + 1, total=waiting.total
        )
        acts = [_Act("next", ask, "primary"), _Act("end", self.tr("No more parts"), "quiet")]
        self._show("next", "", waiting_words(waiting), acts)

    def clear(self) -> None:
        """Show nothing."""
        self._shown = ""
        self._put_buttons([])
        self.hide()

    def _show(self, what: str, tone: str, words: tuple[str, str], acts: Sequence[_Act]) -> None:
        self._tone = tone
        self.icon.set_color(tone or "ink2")
        self.title.setText(words[0])
        self.about.setText(words[1])
        self.about.setVisible(bool(words[1]))
        self.bar.setVisible(what == "digest")
        self.setAccessibleName(words[0])
        self._put_buttons(acts)
        self.show()
        self._place()
        if what != self._shown:
            self._shown = what
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words[0]))

    def _put_buttons(self, acts: Sequence[_Act]) -> None:
        """Show these; a button that goes gives the focus away first, else Qt gives it to any other."""
        offered = {act.action for act in acts}
        for action, button in self._buttons.items():
            if action not in offered and button.hasFocus():
                self.left.emit()
            button.setVisible(action in offered)
        for act in acts:
            button = self._buttons[act.action]
            button.setText(act.words)
            button.setAccessibleName(act.words)
            button.set_kind(act.kind)

    def _made(self, action: str) -> Button:
        button = Button("", "plain", "", self)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the composer
        button.clicked.connect(lambda: self.acted.emit(action))
        button.hide()
        return button

    # -- where it stands -----------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's; another width may need another height."""
        super().resizeEvent(event)
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        """Qt's; follows the direction of the interface."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._place()

    def _place(self) -> None:
        """Put the parts below one another, and be as high as they are."""
        px = theme_of().px
        left = px(_PAD_PX + _ICON_PX + _GAP_PX)
        width = max(px(80), self.width() - left - px(_PAD_PX))
        y = px(_TOP_PX)
        line = theme_of().line_height("interface_bold")
        icon = QRect(QPoint(px(_PAD_PX), y + (line - self.icon.height()) // 2), self.icon.size())
        self._put(self.icon, icon)
        for words in (self.title, self.about):
            if not words.isHidden():
                height = words.heightForWidth(width)
                self._put(words, QRect(left, y, width, height))
                y += height + px(4)
        if not self.bar.isHidden():
            y += px(6)
            self._put(self.bar, QRect(left, y, min(width, px(360)), px(4)))
            y += px(4)
        y = self._place_buttons(QRect(left, y + px(8), width, 0))
        self.setFixedHeight(y + px(_TOP_PX + _BELOW_PX))
        self.update()

    def _place_buttons(self, area: QRect) -> int:
        """Side by side, in as many rows as they need; where they end."""
        px, x, y = theme_of().px, area.left(), area.top()
        bottom = y
        for button in filter(None, map(self.button, _ACTIONS)):
            size = button.sizeHint()
            if x > area.left() and x + size.width() > area.left() + area.width():
                x, y = area.left(), bottom + px(_GAP_PX)
            self._put(button, QRect(QPoint(x, y), size))
            x += size.width() + px(_GAP_PX)
            bottom = y + size.height()
        return bottom

    def _put(self, part: QWidget, rect: QRect) -> None:
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            rect.moveLeft(self.width() - rect.left() - rect.width())
        part.setGeometry(rect)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's; paints the card."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0, 0, 0, -theme.px(_BELOW_PX))
        line = theme.color(f"{self._tone}_line" if self._tone else "line")
        rounded(painter, box, theme.px(10), theme.color("raised"), line)
        painter.end()
