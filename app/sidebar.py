"""The sidebar: a head, a search, the conversations by date, and what the model is doing."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.conversation_list import ConversationModel
from app.conversation_view import ConversationView
from app.grouping import plan_lines
from app.labels import Dot, Picture, Words, key_words
from app.pull_line import PullLine
from app.search_field import SearchField
from app.theme import theme_of
from app.theme.controls import IconButton, PopupMenu
from app.theme.painting import hairline, line_width

if TYPE_CHECKING:
    from app.client import ConversationRow, ModelState

HEAD, FOOT, WIDTH, NARROWEST, WIDEST = 52, 44, 264, 220, 400
_MARK = 22
_MINUTE_MS = 60_000
_GIGABYTE = 1_000_000_000


class Sidebar(QWidget):
    """Conversations to choose from. Shows what it is given; every wish is a signal.

    A deleted conversation stays in its place as "Deleted · Undo" for `UNDO_MS`, whatever rows come.

    Signals:
        chosen(id): open this conversation.
        new_requested(): begin a new one.
        search_changed(text): show what holds these words; "" for everything.
        row_action(id, action): "pin", "unpin", "duplicate", "export_markdown", "export_jsonl",
            "delete" or "undelete".
        renamed(id, title): the user typed a new title.
        settings_requested(): the button in the foot.
        pulls_requested(): the line that says what Ollama fetches.
        menu_requested(position): the application's menu, at a global position.
    """

    chosen = Signal(str)
    new_requested = Signal()
    search_changed = Signal(str)
    row_action = Signal(str, str)
    renamed = Signal(str, str)
    settings_requested = Signal()
    pulls_requested = Signal()
    menu_requested = Signal(QPoint)

    UNDO_MS = 8_000

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._rows: tuple[ConversationRow, ...] = ()
        self._is_known = False  # whether the rows were told: until then there is nothing to say
        self._hits = False
        self._gone: dict[str, ConversationRow] = {}
        self._model = ConversationModel(self)
        self._model.renamed.connect(self.renamed)
        self._head = _Head(self)
        self.search = SearchField(
            self.tr("Search conversations"), self, shortcut=key_words("Ctrl+Shift+F")
        )
        self._empty = Words("", "interface", "ink3", self, wrap=True)
        self.list = ConversationView(self._model, self)
        self.pulls = PullLine(self)
        self._foot = _Foot(self)
        self._lay_out()
        self._connect()
        minute = QTimer(self)
        minute.setInterval(_MINUTE_MS)
        minute.timeout.connect(self._refresh)
        minute.start()
        self._theme.changed.connect(self._renew)
        self._renew()
        self._refresh()
        self.setAccessibleName(self.tr("Sidebar"))

    def _lay_out(self) -> None:
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addWidget(self._head)
        self._search_row = QHBoxLayout()
        self._search_row.addWidget(self.search)
        self._column.addLayout(self._search_row)
        self._column.addWidget(self._empty)
        self._column.addWidget(self.list, 1)
        self._column.addStretch(0)
        self._column.addWidget(self.pulls)
        self._column.addWidget(self._foot)

    def _connect(self) -> None:
        self._head.new.clicked.connect(self.new_requested)
        self._head.menu.clicked.connect(self._on_menu_clicked)
        self._foot.settings.clicked.connect(self.settings_requested)
        self.pulls.clicked.connect(self.pulls_requested)
        self.search.search_changed.connect(self.search_changed)
        self.search.left.connect(self.focus_list)
        self.search.stepped.connect(self._on_stepped)
        self.search.returnPressed.connect(self._on_search_entered)
        self.list.opened.connect(self.chosen)
        self.list.action.connect(self._act)
        self.list.menu_asked.connect(self._on_menu_asked)
        self.list.left_upwards.connect(self.focus_search)

    def _renew(self) -> None:
        px = self._theme.px
        self.setMinimumWidth(px(NARROWEST))
        self.setMaximumWidth(px(WIDEST))
        self._column.setContentsMargins(0, 0, 1, 0)
        self._search_row.setContentsMargins(px(12), 0, px(12), px(4))
        self._empty.setContentsMargins(px(16), px(20), px(16), 0)
        self.update()

    def sizeHint(self) -> QSize:
        """Qt's: the first width."""
        return QSize(self._theme.px(WIDTH), self._theme.px(480))

    # -- what it shows -------------------------------------------------------------------

    def set_rows(self, rows: Sequence["ConversationRow"], search: str | None = None) -> None:
        """Show these conversations.

        Args:
            rows: all of them, or those a search found, best first.
            search: what they were searched for; None: what was asked for last.
        """
        self._rows = tuple(rows)
        self._is_known = True
        words = self.search.told if search is None else search
        self._hits = bool(words)
        if words != self.list.looks.search:
            self.list.looks.search = words
            self.list.measure_again()
            self.list.scrollToTop()
        self._refresh()

    def set_current(self, conversation: str) -> None:
        """Mark a conversation as the open one; "" for none."""
        self.list.looks.current = conversation
        self.list.go_to(conversation)
        self.list.viewport().update()

    def set_model_state(self, title: str, state: "ModelState | None") -> None:
        """Say in the foot what the model does; `title` is its name for people."""
        self._foot.show_state(title, state)

    def mark_deleted(self, conversation: str) -> None:
        """Show a row as "Deleted · Undo" for a while; asks for nothing."""
        row = next((row for row in self._rows if row.id == conversation), None)
        if row is None or conversation in self._gone:
            return
        self._gone[conversation] = row
        self._refresh()
        QTimer.singleShot(self.UNDO_MS, self, partial(self._forget, conversation))

    def _forget(self, conversation: str) -> None:
        self._gone.pop(conversation, None)
        self._refresh()

    def _refresh(self) -> None:
        now = datetime.now()
        lines = plan_lines(self._rows, now, hits=self._hits, deleted=self._gone.values())
        acted = self.list.line()
        self._model.set_lines(lines, now)
        if acted is not None and acted.row is not None:
            self.list.go_to(acted.row.id, scroll=False)
        self.list.setVisible(bool(lines))
        self._empty.setVisible(self._is_known and not lines)
        self._empty.setText(self._empty_words())
        self.list.viewport().update()

    def _empty_words(self) -> str:
        if not self._hits:
            return self.tr("Conversations appear here.")
        return self.tr("Nothing found for “{}”. Folded messages were searched too.").format(
            self.list.looks.search
        )

    # -- what is asked of it -------------------------------------------------------------

    def focus_search(self) -> None:
        """Put the caret into the search field, its text selected."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def focus_list(self) -> None:
        """Let the keys act on the list."""
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def rename(self, conversation: str) -> None:
        """Open the field over a conversation's title."""
        self.list.rename(conversation)

    def menu_of(self, conversation: str) -> QMenu | None:
        """The context menu of a conversation; None if it is not there."""
        row = next((row for row in self._rows if row.id == conversation), None)
        if row is None:
            return None
        menu = PopupMenu("", self)
        menu.setAccessibleName(self.tr("Conversation"))
        pin = "unpin" if row.pinned else "pin"
        entries = (
            (pin, self.tr("Unpin") if row.pinned else self.tr("Pin"), "pin"),
            ("rename", self.tr("Rename"), "edit"),
            ("duplicate", self.tr("Duplicate"), "copy"),
            ("", "", ""),
            ("export_markdown", self.tr("Export as Markdown…"), "file"),
            ("export_jsonl", self.tr("Export as JSONL…"), "file"),
            ("", "", ""),
            ("delete", self.tr("Delete"), "trash"),
        )
        for name, text, icon in entries:
            if not name:
                menu.addSeparator()
                continue
            action = menu.addAction(self._theme.icon(icon), text)
            action.setData(name)
            action.triggered.connect(partial(self._act, conversation, name))
        return menu

    def _act(self, conversation: str, action: str, _checked: bool = False) -> None:  # noqa: FBT001, FBT002  # Qt's signal
        if action == "rename":
            self.rename(conversation)
            return
        if action == "delete":
            self.mark_deleted(conversation)
        elif action == "undelete":
            row = self._gone.get(conversation)
            if row is not None and row not in self._rows:  # until the list comes with it
                self._rows = (*self._rows, row)
            self._forget(conversation)
        self.row_action.emit(conversation, action)

    def _on_menu_asked(self, conversation: str, position: QPoint) -> None:
        menu = self.menu_of(conversation)
        if menu is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(position)

    def _on_menu_clicked(self) -> None:
        button = self._head.menu
        self.menu_requested.emit(button.mapToGlobal(QPoint(0, button.height())))

    def _on_stepped(self, rows: int) -> None:
        if rows > 0 and self._model.lines:
            self.list.go_to_first()
            self.focus_list()

    def _on_search_entered(self) -> None:
        self.search.tell_now()
        first = next((line.row for line in self._model.lines if line.row), None)
        if first is not None and self._hits:
            self.chosen.emit(first.id)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the ground and the line at its right."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("side"))
        line = self._theme.color("line")
        x = self.width() - line_width(self.devicePixelRatioF())
        hairline(painter, x, 0, self.height(), line, vertical=True)


