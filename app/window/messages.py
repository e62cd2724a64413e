"""Saying something, and what can be done with what was said."""

from PySide6.QtCore import QPoint, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.actions import menu_groups
from app.client import SystemPrompt
from app.dialogs import LinkDialog
from app.items import LIVE, CardItem, DayItem, Item, ReplyItem, UserItem
from app.notices import Notice as Line
from app.system_dialog import SystemDialog
from app.text_dialog import TextDialog
from app.theme.controls import PopupMenu
from app.window.conversations import Conversations


class Messages(Conversations):
    """The composer and the messages of the open conversation."""

    _edited_in = ""  # the conversation of the message that is edited

    def _submit(self, text: str) -> None:
        here, model = self._id, self._model
        self._bridge.ask(lambda c: c.send(here or None, text, model), self._sent)

    def _sent(self, conversation: str) -> None:
        if conversation != self._id and not self._id:
            self.open(conversation)
        self.parts.transcript.scroll_to_end()

    def _keep_draft(self, text: str) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.keep_draft(here, text))

    def _stop(self) -> None:
        self._ask_here(lambda c, id_: c.stop(id_), self._give_back)

    def _give_back(self, text: str) -> None:
        if text and not self.parts.composer.text():
            self.parts.composer.set_text(text)

    def _edit_last(self) -> None:
        last = next((i for i in reversed(self.items.items()) if isinstance(i, UserItem)), None)
        if last is not None:
            self._edit(last.id)

    def _item(self, item_id: str) -> Item | None:
        index = self.items.index_of(item_id)
        return self.items[index] if index >= 0 else None

    def _edit(self, item_id: str) -> None:
        """Put an editor in the place of a message, with what was written in it before."""
        here = self._id
        if isinstance(self._item(item_id), UserItem):
            self._bridge.ask(
                lambda c: c.edited(here, item_id),
                lambda text: self._begin_edit(here, item_id, text),
            )

    def _begin_edit(self, conversation: str, item_id: str, text: str) -> None:
        item = self._item(item_id)
        if conversation == self._id and isinstance(item, UserItem):
            self._edited_in = conversation
            self.parts.transcript.editing.begin(item_id, text or item.text)

    def _say_instead(self, item_id: str, text: str) -> None:
        here = self._edited_in
        self._bridge.ask(lambda c: c.keep_edited(here, item_id, text))  # until it is said
        self._bridge.ask(lambda c: c.edit(here, item_id, text))
        self._focus_composer()

    def _keep_edited(self, item_id: str, text: str) -> None:
        here = self._edited_in
        self._bridge.ask(lambda c: c.keep_edited(here, item_id, text))
        self._focus_composer()

    def _ask_system(self) -> None:
        """Show the system prompt of the open conversation, to be changed."""
        here = self._id
        self._bridge.ask(lambda c: c.system.read(here), self._edit_system)

    def _edit_system(self, prompt: SystemPrompt) -> None:
        dialog = SystemDialog(prompt.text, prompt.presets, self)
        dialog.taken.connect(self._set_system)
        dialog.kept_as.connect(self._keep_preset)
        dialog.open()

    def _keep_preset(self, name: str, text: str) -> None:
        self._bridge.ask(lambda c: c.system.keep(name, text))

    def _set_system(self, text: str) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.system.set(here, text), self._tell_system)

    def _ask_focus(self) -> None:
        """Ask what a summary should keep above all, then compact."""
        about = self.tr("The older messages are folded into a summary. What matters most in it?")
        title, ok = self.tr("Compact with a focus"), self.tr("Compact")
        dialog = TextDialog(title, about, "", self, ok=ok, lines=2, can_be_empty=False)
        dialog.taken.connect(lambda text: self._ask_here(lambda c, id_: c.compact(id_, text)))
        dialog.open()

    def _open_reports(self) -> None:
        self._bridge.ask(
            lambda c: c.reports_folder(),
            self._show_folder,
        )

    def _show_folder(self, folder: str) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(folder))

    def _tell_unknown(self, name: str) -> None:
        text = self.tr("There is no command /{name}. Two slashes send it as it is: //{name}")
        self.say(text.format(name=name), tone="amber")

    def _tell_system(self, _: object) -> None:
        self.say(self.tr("The system prompt holds from the next message on."))

    def _show_status(self) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.status(here or None), self._add_local_card)

    def _add_local_card(self, text: str, title: str = "") -> None:
        title = title or self.tr("Status")
        card = CardItem(f"local:{len(self.items)}", "local", title, body=text)
        self.items.set_tail((card,), len(self.items))
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
            case "pin" | "unpin":
                self._ask_here(lambda c, id_: c.folds.pin(id_, item_id, action == "pin"))
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
        item = self._item(item_id)
        if isinstance(item, UserItem | ReplyItem) and item.versions is not None:
            target = item.versions.earlier if action == "earlier" else item.versions.later
            if target:
                self._ask_here(lambda c, id_: c.choose(id_, target))

    def _show_item_menu(self, item_id: str, place: QPoint) -> None:
        item = self._item(item_id)
        if item is None:
            return
        self._target = item_id
        menu = PopupMenu("", self)
        for number, group in enumerate(menu_groups("message")):
            fitting = [action.id for action in group if fits(action.id, item)]
            if number and fitting:
                menu.addSeparator()
            for id_ in fitting:
                menu.addAction(self.actions_[id_])
        # after the action, which comes when the menu is gone
        menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self, self._forget_target))
        menu.popup(place)

    def _forget_target(self) -> None:
        self._target = ""

    def _act_on_message(self, action: str) -> None:
        """Do something with the message whose menu is open, or that has the focus."""
        index = self.parts.transcript.focused_part()[0]
        item_id = self._target or (self.items[index].id if index >= 0 else "")
        item = self._item(item_id)
        if item is None or not fits(action, item):
            return
        match action.removeprefix("message_"):
            case "copy":
                self.parts.transcript.copy_message(item_id, as_markdown=False)
            case "copy_markdown":
                self.parts.transcript.copy_message(item_id)
            case wish:
                self._act_on_item(item_id, wish)

    def _copy_last(self) -> None:
        last = next((i for i in reversed(self.items.items()) if isinstance(i, ReplyItem)), None)
        if last is not None:
            QApplication.clipboard().setText(last.text)

    def _ask_link(self, url: str) -> None:
        dialog = LinkDialog(url, self)
        dialog.confirmed.connect(lambda target: QDesktopServices.openUrl(QUrl(target)))
        dialog.open()


def fits(action: str, item: Item) -> bool:
    """Whether an action of the table can be done with an item."""
    match action:
        case "message_edit":
            return isinstance(item, UserItem)
        case "message_regenerate":
            return isinstance(item, ReplyItem) and not item.is_running
        case "message_earlier" | "message_later":
            versions = item.versions if isinstance(item, UserItem | ReplyItem) else None
            earlier = action == "message_earlier"
            return versions is not None and bool(versions.earlier if earlier else versions.later)
        case "message_pin" | "message_unpin":
            if not isinstance(item, UserItem | ReplyItem) or item.id.startswith(LIVE):
                return False
            return item.pinned == (action == "message_unpin")
        case "message_delete":
            return isinstance(item, UserItem | ReplyItem)
    return not isinstance(item, DayItem)
