"""Every setting there is, once; and what became of those that are gone.

A key is never reused with another meaning: a renamed or dropped one leaves a `Tombstone`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.errors import Bug
from engine.settings.models import MODEL_SETTINGS, MODEL_TABLE
from engine.settings.setting import MOST_TOKENS, Setting, literal, table_of

_DAY_SECONDS = 86_400
_DURATION = r"(-?([0-9]+(\.[0-9]+)?(ms|s|m|h))+)?"


SETTINGS: Mapping[str, Setting] = table_of(
    Setting(
        key="language",
        kind="text",
        default="auto",
        choices=("auto", "en", "zh"),
        title="Language",
        help="The language Porthole speaks. The terminal speaks English only.",
        needs_restart=True,
    ),
    Setting(
        key="models.default",
        kind="text",
        default="",
        title="Model",
        help="The model new conversations use: starter, llama.cpp:PATH or ollama:NAME. "
        "Empty means the starter model, if it is there.",
    ),
    Setting(
        key="models.folders",
        kind="list",
        default=(),
        title="Model folders",
        help="Folders searched for GGUF files, besides Porthole's own.",
    ),
    Setting(
        key="models.added",
        kind="list",
        default=(),
        title="Added models",
        help="GGUF files added one by one.",
    ),
    Setting(
        key="chat.system_prompt",
        kind="text",
        default="",
        title="System prompt",
        help="What every model is told first, unless the model has a system prompt of its own.",
    ),
    Setting(
        key="context.cap_tokens",
        kind="whole",
        default=32_768,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Largest window",
        help="No model gets a larger context window than this, whatever it could take.",
    ),
    Setting(
        key="context.hard_min_tokens",
        kind="whole",
        default=16_000,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Smallest window",
        help="A model with a smaller context window is not used at all.",
    ),
    Setting(
        key="context.warn_below_tokens",
        kind="whole",
        default=32_000,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Warn below",
        help="A model with a smaller context window is used with a warning.",
    ),
    Setting(
        key="compaction.enabled",
        kind="switch",
        default=True,
        title="Compact conversations",
        help="Fold older messages into a summary when the conversation outgrows the prompt budget. "
        "Off: it is sent whole for as long as it fits, and only /compact folds.",
    ),
    Setting(
        key="compaction.mode",
        kind="text",
        default="automatic",
        choices=("automatic", "ask", "remind"),
        title="When the budget is full",
        help="automatic folds and tells; ask shows what would be folded and waits for your word; "
        "remind only says so. Nothing is ever cut instead: what does not fit is not sent.",
    ),
    Setting(
        key="compaction.notify",
        kind="switch",
        default=True,
        title="Say when it was done",
        help="A line over the composer after every compaction. What failed is always told.",
    ),
    Setting(
        key="compaction.verbose",
        kind="switch",
        default=False,
        title="Count compactions",
        help="The line also says which compaction of the conversation it was.",
    ),
    Setting(
        key="compaction.reserve_tokens",
        kind="whole",
        default=20_000,
        minimum=0,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Kept for the reply",
        help="Tokens of the window kept free for the reply. Raised to the floor below, and never "
        "so large that the prompt has less than 8,000 tokens (or half of a smaller window).",
    ),
    Setting(
        key="compaction.reserve_floor",
        kind="whole",
        default=20_000,
        minimum=0,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Floor for the reply",
        help="The reserve is at least this; 0 switches the floor off.",
    ),
    Setting(
        key="compaction.keep_recent_tokens",
        kind="whole",
        default=20_000,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Keep recent messages",
        help="Recent messages of about this size stay word for word; small windows keep less.",
    ),
    Setting(
        key="compaction.in_place",
        kind="switch",
        default=True,
        title="Summarise in place",
        help="Ask for the summary at the end of the conversation the model has already read, where "
        "that fits: much faster. Off: always read the messages once more, in pieces.",
    ),
    Setting(
        key="compaction.model",
        kind="text",
        default="",
        title="Model for summaries",
        help="starter, llama.cpp:PATH or ollama:NAME. Empty: the conversation's own model.",
    ),
    Setting(
        key="compaction.instructions",
        kind="text",
        default="",
        title="What summaries look at",
        help="Words added to every request for a summary, unless /compact is given others.",
    ),
    Setting(
        key="compaction.identifier_policy",
        kind="text",
        default="strict",
        choices=("strict", "off", "custom"),
        title="Identifiers",
        help="strict asks for paths, addresses and numbers word for word; custom uses the words "
        "below; off says nothing of them. Exact values are carried by Porthole in any case.",
    ),
    Setting(
        key="compaction.identifier_text",
        kind="text",
        default="",
        title="Identifiers, own words",
        help="Used with the policy custom; empty means strict.",
    ),
    Setting(
        key="compaction.timeout_seconds",
        kind="whole",
        default=900,
        minimum=5,
        maximum=_DAY_SECONDS,
        unit="seconds",
        title="Longest compaction",
        help="A compaction that takes longer is given up, and nothing is changed.",
    ),
    Setting(
        key="compaction.idle_seconds",
        kind="whole",
        default=0,
        minimum=0,
        maximum=_DAY_SECONDS,
        unit="seconds",
        title="Fold while idle",
        help="When nothing was typed for so long and three quarters of the prompt budget are in "
        "use, fold then, so that the next message need not wait; 0 never does.",
    ),
    Setting(
        key="pruning.result_chars",
        kind="whole",
        default=0,
        minimum=0,
        maximum=MOST_TOKENS,
        title="Longest tool result",
        help="Characters of a tool result before it may be shortened; 0 means 30 % of the window, "
        "at most 16,000.",
    ),
    Setting(
        key="pruning.order",
        kind="text",
        default="newest_first",
        choices=("newest_first", "oldest_first"),
        title="Shorten first",
        help="Which tool results are shortened first when all together are too long. The newest of "
        "the running turn always keeps its first 2,000 characters.",
    ),
    Setting(
        key="pruning.mode",
        kind="text",
        default="off",
        choices=("off", "cache-ttl"),
        title="Old tool results",
        help="cache-ttl trims old tool results, for one request at a time, when the conversation "
        "rested so long that the model has to read it again anyway.",
    ),
    Setting(
        key="pruning.ttl_seconds",
        kind="whole",
        default=300,
        minimum=0,
        maximum=_DAY_SECONDS,
        unit="seconds",
        title="Rested for",
        help="How long a conversation rests before its old tool results are trimmed.",
    ),
    Setting(
        key="memory.include",
        kind="switch",
        default=True,
        title="Send the notes",
        help="Every model gets the notes below, after the system prompt, in every conversation. "
        "Off: they are kept and not sent.",
    ),
    Setting(
        key="memory.notes",
        kind="text",
        default="",
        title="Notes",
        help="What should be remembered from one conversation to the next: who you are, how you "
        "like your answers, what you are working on.",
    ),
    Setting(
        key="memory.most_tokens",
        kind="whole",
        default=500,
        minimum=1,
        maximum=MOST_TOKENS,
        unit="tokens",
        title="Room for the notes",
        help="They are part of every prompt. Longer ones are left out whole, and that is said.",
    ),
    Setting(
        key="ollama.host",
        kind="text",
        default="",
        title="Ollama address",
        help="Such as http://127.0.0.1:11434. Empty means OLLAMA_HOST, or this machine.",
        needs_restart=True,
    ),
    Setting(
        key="ollama.token",
        kind="text",
        default="",
        pattern="[!-~]*",
        pattern_words="letters, digits and signs without spaces",
        title="Ollama token",
        help="What a server behind a gateway wants to see of whoever asks. It is sent over https, or "
        "on this computer, and never in plain text over a network.",
        secret=True,
    ),
    Setting(
        key="ollama.allow_cloud",
        kind="switch",
        default=False,
        title="Allow cloud models",
        help="Models that Ollama runs on ollama.com: your messages and files leave this computer. "
        "Off: they are listed, and nothing is sent to them.",
    ),
    Setting(
        key="ollama.silence_seconds",
        kind="whole",
        default=600,
        minimum=5,
        maximum=_DAY_SECONDS,
        unit="seconds",
        title="Silence allowed",
        help="A request is given up after this long without a word from a loaded model. "
        "Ollama is silent while it reads the prompt.",
        needs_restart=True,
    ),
    Setting(
        key="ollama.load_silence_seconds",
        kind="whole",
        default=900,
        minimum=5,
        maximum=_DAY_SECONDS,
        unit="seconds",
        title="Silence allowed while loading",
        help="The same while the model waits its turn or is loaded.",
        needs_restart=True,
    ),
    Setting(
        key="ollama.keep_alive",
        kind="text",
        default="30m",
        pattern=_DURATION,
        pattern_words='a duration such as "30m" or "1h30m", "-1m" for ever, '
        "or empty for the server's own",
        title="Keep loaded",
        help='How long Ollama keeps the model after a reply: "30m", "1h30m", "-1m" for ever. '
        "Empty leaves it to the server. Once it is unloaded, the next turn reads everything again.",
        needs_restart=True,
    ),
    Setting(
        key="llamacpp.threads",
        kind="whole",
        default=0,
        minimum=0,
        maximum=1024,
        title="Threads",
        help="Threads llama.cpp computes with; 0 chooses by the machine.",
        needs_restart=True,
    ),
    Setting(
        key="llamacpp.kv_type",
        kind="text",
        default="f16",
        choices=("f16", "q8_0"),
        title="Context memory",
        help="f16 is the faster one; q8_0 needs half the memory and reads about a third slower.",
    ),
    Setting(
        key="llamacpp.silence_seconds",
        kind="whole",
        default=120,
        minimum=5,
        maximum=_DAY_SECONDS,
        unit="seconds",
        title="Silence allowed",
        help="The llama.cpp process is ended when it reports nothing for this long.",
        needs_restart=True,
    ),
    Setting(
        key="appearance.scheme",
        kind="text",
        default="system",
        choices=("system", "light", "dark"),
        title="Colours",
        help="Paper or night; system follows what the computer is set to.",
    ),
    Setting(
        key="appearance.zoom",
        kind="whole",
        default=100,
        minimum=80,
        maximum=200,
        unit="%",
        title="Size",
        help="Everything in the window is drawn this large.",
    ),
    Setting(
        key="appearance.reading_face",
        kind="text",
        default="book",
        choices=("book", "plain", "system"),
        title="Face of the replies",
        help="A book face, the plain one of the window, or the system's own.",
    ),
    Setting(
        key="appearance.measure",
        kind="text",
        default="medium",
        choices=("narrow", "medium", "wide"),
        title="Width of the text",
        help="How long a line of a message may become.",
    ),
    Setting(
        key="appearance.contrast",
        kind="text",
        default="system",
        choices=("system", "usual", "high"),
        title="Contrast",
        help="High draws real borders and no faint text; system follows the computer.",
    ),
    Setting(
        key="appearance.motion",
        kind="switch",
        default=True,
        title="Motion",
        help="Off: nothing in the window moves by itself.",
    ),
)
"""All settings of the application, in the order the dialog and the documents show them."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A key that is gone: `replacement` is its new name, None when it was dropped.

    `note` is a sentence for the person who still has it in the file.
    """

    key: str
    replacement: str | None
    note: str


TOMBSTONES: tuple[Tombstone, ...] = ()
"""Keys of the application's settings that were renamed or dropped; none yet."""


def tombstones_by_key(tombstones: Iterable[Tombstone]) -> Mapping[str, Tombstone]:
    """The table by key. Raises Bug if a key was reused or a replacement does not exist."""
    table = {tombstone.key: tombstone for tombstone in tombstones}
    for key, tombstone in table.items():
        if key in SETTINGS:
            raise Bug(f"the setting {key} is both alive and a tombstone")
        if tombstone.replacement is not None and tombstone.replacement not in SETTINGS:
            raise Bug(f"the tombstone of {key} names an unknown replacement")
    return table


def settings_markdown_table() -> str:
    """The settings, then the per-model ones, as Markdown tables for the documents."""
    return "\n\n".join(
        (
            _markdown(SETTINGS.values()),
            f'Per model, under `[{MODEL_TABLE}."NAME"]`:',
            _markdown(MODEL_SETTINGS.values()),
        )
    )


def _markdown(settings: Iterable[Setting]) -> str:
    rows = ["| Setting | Default | May be | What it does |", "|---|---|---|---|"]
    for setting in settings:
        default = "" if setting.default is None else f"`{literal(setting.default)}`"
        cells = (f"`{setting.key}`", default, setting.allowed, setting.help)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)