class _Head(QWidget):
    """Mark, name, and the two buttons."""

    def __init__(self, sidebar: Sidebar) -> None:
        super().__init__(sidebar)
        self._theme = theme_of()
        self._mark = Picture("app-icon", "ink", _MARK, self, self.tr("Porthole"))
        self._word = Words(self.tr("Porthole"), "word", "ink", self)
        self.new = IconButton("new-chat", self.tr("New conversation"), self)
        self.menu = IconButton("menu", self.tr("Menu"), self)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._mark)
        self._row.addWidget(self._word, 1)
        self._row.addWidget(self.new)
        self._row.addWidget(self.menu)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        px = self._theme.px
        self.setFixedHeight(px(HEAD))
        self._row.setContentsMargins(px(16), 0, px(12), 0)
        self._row.setSpacing(px(2))
        self._word.setContentsMargins(px(6), 0, 0, 0)


class _Foot(QWidget):
    """What the model does, and the way to the settings."""

    def __init__(self, sidebar: Sidebar) -> None:
        super().__init__(sidebar)
        self._theme = theme_of()
        self.dot = Dot("", self)
        self.words = Words("", "small", "ink2", self, keeps="both")
        self.settings = IconButton("settings", self.tr("Settings"), self)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.dot)
        self._row.addWidget(self.words, 1)
        self._row.addWidget(self.settings)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.show_state("", None)

    def show_state(self, title: str, state: "ModelState | None") -> None:
        """Say it in words, and with the dot."""
        name = state.state if state is not None and title else "none"
        colors = {"loaded": "green", "loading": "m_pins", "failed": "red"}
        self.dot.set_color(colors.get(name, ""))
        self.words.setText(self._words(title, name, state))

    def _words(self, title: str, name: str, state: "ModelState | None") -> str:
        if state is None or name == "none":
            return self.tr("{} not loaded").format(title) if title else self.tr("No model loaded")
        if name == "failed":
            return self.tr("{} stopped").format(title)
        if name == "loading":
            if state.fraction is None:
                return self.tr("Preparing {}").format(title)
            percent = round(state.fraction * 100)
            return self.tr("Loading {0} · {1} %").format(title, percent)
        words = self.tr("{} loaded").format(title)
        if state.memory_bytes <= 0:
            return words
        return f"{words} · {state.memory_bytes / _GIGABYTE:.1f} GB"

    def _renew(self) -> None:
        px = self._theme.px
        self.setFixedHeight(px(FOOT))
        self._row.setContentsMargins(px(16), 1, px(8), 0)
        self._row.setSpacing(px(8))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the line above."""
        painter = QPainter(self)
        hairline(painter, 0, 0, self.width(), self._theme.color("line"))
