"""What pages, settings and their choices are called, in the user's language.

Titles and help are the settings table's own; what a choice is called is said here where the word
of the file is none for people.
"""

from app.words import joined, translate
from engine.settings import Setting, Value
from engine.settings.setting import shown


def title_words(setting: Setting) -> str:
    """What a setting is called."""
    return translate("Settings", setting.title)


def help_words(setting: Setting) -> str:
    """What a setting does."""
    return translate("Settings", setting.help)


def page_words(page: str) -> tuple[str, str]:
    """What a page is called and what it is for."""
    words = {
        "general": (
            translate("Preferences", "General"),
            translate("Preferences", "Language, and what every model is told."),
        ),
        "models": (
            translate("Preferences", "Models"),
            translate("Preferences", "Which models there are, and how they are run."),
        ),
        "context": (
            translate("Preferences", "Context"),
            translate("Preferences", "How large a model's window may be, and how small."),
        ),
        "compaction": (
            translate("Preferences", "Compaction"),
            translate("Preferences", "What happens when a conversation outgrows the window."),
        ),
        "memory": (
            translate("Preferences", "Memory"),
            translate("Preferences", "What every model is told, in every conversation."),
        ),
        "appearance": (
            translate("Preferences", "Appearance"),
            translate("Preferences", "Colours, size and the face of the replies."),
        ),
        "storage": (
            translate("Preferences", "Storage"),
            translate("Preferences", "Where everything lies. All of it is on this computer."),
        ),
    }
    return words[page]


def group_words(group: str) -> str:
    """The heading of a group."""
    words = {
        "ollama": translate("Preferences", "Ollama"),
        "llamacpp": translate("Preferences", "llama.cpp"),
        "pruning": translate("Preferences", "Tool results"),
        "one_model": translate("Preferences", "For one model"),
    }
    return words[group]


def choice_words(setting: Setting, choice: str) -> str:
    """What a choice is called; the file's own word where that says it."""
    words = {
        "auto": translate("Preferences", "Automatic"),
        "en": "English",
        "zh": "简体中文",
        "off": translate("Preferences", "Off"),
        "on": translate("Preferences", "On"),
        "low": translate("Preferences", "Low"),
        "max": translate("Preferences", "Max"),
        "drop": translate("Preferences", "None of it"),
        "last": translate("Preferences", "While it uses tools"),
        "keep": translate("Preferences", "All of it"),
        "strict": translate("Preferences", "Word for word"),
        "custom": translate("Preferences", "In your words"),
        "newest_first": translate("Preferences", "The newest"),
        "oldest_first": translate("Preferences", "The oldest"),
        "cache-ttl": translate("Preferences", "Trim when rested"),
        "yarn": translate("Preferences", "Always"),
        "system": translate("Preferences", "As the system"),
        "light": translate("Preferences", "Light"),
        "dark": translate("Preferences", "Dark"),
        "book": translate("Preferences", "Book"),
        "plain": translate("Preferences", "Plain"),
        "narrow": translate("Preferences", "Narrow"),
        "medium": translate("Preferences", "Medium"),
        "wide": translate("Preferences", "Wide"),
        "usual": translate("Preferences", "Usual"),
        "high": translate("Preferences", "High"),
        "automatic": translate("Preferences", "Do it and tell me"),
        "ask": translate("Preferences", "Ask first"),
        "remind": translate("Preferences", "Only remind me"),
    }
    return words.get(choice, choice)


def unset_model_words(setting: Setting) -> str:
    """What a setting that names no model means."""
    if setting.key == "models.default":
        return translate("Preferences", "The starter model")
    return translate("Preferences", "The conversation's own")


def unit_words(setting: Setting) -> str:
    """What stands behind a figure."""
    words = {
        "tokens": translate("Preferences", "tokens"),
        "seconds": translate("Preferences", "seconds"),
    }
    return words.get(setting.unit, setting.unit)


def value_words(setting: Setting, value: Value | None) -> str:
    """A value as people read it."""
    match value:
        case None:
            return translate("Preferences", "not set")
        case bool():
            return translate("Preferences", "on") if value else translate("Preferences", "off")
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case str() if setting.choices:
            return choice_words(setting, value)
        case "" | ():
            return translate("Preferences", "empty")
    return shown(value)


def range_words(setting: Setting) -> str:
    """Default and allowed range, after the help: "Default 20,000; 0 to 16,777,216."."""
    value = value_words(setting, setting.default)
    if setting.minimum is not None and setting.maximum is not None:
        least, most = f"{setting.minimum:,}", f"{setting.maximum:,}"
        bounded = translate("Preferences", "Default {value}; {least} to {most}.")
        said = bounded.format(value=value, least=least, most=most)
    else:
        said = translate("Preferences", "Default {value}.").format(value=value)
    if setting.needs_restart:
        return joined(said, translate("Preferences", "Holds from the next start on."))
    return said
