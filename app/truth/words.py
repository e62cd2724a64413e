"""The words of the models window: figures and their sources, verdicts, cures."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.client.window_truth import Cure, FigureKind, ModelTruth, WindowFigure
from app.meter import figure
from app.words import joined
from engine.window import MemoryVerdict

_GIGABYTE = 1e9

VERDICTS: dict[MemoryVerdict, tuple[str, str]] = {  # icon, colour
    "fits": ("check", "green"),
    "tight": ("warning", "amber"),
    "too_large": ("blocked", "red"),
    "unknown": ("info", "ink3"),
}


def gigabytes(size: int) -> str:
    """A size in the memory: "2.8 GB"."""
    shown = QLocale().toString(size / _GIGABYTE, "f", 1)
    return QCoreApplication.translate("ModelsWindow", "{0} GB").format(shown)


def subtitle(truth: ModelTruth) -> str:
    """Where it runs, what it is: "Ollama · qwen2.5:3b-instruct · Q4_K_M"."""
    own = QCoreApplication.translate("ModelsWindow", "In Porthole")
    where = {"ollama": "Ollama", "llama.cpp": own}.get(truth.backend, truth.backend)
    name = truth.model.partition(":")[2] if truth.backend == "ollama" else ""
    return " · ".join(part for part in (where, name, truth.details) if part)


def place_words(truth: ModelTruth) -> str:
    """What is to be known of where it runs, as long as that is so; "" for nothing."""
    if truth.cloud and not truth.problem:
        return QCoreApplication.translate(
            "ModelsWindow",
            "It runs on ollama.com: your messages and files leave this computer. Preferences, "
            "Models, “Allow cloud models” takes that back.",
        )
    return truth.server


def figure_name(kind: FigureKind) -> str:
    """The name of a row."""
    match kind:
        case "requested":
            return QCoreApplication.translate("ModelsWindow", "Requested")
        case "trained":
            return QCoreApplication.translate("ModelsWindow", "Trained on")
        case "loaded":
            return QCoreApplication.translate("ModelsWindow", "Loaded")
        case "per_chat":
            return QCoreApplication.translate("ModelsWindow", "Per chat")


def figure_value(row: WindowFigure) -> str:
    """The figure, a dash when it is not known."""
    return figure(row.tokens) if row.tokens else "–"


def origin_words(row: WindowFigure) -> str:
    """Who says a figure."""
    words = {
        "option": QCoreApplication.translate("ModelsWindow", "asked for in this conversation"),
        "modelsConfig": QCoreApplication.translate("ModelsWindow", "set for this model"),
        "manifest": QCoreApplication.translate("ModelsWindow", "comes with the model"),
        "model": QCoreApplication.translate("ModelsWindow", "what the model itself says"),
        "default": QCoreApplication.translate("ModelsWindow", "assumed: the model says nothing"),
        "agentContextTokens": QCoreApplication.translate(
            "ModelsWindow", "the largest window the settings allow"
        ),
        "trained": QCoreApplication.translate("ModelsWindow", "no more than it was trained on"),
        "memory": QCoreApplication.translate("ModelsWindow", "no more fits into the memory"),
        "metadata": QCoreApplication.translate("ModelsWindow", "from the model's metadata"),
        "process": QCoreApplication.translate("ModelsWindow", "reported by llama.cpp"),
        "server": QCoreApplication.translate("ModelsWindow", "reported by the server"),
        "not_loaded": QCoreApplication.translate("ModelsWindow", "not loaded now"),
        "alone": QCoreApplication.translate("ModelsWindow", "one chat, not shared"),
    }
    if row.origin == "shared":
        said = QCoreApplication.translate(
            "ModelsWindow", "seems to be shared by {0} chats (OLLAMA_NUM_PARALLEL)"
        )
        return said.format(row.sharing)
    if row.stretched:
        said = QCoreApplication.translate(
            "ModelsWindow", "from the model's metadata, stretched × {0}"
        )
        return said.format(f"{row.stretched:g}")
    return words.get(row.origin, "")


def spoken_figure(row: WindowFigure) -> str:
    """A row for a screen reader."""
    said = f"{figure_name(row.kind)}: {figure_value(row)}"
    return ", ".join(part for part in (said, origin_words(row)) if part)


def verdict_words(verdict: MemoryVerdict) -> str:
    """Whether a window fits into the memory."""
    match verdict:
        case "fits":
            return QCoreApplication.translate("ModelsWindow", "fits")
        case "tight":
            return QCoreApplication.translate("ModelsWindow", "just fits")
        case "too_large":
            return QCoreApplication.translate("ModelsWindow", "too large")
        case "unknown":
            return QCoreApplication.translate("ModelsWindow", "not known")


def cure_words(cure: Cure) -> str:
    """What a button says that fixes a window."""
    size = figure(cure.tokens)
    match cure.kind:
        case "window":
            return QCoreApplication.translate("ModelsWindow", "Use {0} for this model").format(
                size
            )
        case "ask":
            return QCoreApplication.translate("ModelsWindow", "Ask Ollama for {0}").format(size)
        case "cap":
            return QCoreApplication.translate("ModelsWindow", "Allow windows up to {0}").format(
                size
            )
        case "half_context":
            return QCoreApplication.translate(
                "ModelsWindow", "Fit {0}: half the memory for the context"
            ).format(size)
        case "stretch" if cure.tokens % cure.trained == 0:
            times = cure.tokens // cure.trained
            words = QCoreApplication.translate("ModelsWindow", "Stretch {0} × {1}")
            return words.format(figure(cure.trained), times)
        case "stretch":
            words = QCoreApplication.translate("ModelsWindow", "Stretch {0} to {1}")
            return words.format(figure(cure.trained), size)


def guard_title(truth: ModelTruth) -> str:
    """The verdict in a line; "" when there is nothing to say."""
    if truth.problem:
        return QCoreApplication.translate("ModelsWindow", "This model cannot be used")
    if truth.guard == "block":
        return QCoreApplication.translate(
            "ModelsWindow", "Not used: the window is below the limit"
        )
    if truth.guard == "warn":
        return QCoreApplication.translate("ModelsWindow", "A small window: used, with a warning")
    return ""


def guard_text(truth: ModelTruth) -> str:
    """The verdict's reason in a sentence or two, and what to do where no button helps."""
    if truth.problem or not truth.figures:
        return truth.problem
    decides = next((row for row in truth.figures if row.decides), truth.figures[0])
    what = QCoreApplication.translate(
        "ModelsWindow", "This model's window is {0} tokens: {1}."
    ).format(figure(truth.window), origin_words(decides))
    if truth.guard == "block":
        need = QCoreApplication.translate(
            "ModelsWindow",
            "Porthole needs at least {0} to hold a conversation without cutting it. Nothing is "
            "sent to it.",
        ).format(figure(truth.hard_min))
    else:
        need = QCoreApplication.translate(
            "ModelsWindow", "Long conversations go best with {0} and more."
        ).format(figure(truth.warn_below))
    return joined(what, need, truth.remedy)


def why_words(truth: ModelTruth) -> str:
    """Why there is a limit."""
    if truth.guard == "block":
        text = QCoreApplication.translate(
            "ModelsWindow",
            "A prompt needs the system prompt, a summary, the last messages and room for the "
            "reply. Under {0} tokens too little of a conversation is left for the model to go on "
            "from. The limit can be changed in Preferences, Context.",
        )
        return text.format(figure(truth.hard_min))
    text = QCoreApplication.translate(
        "ModelsWindow",
        "Under {0} tokens, long conversations are compacted often and long files do not fit. "
        "The line can be changed in Preferences, Context.",
    )
    return text.format(figure(truth.warn_below))


def free_words(truth: ModelTruth) -> str:
    """The line below the bars."""
    if truth.elsewhere:
        return QCoreApplication.translate(
            "ModelsWindow", "It runs on another computer, whose memory is not known here."
        )
    said = QCoreApplication.translate(
        "ModelsWindow",
        "The upright line is what is free now: {0} of {1}. Closing other programs moves it to "
        "the right.",
    )
    return said.format(gigabytes(truth.free_bytes), gigabytes(truth.total_bytes))
