"""The window: every wish becomes a call over the bridge, everything told becomes something shown."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMenuBar, QWidget

from app.actions import MENUS, MESSAGE_ACTIONS, TABLE, menu_groups, menu_name, menu_words
from app.bridge import Bridge
from app.client import (
    ContextFacts,
    Digesting,
    DraftImages,
    Failed,
    Fetching,
    ItemsChanged,
    Meter,
    ModelsChanged,
    ModelState,
    Notice,
    PartsWaiting,
    Pulling,
    RowsChanged,
    Told,
    WindowKnown,
)
from app.dialogs import AboutDialog, ShortcutSheet
from app.theme import theme_of
from app.theme.controls import PopupMenu, install_focus_ring
from app.window.panes import Panes
from app.window.preferences import Preferences
from app.words import joined


class MainWindow(Preferences, Panes):
    """One conversation at a time, and the list of all.

    Args:
        bridge: to the engine; the window closes it when it is closed.
        version: the application's, for About.
        first: the conversation to begin with; a new one if it is not there.
        parent: none, usually.

    Signals:
        shown(id): a conversation is shown, "" for a new one.
        crashed(error): a bug of ours in the engine.
        leaving(state): it closes, and looked like this.
    """

    def __init__(
        self, bridge: Bridge, version: str = "", first: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(bridge, parent)
        self._version = version
        self.setMinimumSize(480, 480)
        self.resize(1280, 820)
        self._make_menus()
        self.begin_context()
        self.begin_fitting()
        self.begin_pictures()
        self._connect_parts()
        self._connect_transcript()
        self.actions_.add_to(self.parts.transcript, "message")
        self._handlers = self._make_handlers() | self.preference_handlers()
        self.actions_.triggered.connect(self.do)
        install_focus_ring(self)
        theme_of().changed.connect(self._show_theme)
        self._show_theme()
        bridge.told.connect(self._take)
        bridge.crashed.connect(self.crashed)
        self._begin(first)
        self.refresh_rows()
        self.refresh_models()
        self.begin_preferences()

    def _make_menus(self) -> None:
        bar = QMenuBar(self)
        for menu in MENUS:
            made = PopupMenu(menu_words(menu), self)
            for number, group in enumerate(menu_groups(menu)):
                if number:
                    made.addSeparator()
                for action in group:
                    made.addAction(self.actions_[action.id])
            bar.addMenu(made)
        self.setMenuBar(bar)
        bar.setVisible(bar.isNativeMenuBar())

    def _connect_parts(self) -> None:
        sidebar, header, composer = self.parts.sidebar, self.parts.header, self.parts.composer
        sidebar.chosen.connect(self._choose)
        sidebar.new_requested.connect(lambda: self._choose(""))
        sidebar.search_changed.connect(self._find_conversations)
        sidebar.row_action.connect(self._act_on_row)
        sidebar.renamed.connect(self._rename)
        sidebar.settings_requested.connect(lambda: self.do("settings"))
        sidebar.pulls_requested.connect(self.show_pulls)
        sidebar.menu_requested.connect(self._show_menu)
        header.model_clicked.connect(self.show_models)
        header.badge_clicked.connect(lambda: self.do("models"))
        header.action.connect(self._act_on_header)
        header.renamed.connect(lambda title: self._rename(self._id, title))
        header.more_requested.connect(self._show_conversation_menu)
        composer.submitted.connect(self._submit)
        composer.command.connect(self._command)
        composer.stop_requested.connect(lambda: self.do("stop"))
        composer.draft_changed.connect(self._keep_draft)
        composer.refused.connect(lambda text: self.say(text, tone="amber"))
        composer.unknown_command.connect(self._tell_unknown)
        composer.files_dropped.connect(self._take_files)
        composer.attach_requested.connect(self._attach)
        self.parts.notices.acted.connect(self._act_on_notice)
        self.picker.chosen.connect(self._use_model)
        self.picker.refused.connect(self._tell_refused)
        self.picker.details_requested.connect(self.show_truth)
        self.picker.fetch_requested.connect(lambda: self.do("fetch_starter"))
        self.picker.fetch_stopped.connect(self._stop_fetch)
        self.picker.open_file_requested.connect(lambda: self.do("open_model"))
        self.picker.file_dropped.connect(self._add_file)
        self.palette_.action_chosen.connect(self.do)
        self.palette_.conversation_chosen.connect(self.open)
        first = self.parts.first_run
        first.starter_requested.connect(lambda: self.do("fetch_starter"))
        first.starter_stopped.connect(self._stop_fetch)
        first.ollama_requested.connect(self.show_models)
        first.get_requested.connect(lambda: self.do("get_model"))
        first.open_file_requested.connect(lambda: self.do("open_model"))
        for page in (first, self.parts.empty):
            page.typed.connect(self.parts.composer.insert_text)
            page.file_dropped.connect(lambda path: self._take_files([path]))

    def _connect_transcript(self) -> None:
        view, bar = self.parts.transcript, self.parts.header.find_bar
        view.action.connect(self._act_on_item)
        view.editing.submitted.connect(self._say_instead)
        view.editing.left.connect(self._keep_edited)
        view.menu_requested.connect(self._show_item_menu)
        view.link_activated.connect(self._ask_link)
        view.found.connect(bar.set_count)
        bar.find_changed.connect(view.find)
        bar.next_requested.connect(view.find_next)
        bar.previous_requested.connect(view.find_previous)
        bar.closed.connect(self._focus_composer)

    def _make_handlers(self) -> dict[str, Callable[[], object]]:
        view, header = self.parts.transcript, self.parts.header
        return {
            "new_chat": lambda: self.open(""),
            "open_model": self._open_file,
            "fetch_starter": lambda: self._bridge.ask(lambda c: c.fetch_starter()),
            "rename_chat": header.begin_rename,
            "pin_chat": self._toggle_pin,
            "duplicate_chat": lambda: self._act_on_row(self._id, "duplicate"),
            "export_markdown": lambda: self._act_on_row(self._id, "export_markdown"),
            "export_jsonl": lambda: self._act_on_row(self._id, "export_jsonl"),
            "delete_chat": lambda: self._act_on_row(self._id, "delete"),
            "quit": self.close,
            "undo": self._undo,
            "copy": view.copy,
            "copy_markdown": lambda: view.copy(as_markdown=True),
            "copy_last": self._copy_last,
            "select_all": view.select_all,
            "find": self._begin_find,
            "find_next": view.find_next,
            "find_previous": view.find_previous,
            "search": self.parts.sidebar.focus_search,
            "palette": self._show_palette,
            "sidebar": self.parts.toggle_sidebar,
            "next_chat": lambda: self._step(1),
            "previous_chat": lambda: self._step(-1),
            "go_to_start": lambda: view.scroll_to_item(0, view.pad),
            "go_to_end": view.scroll_to_end,
            "focus_composer": self._focus_composer,
            "full_screen": self._toggle_full_screen,
            "next_pane": lambda: self._go_to_pane(1),
            "previous_pane": lambda: self._go_to_pane(-1),
            "send": self.parts.composer.send,
            "line_break": lambda: self.parts.composer.insert_text("\n"),
            "stop": self._stop,
            "regenerate": lambda: self._ask_here(lambda c, id_: c.answer(id_)),
            "continue": lambda: self._ask_here(lambda c, id_: c.go_on(id_)),
            "edit_last": self._edit_last,
            "attach": self._attach,
            "compact": lambda: self._ask_here(lambda c, id_: c.compact(id_)),
            "compact_focus": self._ask_focus,
            "system_prompt": self._ask_system,
            "model_picker": self.show_models,
            "status": self._show_status,
            "shortcuts": lambda: ShortcutSheet(TABLE, self).show(),
            "open_reports": self._open_reports,
            "about": self._show_about,
            **self.truth_handlers(),
            **self.library_handlers(),
            **self.context_handlers(),
            **{id_: partial(self._act_on_message, id_) for id_ in MESSAGE_ACTIONS},
        }

    def _take(self, told: Told) -> None:
        match told:
            case ItemsChanged(id=id_, items=items, from_index=first):
                if id_ == self._id:
                    self._show_items(items, first)
            case RowsChanged():
                self.refresh_rows()
            case Notice(action="undo_compaction"):
                self._tell_folded(told)
            case Notice(id=id_, level=level, text=text):
                if id_ in ("", self._id):
                    self.say(text, tone="amber" if level == "warning" else "plain")
            case Failed(sentence=sentence, remedy=remedy):
                self.say(joined(sentence, remedy), tone="red", lasts=False)
            case _:
                self._take_facts(told)

    def _take_facts(self, told: Told) -> None:
        match told:
            case Meter() if told.id == self._id:
                self._show_meter(told.used, told.budget, told.window, exact=told.kind == "exact")
            case ContextFacts() if told.id == self._id:
                self._show_facts(told)
            case WindowKnown() if told.id == self._id:
                self._model = told.model
                self._show_window(told)
            case DraftImages():
                self._show_draft_images(told)
            case Digesting():
                self._show_digesting(told)
            case PartsWaiting():
                self._show_waiting(told)
            case _:
                self._take_models(told)

    def _take_models(self, told: Told) -> None:
        match told:
            case ModelState():
                self._model_state = told
                self.parts.sidebar.set_model_state(self._title_of(told.name), told)
            case Pulling() | ModelsChanged():
                self._take_library(told)
            case Fetching():
                self.parts.first_run.set_fetching(told)
                self.picker.set_fetching(0 if told.over else told.done, told.total)
                if told.over:
                    self.refresh_models()

    def _command(self, name: str, rest: str) -> None:
        match name.lstrip("/"):
            case "new":
                self.open("")
            case "compact":
                self._ask_here(lambda c, id_: c.compact(id_, rest))
            case "status":
                self._show_status()
            case "context":
                self._answer_context()
            case "model":
                self.show_models()
            case "system":
                self._set_system(rest) if rest else self._ask_system()
            case _:
                self.do("shortcuts")

    def _show_menu(self, place: QPoint) -> None:
        menu = PopupMenu("", self)
        for section in MENUS:
            inner = PopupMenu(menu_name(section), menu)
            for group in menu_groups(section):
                for action in group:
                    inner.addAction(self.actions_[action.id])
            menu.addMenu(inner)
        menu.popup(place)

    def _show_conversation_menu(self, place: QPoint) -> None:
        menu = self.parts.sidebar.menu_of(self._id)
        if menu is not None:
            menu.popup(place)

    def _act_on_header(self, name: str) -> None:
        self.do(name)

    def _show_palette(self) -> None:
        self.palette_.open_over(
            self, TABLE, self._rows, lambda id_: id_ in self._handlers and self._can(id_)
        )

    def _can(self, action: str) -> bool:
        return self.actions_[action].isEnabled()

    def _show_about(self) -> None:
        from app.licences import find_licences

        AboutDialog(self._version, find_licences(), self).show()

    def _toggle_full_screen(self) -> None:
        (self.showNormal if self.isFullScreen() else self.showFullScreen)()

    def _show_theme(self) -> None:
        theme = theme_of()
        for choice in ("system", "light", "dark"):
            self.actions_.set_checked(f"theme_{choice}", theme.choice == choice)
        self.parts.transcript.restyle()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        """Qt's: the words of the actions follow the language."""
        if event.type() == QEvent.Type.LanguageChange:
            self.actions_.retranslate()
        super().changeEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt's: what was typed is kept, every turn is stopped, the engine ends first."""
        self.parts.composer.flush_draft()
        self.parts.transcript.editing.leave()
        self.leaving.emit(self.view_state())
        self._bridge.close()
        super().closeEvent(event)
