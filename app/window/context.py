"""Meter, side panel and lens: what the model sees, and how full its window is."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QLayout, QWidget

from app.client import ContextFacts, Conversation, PromptText, WindowKnown
from app.context_figures import fit_words, plan_meter, refusal_words
from app.context_panel import WIDTH, ContextPanel
from app.meter import part_title
from app.meter_plan import plan_rows
from app.notices import Notice as Line
from app.prompt_dialog import PromptDialog, prompt_text
from app.theme import theme_of
from app.transcript.bands import LensBook
from app.window.folds import Folding

PANEL_FROM = 1_100
"""In narrower windows the panel lies over the conversation; px."""
FIT_NOTICE = "fit"
"""What the status line's words on the draft are known by."""


class Context(Folding):
    """Follows `ContextFacts` of the open conversation with meter, panel and lens."""

    _facts = ContextFacts("")
    _guard_text = ""
    _fit_said = ""
    _lens_on = False
    _is_context_asked = False

    def begin_context(self) -> None:
        """Make the panel and join it; once, when the window is made."""
        self.panel = ContextPanel(self.parts.main)
        self._place = PanelPlace(self.panel, self)
        panel, view = self.panel, self.parts.transcript
        panel.closed.connect(lambda: self.show_panel(shown=False))
        panel.lens_toggled.connect(lambda on: self.show_lens(on=on))
        panel.prompt_requested.connect(lambda: self.show_prompt())
        panel.copy_requested.connect(self._copy_prompt)
        panel.compaction_chosen.connect(self._go_to_card)
        view.text_asked.connect(self._show_sent)
        self.parts.composer.meter_clicked.connect(self._press_meter)

    def context_handlers(self) -> dict[str, Callable[[], object]]:
        """What the actions "lens", "panel" and "show_prompt" do."""
        return {
            "lens": lambda: self.show_lens(on=not self._lens_on),
            "panel": lambda: self.show_panel(shown=not self._place.is_shown),
            "show_prompt": self.show_prompt,
        }

    # -- panel and lens ------------------------------------------------------------------

    @property
    def panel_shown(self) -> bool:
        """Whether the side panel is there."""
        return self._place.is_shown

    def show_panel(self, *, shown: bool) -> None:
        """Show the side panel, or take it away."""
        self.parts.composer.meter.hide_list()
        had_focus = _is_inside(self.panel, self.focusWidget())
        self._place.show(shown=shown)
        self.parts.header.set_on("panel", on=shown)
        self.actions_.set_checked("panel", shown)
        if had_focus and not shown:
            self._focus_composer()

    def show_lens(self, *, on: bool) -> None:
        """Tint the messages by what the model sees of them, or no longer."""
        self._lens_on = on
        self.parts.header.set_on("lens", on=on)
        self.actions_.set_checked("lens", on)
        self.panel.set_lens(on=on)
        self._bridge.ask(lambda c: c.context.set_lens(on))
        # the bands stand at once, their words come when they are told
        self.parts.transcript.set_lens(self._book() if on else None)

    def _book(self) -> LensBook:
        return LensBook(self._facts.lens or (), exact=self._facts.kind == "exact")

    def _press_meter(self) -> None:
        """The meter was pressed: the panel has the same list, and more."""
        if not self._place.is_shown:
            self.show_panel(shown=True)

    # -- what is told --------------------------------------------------------------------

    def _answer_context(self) -> None:
        """What fills the window, as a card that no model reads; as soon as that is known."""
        self._is_context_asked = self._facts.budget is None and not self._guard_text
        if self._is_context_asked:
            return
        groups = plan_rows(plan_meter(self._facts))
        about = "" if self._facts.kind == "exact" else "≈ "
        lines = [
            f"| {part_title(row.part)} | {about}{row.tokens:,} |"
            for group in groups
            for row in group
        ]
        part, tokens = self.tr("Part"), self.tr("Tokens")
        head = f"| {part} | {tokens} |"
        table = "\n".join([head, "|---|---:|", *lines])
        self._add_local_card(table, self.tr("What fills the window"))

    def _show_facts(self, facts: ContextFacts) -> None:
        """Show what was told of the open conversation's context."""
        before, self._facts = self._facts, facts
        values = plan_meter(facts)
        self._room = facts.fit.room if facts.fit is not None else values.free
        self.parts.composer.set_meter(values)
        self._renew_block()
        self.panel.set_facts(facts)
        if self._lens_on and facts.lens is not None and facts.lens is not before.lens:
            self.parts.transcript.set_lens(self._book())
        if self._is_context_asked:
            self._answer_context()

    def _show(self, conversation: Conversation) -> None:
        """Another conversation: what is known of the last one is no longer shown."""
        self._facts, self._fit_said = ContextFacts(conversation.id), ""
        self._is_context_asked = False
        super()._show(conversation)
        self.panel.set_facts(self._facts)
        if self._lens_on:
            self.parts.transcript.set_lens(LensBook())

    def _show_window(self, known: WindowKnown) -> None:
        super()._show_window(known)
        self._guard_text = known.guard_text if known.guard == "block" else ""
        self._renew_block()

    def _show_meter(self, used: int, budget: int, window: int, *, exact: bool) -> None:
        """A total was told: the parts are as they were until they are told again."""
        if self._facts.id != self._id or not self._facts.segments:
            self._facts = ContextFacts(self._id)
            super()._show_meter(used, budget, window, exact=exact)
            return
        meter = self.parts.composer.meter.values
        drafted = used + meter.draft
        values = plan_meter(self._facts).grown_to(drafted, exact=exact)
        self._room = max(0, budget - used)
        self.parts.composer.set_meter(replace(values, budget=budget, window=window))

    def _renew_block(self) -> None:
        """Sending is off where the model may not be used, or the draft cannot be sent."""
        refused = refusal_words(self._facts)
        self.parts.composer.set_blocked(self._guard_text or refused)
        words, tone = fit_words(self._facts)
        said = words if tone == "red" else ""  # what is near, the meter says
        if said == self._fit_said:
            return
        self._fit_said = said
        if said:
            icon = "blocked" if refused else "fold"
            line = Line(said, icon, "red" if refused else "amber", key=FIT_NOTICE)
            self.parts.notices.say(line)
        else:
            self.parts.notices.withdraw(FIT_NOTICE)

    # -- the prompt ----------------------------------------------------------------------

    def show_prompt(self, entry: str = "", note: str = "") -> None:
        """Show the whole prompt, at one message of it if its entry is named."""
        here = self._id

        def show(prompt: PromptText) -> None:
            PromptDialog(prompt, self, entry, note).open()

        self.parts.composer.flush_draft()
        self._bridge.ask(lambda c: c.context.prompt(here), show)

    def _copy_prompt(self) -> None:
        here = self._id

        def copy(prompt: PromptText) -> None:
            QGuiApplication.clipboard().setText(prompt_text(prompt.parts))
            self.say(self.tr("Copied as it is sent."))

        self.parts.composer.flush_draft()
        self._bridge.ask(lambda c: c.context.prompt(here), copy)

    def _show_sent(self, item_id: str) -> None:
        """Show exactly what goes to the model of a message, or what stands for it."""
        lens = self.parts.transcript.lens
        seen = lens.seen(item_id) if lens is not None else None
        if seen is None or seen.state == "not_sent":
            self.show_prompt(note=self.tr("Nothing of this message goes to the model."))
        elif seen.state == "folded":
            summary = next(
                (s.entry for s in self._facts.lens or () if s.segment == "summary" and s.message),
                "",
            )
            note = self.tr("Of this message only the summary goes to the model.")
            self.show_prompt(summary, note)
        else:
            self.show_prompt(seen.entry)

    def _go_to_card(self, entry: str) -> None:
        """Show a compaction's card; an older one stands among the originals of the last."""
        if not self.parts.transcript.go_to(entry):
            self._ask_here(
                lambda c, id_: c.folds.show_originals(id_), lambda _: self._look_for_card(entry)
            )

    def _look_for_card(self, entry: str) -> None:
        if not self.parts.transcript.go_to(entry):
            self.say(self.tr("Its card is not in this conversation any more."))


