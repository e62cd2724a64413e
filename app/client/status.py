"""What `/status` answers: model, window and counters of a conversation. Pure."""

from app.client.values import Conversation
from app.sentences import localized
from app.words import translate
from engine.store import SessionRow


def status_words(conversation: Conversation, row: SessionRow | None) -> str:
    """As Markdown; `row` is None for a conversation that is not stored yet."""
    rows = [
        (translate("Client", "Model"), conversation.model),
        (translate("Client", "Context window"), localized(conversation.window)),
        (translate("Client", "Prompt budget"), _tokens(conversation.budget_tokens)),
        (translate("Client", "Used"), _tokens(conversation.used_tokens)),
        ("", localized(conversation.guard_text)),
    ]
    if row is not None:
        count = row.compaction_count
        times = translate("Client", "%n ×", "", count)
        rows += [
            (translate("Client", "Read in all"), _tokens(row.input_tokens)),
            (translate("Client", "Written in all"), _tokens(row.output_tokens)),
            (translate("Client", "Compacted"), times),
            (translate("Client", "Conversation"), f"`{row.id}`"),
        ]
    named = translate("Client", "{name}: {value}")
    shown = [named.format(name=n, value=v) if n else v for n, v in rows if v]
    return "\n".join(f"- {line}" for line in shown)


def _tokens(tokens: int) -> str:
    return translate("Client", "%n token(s)", "", tokens) if tokens else ""
