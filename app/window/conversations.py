"""Opening, listing and changing whole conversations; showing what is told of the open one."""

from typing import Any

from PySide6.QtWidgets import QFileDialog, QWidget

from app.client import Conversation, ConversationRow, WindowKnown
from app.items import RUNNING_STATES, CardItem, Item, ReplyItem, UserItem
from app.meter_plan import MeterValues
from app.window.base import WindowBase


class Conversations(WindowBase):
    """The list at the left, and the conversation that is shown."""

    def open(self, conversation: str) -> None:
        """Show a conversation; "" for a new one."""
        self.parts.composer.flush_draft()
        self._bridge.ask(lambda c: c.open(conversation or None), self._show)

    def _begin(self, conversation: str) -> None:
        """Show the first conversation, or a new one when it is gone."""
        self._bridge.ask(lambda c: c.resume(conversation), self._show)

    def _choose(self, conversation: str) -> None:
        """Show what was chosen in the sidebar; a sheet has done its work then."""
        self.open(conversation)
        self.parts.close_sheet()

    def _show(self, conversation: Conversation) -> None:
        self._id, self._model = conversation.id, conversation.model
        self.parts.notices.clear()
        self.parts.header.set_conversation(conversation, self._models.get(conversation.model))
        self.parts.sidebar.set_current(conversation.id)
        self.setWindowTitle(f"{conversation.title or self.tr('New conversation')} - Porthole")
        self.parts.composer.set_text(conversation.draft)
        known = WindowKnown(
            conversation.id,
            conversation.model,
            conversation.window,
            conversation.window_tokens,
            conversation.budget_tokens,
            conversation.guard,
            conversation.guard_text,
            conversation.think,
            conversation.sees_images,
        )
        self._show_window(known)
        self._show_meter(
            conversation.used_tokens,
            conversation.budget_tokens,
            conversation.window_tokens,
            exact=conversation.used_kind == "exact",
        )
        self.items.set_items(())
        self._show_items(conversation.items)
        self.parts.transcript.scroll_to_end()
        self.actions_.set_checked("pin_chat", conversation.pinned)
        self._focus_composer()
        self.shown.emit(conversation.id)

    def _show_items(self, items: tuple[Item, ...], first: int = 0) -> None:
        before = self.items.tail(first)
        self.items.set_tail(items, first)
        running = _is_running(self.items.tail(max(0, len(self.items) - 3)))
        self.parts.composer.set_running(running)
        self.actions_.set_enabled(("stop",), running)
        if _said(items) != _said(before):  # seldom: not while a reply is written
            self.parts.composer.set_history(_said(self.items.items()))
        self._choose_page()

    def _choose_page(self) -> None:
        if len(self.items):
            page: QWidget = self.parts.transcript
        elif self._is_first_run():
            page = self.parts.first_run
        else:
            page = self.parts.empty
        self.parts.show_page(page)

    def _is_first_run(self) -> bool:
        """Whether nothing was ever said, and the model that would answer is not here."""
        row = self._models.get(self._model)
        return row is not None and not row.fetched and not self._rows

    def _show_meter(self, used: int, budget: int, window: int, *, exact: bool) -> None:
        self._room = max(0, budget - used)
        self.parts.composer.set_meter(MeterValues.total(used, budget, window, exact=exact))

    def _show_window(self, known: WindowKnown) -> None:
        title = self._title_of(known.model)
        self.parts.header.set_model(title, known.window_tokens)
        self.parts.header.set_guard(known.guard, known.guard_text)
        self.parts.header.set_cloud(on=self._is_cloud(known.model))
        self._budget = known.budget_tokens
        self.parts.empty.set_model(title, known.budget_tokens)
        self.parts.composer.set_model(title)
        self.parts.composer.think.set_facts(known.think)
        blocked = known.guard_text if known.guard == "block" else ""
        self.parts.composer.set_blocked(blocked)

    def refresh_rows(self) -> None:
        """Ask for the list of conversations again."""
        search = self._search
        self._bridge.ask(lambda c: c.conversations(search), self._show_rows)

    def _show_rows(self, rows: tuple[ConversationRow, ...]) -> None:
        if not self._search:
            self._rows = rows
        self.parts.sidebar.set_rows(rows, self._search)
        here = next((row for row in rows if row.id == self._id), None)
        if here is not None:
            self.parts.header.set_title(here.title)

    def _find_conversations(self, text: str) -> None:
        self._search = text
        self.refresh_rows()

    def _rename(self, conversation: str, title: str) -> None:
        if conversation:
            self._bridge.ask(lambda c: c.rename(conversation, title))

    def _act_on_row(self, conversation: str, action: str) -> None:
        if not conversation:
            return
        match action:
            case "pin" | "unpin":
                self._bridge.ask(lambda c: c.pin(conversation, action == "pin"))
            case "duplicate":
                self._bridge.ask(lambda c: c.duplicate(conversation), self.open)
            case "delete":
                self._delete(conversation)
            case "undelete":
                self._bridge.ask(lambda c: c.undelete(conversation))
            case "export_markdown" | "export_jsonl":
                self._export(conversation, action)

    def _delete(self, conversation: str) -> None:
        self.parts.sidebar.mark_deleted(conversation)
        self._bridge.ask(lambda c: c.delete(conversation))
        if conversation == self._id:
            self.open("")

    def _export(self, conversation: str, action: str) -> None:
        is_markdown = action == "export_markdown"
        name = self.tr("Conversation") + (".md" if is_markdown else ".jsonl")
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Export"), name)
        if path:
            kind: Any = "markdown" if is_markdown else "jsonl"
            self._bridge.ask(
                lambda c: c.export(conversation, path, kind),
                lambda _: self.say(self.tr("Exported to {}").format(path)),
            )

    def _step(self, by: int) -> None:
        ids = [row.id for row in self._rows]
        if ids:
            at = ids.index(self._id) if self._id in ids else -1
            self.open(ids[(at + by) % len(ids)])

    def _toggle_pin(self) -> None:
        row = next((row for row in self._rows if row.id == self._id), None)
        if row is not None:
            self._act_on_row(row.id, "unpin" if row.pinned else "pin")


def _said(items: tuple[Item, ...]) -> list[str]:
    """What the user said, in order."""
    return [item.text for item in items if isinstance(item, UserItem) and item.text]


def _is_running(items: tuple[Item, ...]) -> bool:
    """Whether something is being written or folded; the last items tell."""
    return any(
        (isinstance(item, ReplyItem) and item.state in RUNNING_STATES)
        or (isinstance(item, CardItem) and item.kind == "compacting")
        for item in items
    )