def _is_inside(panel: QWidget, focus: QWidget | None) -> bool:
    return focus is not None and panel.isAncestorOf(focus)


class PanelPlace(QObject):
    """Where the panel stands: beside the conversation, or over it where the window is narrow."""

    def __init__(self, panel: ContextPanel, window: Context) -> None:
        super().__init__(window)
        self._panel = panel
        self._window = window
        self._wanted = False
        panel.hide()
        for watched in (window, window.parts.main, window.parts.foot, panel):
            watched.installEventFilter(self)
        theme_of().changed.connect(self._renew)

    @property
    def is_shown(self) -> bool:
        """Whether it is there."""
        return self._wanted

    def show(self, *, shown: bool) -> None:
        """Put it there, or away."""
        self._wanted = shown
        self._panel.setVisible(shown)
        self._renew()

    @property
    def is_over(self) -> bool:
        """Whether it lies over the conversation."""
        return self._window.width() < theme_of().px(PANEL_FROM)

    def _renew(self) -> None:
        main, width = self._window.parts.main, theme_of().px(WIDTH)
        beside = width if self._wanted and not self.is_over else 0
        mirrored = main.layoutDirection() == Qt.LayoutDirection.RightToLeft
        column: QLayout | None = main.layout()
        if column is not None:
            column.setContentsMargins(beside if mirrored else 0, 0, 0 if mirrored else beside, 0)
        left = 0 if mirrored else main.width() - width
        top, bottom = 0, main.height()
        if self.is_over:  # header and composer stay free
            top, bottom = self._window.parts.header.height(), self._window.parts.foot.y()
        self._panel.setGeometry(left, top, width, max(0, bottom - top))
        if self._wanted:
            self._panel.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's: follows the size of the window and its part; Esc ends a panel that lies over."""
        kind = event.type()
        if kind in (QEvent.Type.Resize, QEvent.Type.Move) and watched is not self._panel:
            self._renew()
        if kind != QEvent.Type.ShortcutOverride or watched is not self._panel or not self.is_over:
            return False
        assert isinstance(event, QKeyEvent)
        if event.key() != Qt.Key.Key_Escape:
            return False
        event.accept()
        self._window.show_panel(shown=False)
        return True
