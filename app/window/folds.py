"""What can be done with a compaction's card: its originals, editing, undoing, making it anew."""

from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from app.client import ModelRow, Notice
from app.client.fit_values import PinsToChoose
from app.items import CardItem
from app.notices import Notice as Line
from app.pins_dialog import PinsDialog
from app.text_dialog import TextDialog
from app.theme.controls import PopupMenu
from app.window.files import Files

_FOCUS_LINES = 2
_DONE_BY = {"compact_now": "compact", "compact_with_focus": "compact_focus"}


class Folding(Files):
    """Cards of compactions."""

    def _act_on_item(self, item_id: str, action: str) -> None:
        match action:
            case "show_originals":
                self._ask_here(lambda c, id_: c.folds.toggle_originals(id_, item_id))
            case "edit_summary":
                self._ask_here(
                    lambda c, id_: c.folds.summary(id_, item_id),
                    lambda text: self._edit_summary(item_id, text),
                )
            case "undo_compaction":
                self._ask_here(lambda c, id_: c.folds.undo(id_, item_id), self._tell_undone)
            case "restore_compaction":
                self._ask_here(lambda c, id_: c.folds.restore(id_, item_id))
            case "redo_focus":
                self._redo_with_focus(item_id)
            case "models" | "new_chat" | "compact_now" | "compact_with_focus":
                self.do(_DONE_BY.get(action, action))
            case "not_now":
                self._ask_here(lambda c, id_: c.folds.put_off(id_))
            case "always":
                self._ask_here(lambda c, id_: c.folds.always(id_))
            case _:
                super()._act_on_item(item_id, action)

    def _edit_summary(self, card: str, text: str) -> None:
        about = self.tr(
            "The model reads this in place of the messages that were folded. They stay in the "
            "conversation."
        )
        title, ok = self.tr("Edit the summary"), self.tr("Use it")
        dialog = TextDialog(title, about, text, self, ok=ok, lines=14, can_be_empty=False)
        dialog.taken.connect(
            lambda words: self._ask_here(lambda c, id_: c.folds.edit(id_, card, words))
        )
        dialog.open()

    def _tell_folded(self, told: Notice) -> None:
        """The last compaction stands in the status line, with its undoing, until something is said."""
        if told.id == self._id:
            action = f"{told.action}:{told.target}"
            line = Line(told.text, "fold", "plum", action, self.tr("Undo"), key="fold")
            self.parts.notices.say(line)

    def _act_on_notice(self, action: str) -> None:
        name, _, target = action.partition(":")
        if target:
            self.parts.notices.withdraw("fold")
            self._act_on_item(target, name)
        else:
            self.do(name)

    def _submit(self, text: str) -> None:
        self.parts.notices.withdraw("fold")
        super()._submit(text)

    def _tell_undone(self, _: object) -> None:
        self.say(self.tr("The messages themselves are sent again, for as long as they fit."))

    def _redo_with_focus(self, card: str) -> None:
        about = self.tr("The summary is written anew. What should it keep above all?")
        title, ok = self.tr("Redo with a focus"), self.tr("Redo")
        dialog = TextDialog(title, about, "", self, ok=ok, lines=_FOCUS_LINES, can_be_empty=False)
        dialog.taken.connect(
            lambda words: self._ask_here(lambda c, id_: c.folds.redo(id_, card, words))
        )
        dialog.open()

    def _show_item_menu(self, item_id: str, place: QPoint) -> None:
        item = self._item(item_id)
        if isinstance(item, CardItem) and item.kind == "compaction" and item.has_originals:
            self._fold_menu(item).popup(place)
        else:
            super()._show_item_menu(item_id, place)

    def _fold_menu(self, card: CardItem) -> PopupMenu:
        """What a card has no room for: made anew as it was, or by another model; copied."""
        menu = PopupMenu("", self)
        menu.addAction(self.tr("Redo"), lambda: self._redo(card.id))
        others = PopupMenu(self.tr("Redo with another model"), menu)
        for row in self._writers():
            title = row.title or row.name
            if row.cloud:
                title = self.tr("{} (cloud)").format(title)
            others.addAction(title, partial(self._redo, card.id, row.name))
        others.setEnabled(bool(others.actions()))
        menu.addMenu(others)
        menu.addAction(self.tr("Pin messages and redo…"), lambda: self._choose_pins(card.id))
        menu.addSeparator()
        menu.addAction(self.tr("Copy"), lambda: self._copy_summary(card))
        return menu

    def _writers(self) -> list[ModelRow]:
        """The models that could write a summary: here, and allowed."""
        return [row for row in self._models.values() if row.fetched and row.guard != "block"]

    def _choose_pins(self, card: str) -> None:
        self._ask_here(lambda c, id_: c.folds.pinnable(id_, card), partial(self._show_pins, card))

    def _show_pins(self, card: str, found: PinsToChoose) -> None:
        dialog = PinsDialog(found, self)
        dialog.taken.connect(
            lambda pins: self._ask_here(lambda c, id_: c.folds.redo_pinned(id_, card, pins))
        )
        dialog.open()

    def _redo(self, card: str, model: str = "") -> None:
        self._ask_here(lambda c, id_: c.folds.redo(id_, card, "", model))

    def _copy_summary(self, card: CardItem) -> None:
        QApplication.clipboard().setText("\n".join([card.body, *card.values]))

    # -- what is folded is searched too --------------------------------------------------

    def _begin_find(self) -> None:
        """Open the search of the conversation: over what is folded, too."""
        self.parts.header.find_bar.begin()
        self._ask_here(lambda c, id_: c.folds.show_originals(id_))
