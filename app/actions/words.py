"""What actions are called, English; collected by Qt Linguist, translated where they are shown."""


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:
    """Marks a text for Qt Linguist, which knows the name (PySide6's own says it gives an object)."""
    return text


WORDS: dict[str, tuple[str, str]] = {
    "new_chat": (
        QT_TRANSLATE_NOOP("Actions", "New chat"),
        QT_TRANSLATE_NOOP("Actions", "Begin a new conversation."),
    ),
    "open_model": (
        QT_TRANSLATE_NOOP("Actions", "Open a model file…"),
        QT_TRANSLATE_NOOP("Actions", "Use a GGUF file from this computer."),
    ),
    "fetch_starter": (
        QT_TRANSLATE_NOOP("Actions", "Fetch the starter model"),
        QT_TRANSLATE_NOOP("Actions", "Download the small model that comes with Porthole."),
    ),
    "get_model": (
        QT_TRANSLATE_NOOP("Actions", "Get a model from Ollama…"),
        QT_TRANSLATE_NOOP("Actions", "Have the Ollama server fetch a model from its library."),
    ),
    "rename_chat": (
        QT_TRANSLATE_NOOP("Actions", "Rename…"),
        QT_TRANSLATE_NOOP("Actions", "Give this conversation another title."),
    ),
    "pin_chat": (
        QT_TRANSLATE_NOOP("Actions", "Pin"),
        QT_TRANSLATE_NOOP("Actions", "Keep this conversation at the top of the list."),
    ),
    "duplicate_chat": (
        QT_TRANSLATE_NOOP("Actions", "Duplicate"),
        QT_TRANSLATE_NOOP("Actions", "Make a copy of this conversation."),
    ),
    "export_markdown": (
        QT_TRANSLATE_NOOP("Actions", "Export as Markdown…"),
        QT_TRANSLATE_NOOP("Actions", "Write this conversation to a text file."),
    ),
    "export_jsonl": (
        QT_TRANSLATE_NOOP("Actions", "Export as JSONL…"),
        QT_TRANSLATE_NOOP(
            "Actions",
            "Write this conversation, with every branch, to a file that can be read in again.",
        ),
    ),
    "delete_chat": (
        QT_TRANSLATE_NOOP("Actions", "Delete"),
        QT_TRANSLATE_NOOP(
            "Actions", "Delete this conversation. It can be undone for some seconds."
        ),
    ),
    "settings": (
        QT_TRANSLATE_NOOP("Actions", "Preferences…"),
        QT_TRANSLATE_NOOP("Actions", "Change how Porthole works."),
    ),
    "quit": (
        QT_TRANSLATE_NOOP("Actions", "Quit"),
        QT_TRANSLATE_NOOP("Actions", "Stop what runs and leave. What was typed is kept."),
    ),
    "undo": (
        QT_TRANSLATE_NOOP("Actions", "Undo the deletion"),
        QT_TRANSLATE_NOOP("Actions", "Have back what was deleted last."),
    ),
    "copy": (
        QT_TRANSLATE_NOOP("Actions", "Copy"),
        QT_TRANSLATE_NOOP("Actions", "Copy what is selected."),
    ),
    "copy_markdown": (
        QT_TRANSLATE_NOOP("Actions", "Copy as Markdown"),
        QT_TRANSLATE_NOOP("Actions", "Copy what is selected, with its marks."),
    ),
    "copy_last": (
        QT_TRANSLATE_NOOP("Actions", "Copy the last reply"),
        QT_TRANSLATE_NOOP("Actions", "Copy the whole of the last reply."),
    ),
    "select_all": (
        QT_TRANSLATE_NOOP("Actions", "Select all"),
        QT_TRANSLATE_NOOP("Actions", "Select the whole conversation."),
    ),
    "edit_last": (
        QT_TRANSLATE_NOOP("Actions", "Edit the last message"),
        QT_TRANSLATE_NOOP("Actions", "In the empty composer: change what you said last."),
    ),
    "find": (
        QT_TRANSLATE_NOOP("Actions", "Find in the conversation"),
        QT_TRANSLATE_NOOP("Actions", "Look for words in this conversation."),
    ),
    "find_next": (
        QT_TRANSLATE_NOOP("Actions", "Find next"),
        QT_TRANSLATE_NOOP("Actions", "Go to the next place found."),
    ),
    "find_previous": (
        QT_TRANSLATE_NOOP("Actions", "Find previous"),
        QT_TRANSLATE_NOOP("Actions", "Go to the place found before."),
    ),
    "search": (
        QT_TRANSLATE_NOOP("Actions", "Search all conversations"),
        QT_TRANSLATE_NOOP("Actions", "Look for words in titles and messages."),
    ),
    "palette": (
        QT_TRANSLATE_NOOP("Actions", "Commands…"),
        QT_TRANSLATE_NOOP("Actions", "Find any command or conversation by its name."),
    ),
    "sidebar": (
        QT_TRANSLATE_NOOP("Actions", "Sidebar"),
        QT_TRANSLATE_NOOP("Actions", "Show or hide the list of conversations."),
    ),
    "panel": (
        QT_TRANSLATE_NOOP("Actions", "Context panel"),
        QT_TRANSLATE_NOOP("Actions", "Show or hide what the prompt is made of."),
    ),
    "lens": (
        QT_TRANSLATE_NOOP("Actions", "Lens"),
        QT_TRANSLATE_NOOP("Actions", "Tint the messages by what the model sees of them."),
    ),
    "show_prompt": (
        QT_TRANSLATE_NOOP("Actions", "Show the whole prompt"),
        QT_TRANSLATE_NOOP("Actions", "Read exactly what would be sent to the model now."),
    ),
    "next_chat": (
        QT_TRANSLATE_NOOP("Actions", "Next conversation"),
        QT_TRANSLATE_NOOP("Actions", "Go to the conversation below."),
    ),
    "previous_chat": (
        QT_TRANSLATE_NOOP("Actions", "Previous conversation"),
        QT_TRANSLATE_NOOP("Actions", "Go to the conversation above."),
    ),
    "go_to_start": (
        QT_TRANSLATE_NOOP("Actions", "Go to the beginning"),
        QT_TRANSLATE_NOOP("Actions", "Go to the first message."),
    ),
    "go_to_end": (
        QT_TRANSLATE_NOOP("Actions", "Go to the end"),
        QT_TRANSLATE_NOOP("Actions", "Go to the last message, and follow the reply."),
    ),
    "focus_composer": (
        QT_TRANSLATE_NOOP("Actions", "Write a message"),
        QT_TRANSLATE_NOOP("Actions", "Go to where messages are typed."),
    ),
    "next_pane": (
        QT_TRANSLATE_NOOP("Actions", "Next pane"),
        QT_TRANSLATE_NOOP("Actions", "Go from the list to the conversation to the composer."),
    ),
    "previous_pane": (
        QT_TRANSLATE_NOOP("Actions", "Previous pane"),
        QT_TRANSLATE_NOOP("Actions", "Go back to the pane before."),
    ),
    "zoom_in": (
        QT_TRANSLATE_NOOP("Actions", "Larger text"),
        QT_TRANSLATE_NOOP("Actions", "Make everything larger."),
    ),
    "zoom_out": (
        QT_TRANSLATE_NOOP("Actions", "Smaller text"),
        QT_TRANSLATE_NOOP("Actions", "Make everything smaller."),
    ),
    "zoom_reset": (
        QT_TRANSLATE_NOOP("Actions", "Usual size"),
        QT_TRANSLATE_NOOP("Actions", "Text of the usual size."),
    ),
    "theme_system": (
        QT_TRANSLATE_NOOP("Actions", "Colours of the system"),
        QT_TRANSLATE_NOOP("Actions", "Light or dark as the system says."),
    ),
    "theme_light": (
        QT_TRANSLATE_NOOP("Actions", "Light colours"),
        QT_TRANSLATE_NOOP("Actions", "Ink on paper."),
    ),
    "theme_dark": (
        QT_TRANSLATE_NOOP("Actions", "Dark colours"),
        QT_TRANSLATE_NOOP("Actions", "Light words on a dark page."),
    ),
    "full_screen": (
        QT_TRANSLATE_NOOP("Actions", "Full screen"),
        QT_TRANSLATE_NOOP("Actions", "Use the whole screen."),
    ),
    "send": (
        QT_TRANSLATE_NOOP("Actions", "Send"),
        QT_TRANSLATE_NOOP(
            "Actions", "Send what is typed. While a reply runs it waits for its turn."
        ),
    ),
    "line_break": (
        QT_TRANSLATE_NOOP("Actions", "New line"),
        QT_TRANSLATE_NOOP("Actions", "Begin a new line in the message."),
    ),
    "stop": (
        QT_TRANSLATE_NOOP("Actions", "Stop"),
        QT_TRANSLATE_NOOP("Actions", "Stop the reply, also while the model loads or reads."),
    ),
    "regenerate": (
        QT_TRANSLATE_NOOP("Actions", "Answer again"),
        QT_TRANSLATE_NOOP(
            "Actions", "Have the last question answered again. The older reply is kept."
        ),
    ),
    "continue": (
        QT_TRANSLATE_NOOP("Actions", "Continue the reply"),
        QT_TRANSLATE_NOOP("Actions", "Have a reply that was cut go on."),
    ),
    "attach": (
        QT_TRANSLATE_NOOP("Actions", "Attach a file…"),
        QT_TRANSLATE_NOOP("Actions", "Put the text of a file into the message."),
    ),
    "compact": (
        QT_TRANSLATE_NOOP("Actions", "Compact now"),
        QT_TRANSLATE_NOOP("Actions", "Fold older messages into a summary."),
    ),
    "compact_focus": (
        QT_TRANSLATE_NOOP("Actions", "Compact with a focus…"),
        QT_TRANSLATE_NOOP("Actions", "Fold older messages, and say what to keep above all."),
    ),
    "model_picker": (
        QT_TRANSLATE_NOOP("Actions", "Choose a model…"),
        QT_TRANSLATE_NOOP("Actions", "Go on with another model."),
    ),
    "models": (
        QT_TRANSLATE_NOOP("Actions", "Models…"),
        QT_TRANSLATE_NOOP("Actions", "Every model's window: what was asked for and what counts."),
    ),
    "system_prompt": (
        QT_TRANSLATE_NOOP("Actions", "System prompt…"),
        QT_TRANSLATE_NOOP("Actions", "Say how the model should answer in this conversation."),
    ),
    "status": (
        QT_TRANSLATE_NOOP("Actions", "Status"),
        QT_TRANSLATE_NOOP("Actions", "Model, window and tokens of this conversation."),
    ),
    "message_copy": (
        QT_TRANSLATE_NOOP("Actions", "Copy the message"),
        QT_TRANSLATE_NOOP("Actions", "Copy this message as plain text."),
    ),
    "message_copy_markdown": (
        QT_TRANSLATE_NOOP("Actions", "Copy the message as Markdown"),
        QT_TRANSLATE_NOOP("Actions", "Copy this message with its marks."),
    ),
    "message_edit": (
        QT_TRANSLATE_NOOP("Actions", "Edit…"),
        QT_TRANSLATE_NOOP("Actions", "Say it otherwise: a new branch, the old one stays."),
    ),
    "message_regenerate": (
        QT_TRANSLATE_NOOP("Actions", "Answer again from here"),
        QT_TRANSLATE_NOOP("Actions", "Have this question answered again."),
    ),
    "message_pin": (
        QT_TRANSLATE_NOOP("Actions", "Pin the message"),
        QT_TRANSLATE_NOOP(
            "Actions", "Keep it word for word, wherever the conversation is folded."
        ),
    ),
    "message_unpin": (
        QT_TRANSLATE_NOOP("Actions", "Unpin the message"),
        QT_TRANSLATE_NOOP("Actions", "It may be folded into a summary again."),
    ),
    "message_earlier": (
        QT_TRANSLATE_NOOP("Actions", "Earlier version"),
        QT_TRANSLATE_NOOP("Actions", "Go to the version before."),
    ),
    "message_later": (
        QT_TRANSLATE_NOOP("Actions", "Later version"),
        QT_TRANSLATE_NOOP("Actions", "Go to the version after."),
    ),
    "message_delete": (
        QT_TRANSLATE_NOOP("Actions", "Delete from here on"),
        QT_TRANSLATE_NOOP(
            "Actions",
            "Take this message and what follows out of the conversation. It can be undone.",
        ),
    ),
    "shortcuts": (
        QT_TRANSLATE_NOOP("Actions", "Keyboard shortcuts"),
        QT_TRANSLATE_NOOP("Actions", "Every shortcut on one sheet."),
    ),
    "open_reports": (
        QT_TRANSLATE_NOOP("Actions", "Show the reports"),
        QT_TRANSLATE_NOOP("Actions", "Open the folder of saved reports."),
    ),
    "about": (
        QT_TRANSLATE_NOOP("Actions", "About Porthole"),
        QT_TRANSLATE_NOOP("Actions", "Version and licences."),
    ),
}
"""By id: the name in menus, and a sentence for palette and sheet."""

MENU_WORDS: dict[str, str] = {
    "file": QT_TRANSLATE_NOOP("Actions", "&File"),
    "edit": QT_TRANSLATE_NOOP("Actions", "&Edit"),
    "view": QT_TRANSLATE_NOOP("Actions", "&View"),
    "chat": QT_TRANSLATE_NOOP("Actions", "&Chat"),
    "message": QT_TRANSLATE_NOOP("Actions", "&Message"),
    "help": QT_TRANSLATE_NOOP("Actions", "&Help"),
}
"""The menus' names, with their mnemonics."""
