"""A draft that does not fit: the card over the composer, and what its buttons lead to."""

from collections.abc import Callable
from dataclasses import replace

from app.client import ContextFacts, Conversation, Digesting, PartsWaiting
from app.client.fit_values import FitOffer, LargerWindow, PartsToChoose
from app.client.preferences import Spot
from app.fit_card import FitCard
from app.fit_dialog import PartsDialog
from app.typed import Attachment
from app.window.context import FIT_NOTICE, Context


class Fitting(Context):
    """Offers what can be done whenever the draft of the open conversation cannot be sent."""

    _offer: FitOffer | None = None
    _waiting = PartsWaiting("")

    def begin_fitting(self) -> None:
        """Make the card and join it; once, when the window is made."""
        self._digests: dict[str, Digesting] = {}
        self.fit_card = FitCard(self.parts.foot)
        self.parts.foot.put_above(self.fit_card)
        self._fit_handlers: dict[str, Callable[[FitOffer], None]] = {
            "pick": self._pick_parts,
            "digest": self._digest,
            "follow": self._ask_parts,
            "larger": self._use_larger,
            "remove": self._remove_subject,
        }
        self.fit_card.acted.connect(self._act_on_fit)
        self.fit_card.left.connect(self._focus_composer)

    # -- what is told --------------------------------------------------------------------

    def _show(self, conversation: Conversation) -> None:
        self._offer, self._waiting = None, PartsWaiting(conversation.id)
        super()._show(conversation)
        self._renew_fit_card()
        here = conversation.id
        self._bridge.ask(lambda c: c.fitting.waiting(here), self._show_waiting)

    def _show_facts(self, facts: ContextFacts) -> None:
        super()._show_facts(facts)
        if self._is_too_large():
            here = self._id
            self._bridge.ask(lambda c: c.fitting.offer(here), self._show_fit_offer)
        else:
            self._show_fit_offer(None)

    def _is_too_large(self) -> bool:
        fit = self._facts.fit
        return self._facts.id == self._id and fit is not None and fit.state == "too_large"

    def _show_fit_offer(self, offer: FitOffer | None) -> None:
        """Show what was found out, unless the draft was changed since."""
        if offer is not None and (offer.id != self._id or not self._is_too_large()):
            return
        self._offer = offer
        composer = self.parts.composer
        marked = tuple(
            _marked(file, offer if offer is not None and offer.index == index else None)
            for index, file in enumerate(composer.attachments())
        )
        if marked != composer.attachments():
            composer.set_attachments(marked)
        self._renew_fit_card()

    def _show_digesting(self, digest: Digesting) -> None:
        if digest.over:
            self._digests.pop(digest.id, None)
        else:
            self._digests[digest.id] = digest
        if digest.id == self._id:
            self._renew_fit_card()

    def _show_waiting(self, waiting: PartsWaiting) -> None:
        if waiting.id == self._id:
            self._waiting = waiting
            self._renew_fit_card()

    def _renew_fit_card(self) -> None:
        """Show what matters most: a digest that runs, a draft that does not fit, the next part."""
        digest = self._digests.get(self._id)
        if digest is not None:
            self.fit_card.show_digest(digest)
        elif self._offer is not None:
            self.fit_card.show_offer(self._offer)
        elif self._waiting.total:
            self.fit_card.show_next(self._waiting)
        else:
            self.fit_card.clear()
        if self._offer is not None:
            self.parts.notices.withdraw(FIT_NOTICE)  # the card says it

    # -- what is pressed -----------------------------------------------------------------

    def _act_on_fit(self, action: str) -> None:
        here = self._id
        match action:
            case "stop":
                self._bridge.ask(lambda c: c.fitting.stop_digest(here))
            case "next":
                self._bridge.ask(lambda c: c.fitting.next_part(here))
                self.parts.transcript.scroll_to_end()
            case "end":
                self._bridge.ask(lambda c: c.fitting.end_parts(here))
            case _ if self._offer is not None:
                self.parts.composer.flush_draft()
                self._fit_handlers[action](self._offer)

    def _pick_parts(self, offer: FitOffer) -> None:
        here = offer.id
        self._bridge.ask(lambda c: c.fitting.parts(here), self._show_parts)

    def _show_parts(self, found: PartsToChoose | None) -> None:
        if found is None or found.id != self._id:
            return
        name = found.name or self.tr("your message")
        dialog = PartsDialog(found, name, self)
        dialog.taken.connect(lambda text: self._take_excerpt(found, text))
        dialog.show()

    def _take_excerpt(self, found: PartsToChoose, text: str) -> None:
        """Put an excerpt in the place of the whole."""
        if found.id != self._id:
            return
        if found.index < 0:
            self.parts.composer.replace_typed(text.rstrip("\n"))
        else:
            title = self.tr("{name} (excerpt)").format(name=found.name)
            self._replace_file(found.name, Attachment.of(title, text))
        self._focus_composer()

    def _digest(self, offer: FitOffer) -> None:
        here, name = offer.id, offer.name

        def take(digest: Attachment | None) -> None:
            if digest is None or here != self._id:
                return
            if not name:
                self.parts.composer.replace_typed("")
            self._replace_file(name, digest)
            self.say(self.tr("The digest stands in the place of the file."))

        self._bridge.ask(lambda c: c.fitting.digest(here), take)

    def _ask_parts(self, offer: FitOffer) -> None:
        here, model, draft = offer.id, self._model, self.parts.composer.text()

        def asked(conversation: str) -> None:
            if conversation and here == self._id:
                if self.parts.composer.text() == draft:
                    self.parts.composer.set_text("")
                self._sent(conversation)

        self._bridge.ask(lambda c: c.fitting.ask_parts(here, model), asked)

    def _use_larger(self, offer: FitOffer) -> None:
        larger = offer.larger
        if larger is None:
            return
        spot = Spot("context_window", larger.model)
        self._bridge.ask(
            lambda c: c.preferences.set(spot, larger.tokens, larger.model),
            lambda _: self._tell_larger(larger),
        )

    def _tell_larger(self, larger: LargerWindow) -> None:
        said = self.tr("{model} has a window of {tokens} from the next message on.")
        model = self._title_of(larger.model)
        self.say(said.format(model=model, tokens=f"{larger.tokens:,}"))

    def _remove_subject(self, offer: FitOffer) -> None:
        names = [file.name for file in self.parts.composer.attachments()]
        if offer.name in names:
            self.parts.composer.remove_attachment(names.index(offer.name))
        self.parts.composer.flush_draft()

    def _replace_file(self, name: str, instead: Attachment) -> None:
        """Put a file in the place of the one called so; beside the others when it is gone."""
        files = list(self.parts.composer.attachments())
        place = next((i for i, file in enumerate(files) if file.name == name), len(files))
        files[place : place + 1] = [instead]
        self.parts.composer.set_attachments(files)
        self.parts.composer.flush_draft()


def _marked(file: Attachment, offer: FitOffer | None) -> Attachment:
    """A file in amber with its size where it is what does not fit; else as any other."""
    if offer is None:
        return file if file.fits else replace(file, fits=True)
    return replace(file, tokens=offer.tokens, fits=False)
