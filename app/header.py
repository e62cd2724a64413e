"""The header of a conversation: its title, its model and window, and the buttons at the right."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app.find_bar import FindBar
from app.labels import Words
from app.search_field import keeps_escape
from app.theme import theme_of
from app.theme.controls import Badge, BadgeKind, Chip, IconButton, set_focus_ring
from app.theme.painting import hairline, line_width

if TYPE_CHECKING:
    from app.client import Conversation, ModelRow

HEIGHT = 52
NARROW = 600
"""Below this width title and model get the room of what stands in the menu as well."""
_CHIP = 160  # px that the model has beside a long title
_KIBI = 1024
_THOUSAND = 1000


def window_words(tokens: int) -> str:
    """A window in a few characters: 16,384 is "16K", 20,000 is "20k"; "" when unknown."""
    if tokens <= 0:
        return ""
    if tokens % _KIBI == 0:
        return f"{tokens // _KIBI}K"
    return f"{tokens / _THOUSAND:.0f}k" if tokens >= _THOUSAND else str(tokens)


class Header(QWidget):
    """Which conversation this is, and what answers in it.

    Signals:
        model_clicked(): the chip; show the models below `chip_corner()`.
        badge_clicked(): the badge; show why it is there.
        action(name): "sidebar", "find", "lens" or "panel" was pressed.
        more_requested(position): the menu of this conversation, at a global position.
        renamed(title): the user typed another title.
    """

    model_clicked = Signal()
    badge_clicked = Signal()
    action = Signal(str)
    more_requested = Signal(QPoint)
    renamed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._title = ""
        self.find_bar = FindBar(self)
        self._make_parts()
        self._lay_out()
        self._theme.changed.connect(self._renew)
        self._renew()
        self.set_title("")
        self.set_model("", 0)
        self.set_cloud(on=False)
        self.set_badge("", "plain", "")
        self.set_sidebar_button(shown=False)
        self.setAccessibleName(self.tr("Conversation header"))

    def _make_parts(self) -> None:
        self.sidebar_button = IconButton("sidebar", self.tr("Show the sidebar"), self)
        self.title = _Title(self)
        self.editor = _TitleEditor(self)
        self.chip = Chip("", "model", self)
        self.cloud = Badge(self.tr("cloud"), "amber", "cloud", self)
        self.badge = _StateBadge(self)
        self.find_button = IconButton("search", self.tr("Find in this conversation"), self)
        self.lens_button = IconButton("lens", self.tr("Show what the model sees"), self)
        self.panel_button = IconButton("panel", self.tr("Context panel"), self)
        self.more_button = IconButton("more", self.tr("More"), self)
        self.title.double_clicked.connect(self.begin_rename)
        self.editor.done.connect(self._end_rename)
        self.chip.clicked.connect(self.model_clicked)
        self.badge.clicked.connect(self.badge_clicked)
        self.more_button.clicked.connect(self._on_more)
        for button, name in (
            (self.sidebar_button, "sidebar"),
            (self.find_button, "find"),
            (self.lens_button, "lens"),
            (self.panel_button, "panel"),
        ):
            button.setProperty("action", name)
            button.setCheckable(name in ("lens", "panel"))
            button.clicked.connect(self._on_button)

    def _lay_out(self) -> None:
        self._bar = QWidget(self)
        self._row = QHBoxLayout(self._bar)
        self._buttons = QHBoxLayout()
        for button in (self.find_button, self.lens_button, self.panel_button, self.more_button):
            self._buttons.addWidget(button)
        self._row.addWidget(self.sidebar_button)
        self._row.addWidget(self.title)
        self._row.addWidget(self.editor)
        self._row.addWidget(self.chip)
        self._row.addWidget(self.cloud)
        self._row.addWidget(self.badge)
        self._row.addStretch(1)
        self._row.addLayout(self._buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(self.find_bar)
        self.find_bar.hide()

    def _renew(self) -> None:
        px = self._theme.px
        self._bar.setFixedHeight(px(HEIGHT))
        left = 16 if self.sidebar_button.isVisibleTo(self) else 24
        self._row.setContentsMargins(px(left), 0, px(12), 1)
        self._row.setSpacing(px(12))
        self._buttons.setSpacing(px(2))
        self.editor.setFont(self._theme.font("title"))
        self._keep_chip()
        self.update()

    def _keep_chip(self) -> None:
        """A long title is cut before the model is, which is what one looks for."""
        wanted = self.chip.sizeHint().width()
        self.chip.setMinimumWidth(min(wanted, self._theme.px(_CHIP)))

    # -- what it shows -------------------------------------------------------------------

    def set_conversation(self, conversation: "Conversation", model: "ModelRow | None") -> None:
        """Show a conversation. `model`: what is known of its model, for a readable name."""
        self.set_title(conversation.title)
        title = model.title if model is not None else conversation.model
        self.set_model(title, conversation.window_tokens)
        self.set_guard(conversation.guard, conversation.guard_text)

    def set_title(self, title: str) -> None:
        """The title; "" stands for a new conversation."""
        self._title = title
        self.title.setText(" ".join(title.split()) or self.tr("New conversation"))

    def set_model(self, title: str, window_tokens: int) -> None:
        """The chip: the model's name for people and its window; 0 tokens when not known yet."""
        words = " · ".join(part for part in (title, window_words(window_tokens)) if part)
        self.chip.set_text(words or self.tr("Choose a model"))
        self._keep_chip()
        self.chip.setAccessibleName(self.tr("Model: {}").format(words or self.tr("none")))

    def set_cloud(self, *, on: bool) -> None:
        """Whether what is said here leaves this computer; marked for as long as it does."""
        self.cloud.setVisible(on)

    def set_guard(self, guard: str, reason: str, stretched: float = 1.0) -> None:
        """The badge: "warn" is a small window, "block" a blocked one; `reason` in words.

        `stretched`: how many times its trained window a model is stretched; 1 is not at all.
        """
        if guard == "block":
            self.set_badge(self.tr("blocked"), "red", reason)
        elif guard == "warn":
            self.set_badge(self.tr("small window"), "amber", reason)
        elif stretched > 1:
            self.set_badge(self.tr("stretched ×{:g}").format(stretched), "teal", reason)
        else:
            self.set_badge("", "plain", "")

    def set_badge(self, text: str, kind: BadgeKind, reason: str) -> None:
        """Show a badge, or none for an empty text."""
        self._reason = reason
        self.badge.set_state(text, kind)
        self.badge.setVisible(bool(text))
        self._fit_badge()

    def _fit_badge(self) -> None:
        """In a narrow window the badge is its icon."""
        is_narrow = self.width() < self._theme.px(NARROW)
        self.badge.set_compact(is_narrow)
        self.cloud.set_compact(is_narrow)
        leaves = self.tr("Runs on ollama.com: your messages and files leave this computer.")
        self.cloud.setToolTip(leaves)
        self.cloud.setAccessibleDescription(leaves)
        words = ": ".join(part for part in (self.badge.text, self._reason) if part)
        self.badge.setAccessibleName(words)
        self.badge.setToolTip(self._reason or self.badge.text)

    def set_sidebar_button(self, *, shown: bool) -> None:
        """Whether the button that brings the sidebar stands at the left."""
        self.sidebar_button.setVisible(shown)
        self._renew()

    def set_on(self, name: str, *, on: bool) -> None:
        """Show "lens" or "panel" as switched on."""
        button = {"lens": self.lens_button, "panel": self.panel_button}[name]
        button.setChecked(on)

    def chip_corner(self) -> QPoint:
        """Where the models are shown: the chip's lower left corner, global."""
        return self.chip.mapToGlobal(QPoint(0, self.chip.height() + self._theme.px(4)))

    # -- what is asked of it -------------------------------------------------------------

    def begin_rename(self) -> None:
        """Put a field over the title."""
        self.title.hide()
        self.editor.begin(self._title)

    def _end_rename(self, title: str) -> None:
        self.editor.hide()
        self.title.show()
        if title and title != " ".join(self._title.split()):
            self.set_title(title)
            self.renamed.emit(title)

    def _on_button(self) -> None:
        button = self.sender()
        if isinstance(button, IconButton) and button.isCheckable():
            button.setChecked(not button.isChecked())  # it shows what is, not what was asked for
        self.action.emit(str(button.property("action")))

    def _on_more(self) -> None:
        button = self.more_button
        corner = QPoint(0, button.height() + self._theme.px(2))
        self.more_requested.emit(button.mapToGlobal(corner))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: in a narrow window the badge is its icon; lens and panel are in the menu."""
        super().resizeEvent(event)
        wide = self.width() >= self._theme.px(NARROW)
        self.lens_button.setVisible(wide)
        self.panel_button.setVisible(wide)
        self._fit_badge()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the ground, and the line below."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("paper"))
        y = self._bar.height() - line_width(self.devicePixelRatioF())
        hairline(painter, 0, y, self.width(), self._theme.color("line"))


class _StateBadge(Badge):
    """The badge as something that can be pressed, with the pointer or Enter.

    Signals:
        clicked(): why is it there?
    """

    clicked = Signal()

    def __init__(self, header: Header) -> None:
        super().__init__("", "plain", None, header)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        set_focus_ring(self, "outside", 10)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt's."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Enter and the space bar press it."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)


class _Title(Words):
    """The title; a double click wants it renamed."""

    double_clicked = Signal()

    def __init__(self, header: Header) -> None:
        super().__init__("", "title", "ink", header)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt's."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()


class _TitleEditor(QLineEdit):
    """The field over the title: Enter keeps what was typed, Esc does not.

    Signals:
        done(title): it is over; "" when nothing is to change.
    """

    done = Signal(str)

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self._open = False
        self.setAccessibleName(self.tr("Title of the conversation"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.editingFinished.connect(self._on_finished)
        self.hide()

    def begin(self, title: str) -> None:
        """Show it with this title, all of it selected."""
        self._open = True
        self.setText(title)
        self.show()
        self.selectAll()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _finish(self, title: str) -> None:
        if self._open:
            self._open = False
            self.done.emit(title)

    def _on_finished(self) -> None:
        self._finish(" ".join(self.text().split()))

    def event(self, event: QEvent) -> bool:
        """Qt's: Esc is ours before any shortcut of the window takes it."""
        return keeps_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: Esc gives up."""
        if event.key() == Qt.Key.Key_Escape:
            self._finish("")
        else:
            super().keyPressEvent(event)
