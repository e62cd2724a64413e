"""Which setting stands on which page, and which are found by a search. Pure.

Pages and groups follow the tables of the settings file, so that a new setting has its place by
itself; one of an unknown table stands under General rather than nowhere.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.preferences.words import choice_words, group_words, help_words, page_words, title_words
from engine.settings import MODEL_SETTINGS, SETTINGS, Setting

PageId = Literal["general", "models", "context", "compaction", "memory", "appearance", "storage"]

_SECTIONS: dict[PageId, tuple[str, ...]] = {
    "general": ("", "general", "chat"),
    "models": ("models", "ollama", "llamacpp"),
    "context": ("context",),
    "compaction": ("compaction", "pruning"),
    "memory": ("memory",),
    "appearance": ("appearance",),
    "storage": ("storage",),
}
_ONE_MODEL: dict[PageId, tuple[str, ...]] = {
    "context": ("context_window", "stretch", "kv_type"),
    "models": tuple(
        key for key in MODEL_SETTINGS if key not in ("context_window", "stretch", "kv_type")
    ),
}
"""What is set for one model, by the page it stands on."""
_HEADED = ("ollama", "llamacpp", "pruning")
"""Tables that are a group of their own on their page; others stand at its top."""
_HAS_MORE: tuple[PageId, ...] = ("storage",)
"""Pages that show something beside settings."""


@dataclass(frozen=True, slots=True)
class Group:
    """Settings under one heading; `id` is "" for the top of a page, "one_model" for one model's."""

    id: str
    settings: tuple[Setting, ...]

    @property
    def is_of_model(self) -> bool:
        """Whether they hold for the chosen model only."""
        return self.id == "one_model"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the window: its groups, in order."""

    id: PageId
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        """What it is called, in the user's language."""
        return page_words(self.id)[0]

    @property
    def about(self) -> str:
        """What it is for, one sentence."""
        return page_words(self.id)[1]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All of them, in order."""
        return tuple(setting for group in self.groups for setting in group.settings)


def plan_pages() -> tuple[Page, ...]:
    """All pages that have something to show, in order."""
    pages = [Page(page, tuple(_groups(page))) for page in _SECTIONS]
    return tuple(page for page in pages if page.groups or page.id in _HAS_MORE)


def page_of(setting: Setting) -> PageId:
    """Where a setting stands."""
    if setting.key in MODEL_SETTINGS:
        return next(page for page, keys in _ONE_MODEL.items() if setting.key in keys)
    return _page_of_section(setting.section)


def _page_of_section(section: str) -> PageId:
    return next((page for page, known in _SECTIONS.items() if section in known), "general")


def _groups(page: PageId) -> Iterable[Group]:
    here = [s for s in SETTINGS.values() if _page_of_section(s.section) == page]
    top = tuple(setting for setting in here if setting.section not in _HEADED)
    if top:
        yield Group("", top)
    for section in _HEADED:
        found = tuple(setting for setting in here if setting.section == section)
        if found:
            yield Group(section, found)
    if page in _ONE_MODEL:
        yield Group("one_model", tuple(MODEL_SETTINGS[key] for key in _ONE_MODEL[page]))


def plan_found(text: str, pages: Iterable[Page]) -> frozenset[str]:
    """The keys of all settings that have every word of a search in what is said of them."""
    wanted = text.casefold().split()
    return frozenset(
        setting.key
        for page in pages
        for group in page.groups
        for setting in group.settings
        if all(word in _said_of(page, group, setting) for word in wanted)
    )


def _said_of(page: Page, group: Group, setting: Setting) -> str:
    choices = (choice_words(setting, choice) for choice in setting.choices)
    head = group_words(group.id) if group.id else ""
    words = (page.title, head, title_words(setting), help_words(setting), setting.key, *choices)
    return " ".join(words).casefold()
