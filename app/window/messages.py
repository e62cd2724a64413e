"""Saying something, and what can be done with what was said."""

from PySide6.QtCore import QPoint, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.dialogs import LinkDialog
from app.items import CardItem, ReplyItem, UserItem
from app.notices import Notice as Line
from app.theme.controls import PopupMenu
from app.window.conversations import Conversations


class Messages(Conversations):
    """The composer and the messages of the open conversation."""

    def _submit(self, text: str) -> None:
        here, editing, model = self._id, self._editing, self._model
        if editing:
            self._editing = ""
            self.parts.notices.withdraw("editing")
            self._bridge.ask(lambda c: c.edit(here, editing, text))
            return
        self._bridge.ask(lambda c: c.send(here or None, text, model), self._sent)

    def _sent(self, conversation: str) -> None:
        if conversation != self._id and not self._id:
            self.open(conversation)
        self.parts.transcript.scroll_to_end()

    def _keep_draft(self, text: str) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.keep_draft(here, text))

    def _stop(self) -> None:
        if self._editing:
            self._editing = ""
            self.parts.notices.withdraw("editing")
            self.parts.composer.set_text("")
            return
        self._ask_here(lambda c, id_: c.stop(id_), self._give_back)

    def _give_back(self, text: str) -> None:
        if text and not self.parts.composer.text():
            self.parts.composer.set_text(text)

    def _edit_last(self) -> None:
        last = next((i for i in reversed(self.items.items()) if isinstance(i, UserItem)), None)
        if last is not None:
            self._edit(last.id)

    def _edit(self, item_id: str) -> None:
        index = self.items.index_of(item_id)
        item = self.items[index] if index >= 0 else None
        if isinstance(item, UserItem):
            self._editing = item_id
            self.parts.composer.set_text(item.text)
            text = self.tr("Editing: Enter sends it as a new version, Esc leaves it as it was.")
            self.parts.notices.say(Line(text, "edit", "plain", key="editing"))
            self._focus_composer()

    def _tell_system(self, _: object) -> None:
        self.say(self.tr("The system prompt holds from the next message on."))

    def _show_status(self) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.status(here or None), self._add_local_card)

    def _add_local_card(self, text: str) -> None:
        card = CardItem(f"local:{len(self.items)}", "local", self.tr("Status"), body=text)
        self.items.set_items((*self.items.items(), card), len(self.items))
        self._choose_page()

    def _act_on_item(self, item_id: str, action: str) -> None:
        match action:
            case "edit":
                self._edit(item_id)
            case "regenerate" | "retry":
                self._ask_here(lambda c, id_: c.answer(id_, item_id))
            case "continue":
                self.do("continue")
            case "stop":
                self.do("stop")
            case "delete":
                self._ask_here(lambda c, id_: c.delete_message(id_, item_id), self._tell_deleted)
            case "earlier" | "later":
                self._choose_version(item_id, action)
            case "use_model":
                self.do("model_picker")

    def _tell_deleted(self, text: str) -> None:
        self._give_back(text)
        line = self.tr("The message and what came after it are out of sight.")
        undo = self.tr("Undo")
        self.parts.notices.say(Line(line, "trash", "plain", "undo", undo, lasts_ms=8_000))

    def _undo(self) -> None:
        self._ask_here(lambda c, id_: c.undo(id_))

    def _choose_version(self, item_id: str, action: str) -> None:
        index = self.items.index_of(item_id)
        item = self.items[index] if index >= 0 else None
        if isinstance(item, UserItem | ReplyItem) and item.versions is not None:
            target = item.versions.earlier if action == "earlier" else item.versions.later
            if target:
                self._ask_here(lambda c, id_: c.choose(id_, target))

    def _show_item_menu(self, item_id: str, place: QPoint) -> None:
        index = self.items.index_of(item_id)
        if index < 0:
            return
        menu = PopupMenu("", self)
        is_user = isinstance(self.items[index], UserItem)
        entries = [(self.tr("Copy"), lambda: self.parts.transcript.copy_message(item_id))]
        if is_user:
            entries.append((self.tr("Edit"), lambda: self._edit(item_id)))
        else:
            entries.append(
                (self.tr("Answer again"), lambda: self._act_on_item(item_id, "regenerate"))
            )
        entries.append(
            (self.tr("Delete from here on"), lambda: self._act_on_item(item_id, "delete"))
        )
        for text, handler in entries:
            menu.addAction(text, handler)
        menu.popup(place)

    def _copy_last(self) -> None:
        last = next((i for i in reversed(self.items.items()) if isinstance(i, ReplyItem)), None)
        if last is not None:
            QApplication.clipboard().setText(last.text)

    def _ask_link(self, url: str) -> None:
        dialog = LinkDialog(url, self)
        dialog.confirmed.connect(lambda target: QDesktopServices.openUrl(QUrl(target)))
        dialog.open()
