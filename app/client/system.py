"""The system prompts of conversations, and those the user keeps to use again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.client.keeping import Keeping
from app.client.talks import Talks
from app.client.turns import Turns
from app.wiring import Workplace, kept_options
from engine.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The prompt that holds in a conversation, and the user's own presets, name to text."""

    text: str
    presets: Mapping[str, str] = field(default_factory=dict)


class SystemPrompts:
    """Reads and changes them; "" is the next new conversation.

    Args:
        workplace: the store, the settings.
        talks: the conversations in use.
        turns: what runs in them.
        keeping: presets, and the prompt of the next new conversation.
        renew: has a conversation's context counted again.
    """

    def __init__(
        self,
        workplace: Workplace,
        talks: Talks,
        turns: Turns,
        keeping: Keeping,
        renew: Callable[[str], None],
    ) -> None:
        self._workplace = workplace
        self._talks = talks
        self._turns = turns
        self._keeping = keeping
        self._renew = renew

    async def read(self, id: str) -> SystemPrompt:
        """The system prompt that holds in a conversation."""
        presets = dict(self._keeping.presets)
        if not id:
            name = self._workplace.model_name(self._keeping.model or None)
            text = (
                self._keeping.system or self._workplace.plan(name, remembers=False).system_prompt
            )
            return SystemPrompt(text, presets)
        talk = self._talks.talk(id)
        name = self._workplace.model_name(talk.model or None)
        plan = self._workplace.plan(name, (kept_options(talk.path),), remembers=False)
        return SystemPrompt(plan.system_prompt, presets)

    async def set(self, id: str, text: str) -> None:
        """Give a conversation another system prompt, from the next turn on."""
        if not id:
            self._keeping.system = text
            self._save()
            self._renew("")
            return
        talk = self._talks.talk(id)
        await self._turns.rest(talk)
        self._workplace.keep_options(id, ModelSettings(system_prompt=text))
        talk.session = None  # made again, with it
        self._talks.refresh(talk)

    async def keep(self, name: str, text: str) -> None:
        """Keep a prompt under a name; an empty text forgets the name."""
        if text:
            self._keeping.presets[name] = text
        else:
            self._keeping.presets.pop(name, None)
        self._save()

    def _save(self) -> None:
        self._keeping.note()
        self._keeping.save()
