"""The engine's sentences in the window's language: every one has a template, and it is found."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import words
from app.client import Conversation, Failed, Fetching, ItemsChanged, ModelRow, Notice, WindowKnown
from app.client.localized import localized as localized_value
from app.client.models import WindowFacts
from app.client.preferences import SettingsState
from app.client.window_truth import ModelTruth
from app.items import Receipt, ReplyItem, UserItem
from app.sentences import find_template, localized
from app.sentences.table import FIGURES, TEMPLATES
from app.wiring import Workplace
from engine.backends import ollama_faults
from engine.backends.llamacpp_process import _death
from engine.backends.llamacpp_worker.protocol import not_installed
from engine.budget import plan_budget
from engine.errors import Bug, ContextOverflow, EnvironmentFault
from engine.events import CompactionEnded
from engine.folding import done, failure_words, overflow_fault, too_large
from engine.models import parse_model_name
from engine.settings import SETTINGS, load_settings
from engine.store.opening import _told_of_damage
from engine.transcript import Compaction, Entry
from engine.window import (
    ContextWindow,
    Endpoint,
    Source,
    guard_words,
    memory_short,
    plan_guard,
    plan_memory,
    plan_stretch,
    plan_window_request,
    settle_window,
    source_words,
)

ENGINE = Path(__file__).parents[2] / "engine"
SILENT = {
    "testing": "the doubles are no part of the application",
    "explain.py": "shown by `porthole explain`, in English",
    "compact/wording.py": "spoken to the model",
    "compact/facts.py": "patterns",
    "compact/fact_patterns.py": "patterns",
    "overflow.py": "patterns",
    "prompt.py": "spoken to the model",
    "repair.py": "spoken to the model",
    "prune/cache.py": "spoken to the model",
    "prune/single.py": "spoken to the model",
    "tokens/english.py": "data",
    "tokens/script.py": "data",
    "settings/table.py": "titles and helps, collected by packaging/translate.py",
    "settings/models.py": "the same",
    "backends/llamacpp_worker/templates_sandbox.py": "told to templates",
    "backends/llamacpp_worker/templates_attempts.py": "told by porthole models",
    "backends/llamacpp_worker/think.py": "patterns",
    "store/migrations.py": "SQL",
    "store/scrubbing.py": "SQL",
}
"""Modules of the engine that say nothing to people, and why."""
UNHEARD = {
    # spoken to the model's template, to see what it does
    "The time in a zone.", "Name of the zone.",
    # bugs of ours
    "The llama.cpp worker said nothing about the template.", "The llama.cpp worker loaded nothing.",
    "The llama.cpp worker has no fault.", "A worker does not send 7.",
    "A worker does not say 7 while it replies.", "A worker reported an unknown fault: 7.",
    "ChatML lost 7 of a conversation", "only marked texts can be cut",
    "max_tokens must be at least 1, not 7", "a statement without a key",
    "the store's SQL failed: 7: 7", "no entry 7 in conversation 7", "untranslated 7: 7",
    # patterns of other programs' words
    ": error loading model: ",
    "manifest: file does not exist|invalid model name", "dial tcp|lookup |no such host|network is unreachable|i/o timeout",
    "more system memory|out[ -]of[ -]memory|insufficient memory|not enough memory|(unable|failed) to allocate|cudaMalloc failed|signal: killed|ErrorOutOfDeviceMemory",
    "does not support (chat|generate)|(unknown|unsupported) model architecture|invalid file magic|unable to load model|error loading model",
    "process has terminated|runner has unexpectedly stopped|error was encountered while running|error parsing tool call|CUDA error|no longer running",
    "no space left", "does not support thinking", "invalid think value", "no module named pip", "could not find a version",
    "ollama cloud is disabled", "no matching distribution", "failed to establish a new connection", "network is unreachable",
    "certificate verify failed", "timed out waiting for (llama|runner)",
    "7 = 7", "stretch = 7",
}  # fmt: skip
"""Texts of other modules that no one is told."""
PARTS = {
    # joined to others before anybody hears them; the whole is a template
    "in the middle of its answer", "while loading or reading",
    "choose a model with a larger window (porthole models)", 'under [model."7"] in the settings',
    ' and stretch = "auto"', "7: this one was trained on 7 tokens.",
    "was killed, perhaps because the machine ran out of memory", "ended by itself (code 7)",
    "what could be read of it is here (conversations: 7, entries: 7)",
    "nothing of it could be read, and a new one was begun", "is a folder, not a file",
    "may not be read by you", "cannot be opened", " (HTTP status 7)", " of 7 tokens",
    ": it needs 7, 7 are free", " (7 shared by 7 conversations)", " from 7 to 7",
    ' (did you mean "7"?)', "; did you mean 7?", "7 must be 7, not 77", "7; it has no effect.",
    "7; the default 7 applies.", "above the first table", "Settings, line 7: ",
    "It is a folder", "It is not a regular file", "It is larger than 7 bytes",
    "capped at 7 so that 7 7 for the prompt",
    "7 is not a setting and has no effect7", "7 is not a setting of a model and has no effect7",
    '7 is not a setting and has no effect; a model\'s name with a dot in it goes in quotes: [7."7.7"].',
    '7 names a model and cannot be 7: settings of a model are written under [7."NAME"]; it has no effect.',
    "the file is not valid TOML (7), so none of it applies until it is mended.7",
    "Write 7 = 7 7 there yourself.", "The conversation file 7 7.", "The llama.cpp worker 77.",
    "The prompt7 does not fit the context window7: nothing was cut or answered.",
    "Ollama said nothing for 7 seconds 7.", "Fetch it with `ollama pull 7`, or choose another.7",
    "The address 7 answers7, but it is not an Ollama server.", "it claims to have 7 7",
    "llama.cpp is not installed here, so this application cannot run GGUF files7.",
    "Ollama could not fetch 7: 7", "The server has too little memory for 7 with this window7.",
    "Ollama gave up loading 7: it made no progress for too long.",
    "Ollama cannot chat with 7: 7", "Send a shorter part of it. Or: 77",
    "7Name a model as starter, llama.cpp:PATH or ollama:NAME; porthole models lists them.",
    "The conversation file was damaged and is kept as 7; 7.",
    ' A model\'s name goes in quotes: [7."ollama:qwen3:8b"].',
    "Set context_window = 77 7, or 7. Conversations go best with 7 tokens and more.",
    "Raise context_window to 77 7, or 7.",
    'Close other programs, choose a smaller model (porthole models), or set kv_type = "q8_0" 7: it halves the memory of the context.',
    "Raise the limit of the server that loaded it (its memory, its number of parallel requests, its context length), or 7.",
    "7 tokens were asked for and 7 were loaded7: 7 is the window that counts.",
    "The window is 7: up to 7 the model runs as it was trained; past 7 the conversation is read once more in a window stretched with YaRN, and answers get less reliable.",
    "The window is 7: it is stretched with YaRN from the start, which reaches past 7 and makes answers less reliable at any length.",
}  # fmt: skip
"""Texts that are only ever heard as a part; the wholes are tried below."""


def _sentences() -> Iterator[tuple[str, str]]:
    """Every text of three words or more in the engine, as it could be said: places hold a 7."""
    for path in sorted(ENGINE.rglob("*.py")):
        name = path.relative_to(ENGINE).as_posix()
        if any(name == silent or name.startswith(f"{silent}/") for silent in SILENT):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = _constants(tree)
        inner = _documents(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                inner |= {id(value) for value in node.values}
        for node in ast.walk(tree):
            if id(node) not in inner and (text := _text(node, constants)) and _is_words(text):
                yield f"{name}:{node.lineno}", text


def _documents(tree: ast.Module) -> set[int]:
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _constants(tree: ast.Module) -> dict[str, str]:
    """The module's own texts by name: they stand in other texts."""
    found = {}
    for node in tree.body:
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Name) and isinstance(value.value, str):
                    found[target.id] = value.value
    return found


def _text(node: ast.AST, constants: dict[str, str]) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                part.value if isinstance(part, ast.Constant) else _place(part, constants)
                for part in values
            )
    return ""


def _place(part: ast.expr, constants: dict[str, str]) -> str:
    value = getattr(part, "value", None)
    return constants.get(value.id, "7") if isinstance(value, ast.Name) else "7"


def _is_words(text: str) -> bool:
    """Whether people could be meant: no SQL, no pattern, no mark-up."""
    if len(text.split()) < 3 or re.search(r"[\\\n<>^]|\(\?|\]\{|%[a-zA-Z]\b", text):
        return False
    return not re.match(
        r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|entry_index|id,|seq)", text
    )


@pytest.fixture
def speaking():
    """A language in which every template's words are in upper case."""

    def shout(_context: str, text: str, _disambiguation: str = "", n: int = -1) -> str:
        parts = re.split(r"(\{\w+\})", text)
        return "".join(part if part.startswith("{") else part.upper() for part in parts)

    words.install(shout)
    yield
    words.install(words.plain)


def test_window_names_no_commands_of_the_terminal():
    """English is shown as the engine says it, but for asides that are typed elsewhere."""
    said = "Choose a model with a larger window (porthole models): this one was trained on 8,192."
    assert localized(said) == "Choose a model with a larger window: this one was trained on 8,192."
    fetched = "Instead you can open a GGUF file you have (porthole models add PATH) or use Ollama."
    assert localized(fetched) == "Instead you can open a GGUF file you have or use Ollama."


def test_every_sentence_of_the_engine_has_a_template():
    """A new sentence without one fails here: write a template, and translate it."""
    texts = {text: place for place, text in _sentences()}
    exempt = {part.strip() for part in PARTS | UNHEARD}
    unknown = {
        f"{place} {text!r}"
        for text, place in texts.items()
        if text.strip() not in exempt and not _is_known(text)
    }
    assert not unknown


def _is_known(text: str) -> bool:
    """Whether it is said in templates alone, as one or as several sentences."""
    text = text.strip()
    if find_template(text):
        return True
    pieces = re.split(r"(?<=[.?!:]) ", text)
    return len(pieces) > 1 and all(find_template(piece) for piece in pieces)


def test_no_exemption_is_left_over():
    """What is exempted is still said somewhere, and nothing exempted has a template by now."""
    texts = {text.strip() for _, text in _sentences()}
    modules = {path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py")}
    assert {part for part in PARTS | UNHEARD if part.strip() not in texts} == set()
    assert all((ENGINE / silent).exists() for silent in SILENT), modules


def test_templates_are_unique_and_figures_are_figures():
    """One text, one entry of the catalogue; every name of a figure is used."""
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    used = {name for text in TEMPLATES for name in re.findall(r"\{(\w+)\}", text)}
    assert used >= FIGURES


def test_places_are_carried_over(speaking):
    """The words are another language's, what they are about is the same."""
    fault = overflow_fault(12_345, 8_000)
    assert localized(fault.sentence) == (
        "THIS CONVERSATION IS 12,345 TOKENS LONG AND THE CONTEXT WINDOW IS 8,000: IT WAS NOT SENT, "
        "AND NOTHING WAS CUT."
    )


def test_words_within_words_are_translated(speaking):
    """A reason that is the engine's own is put into the language too; a name is not."""
    said = localized("model.gguf cannot be used: it is not a GGUF file.")
    assert said == "model.gguf CANNOT BE USED: IT IS NOT A GGUF FILE."


def test_sentence_and_remedy_in_one_text(speaking):
    """Stored failures are one text; each part has its own template."""
    said = localized(str(too_large(9_870, 5_086, 8_000)))
    assert said.startswith("THIS MESSAGE IS 9,870 TOKENS LONG")
    assert said == said.upper()


def test_unknown_words_stay_as_they_are(speaking):
    """A server's own words, or a sentence of which a part is unknown."""
    assert localized("") == ""
    assert localized("Something nobody wrote.") == "Something nobody wrote."
    assert (
        localized("Choose another model. Or something.") == "Choose another model. Or something."
    )


def test_english_is_not_looked_up():
    """Without another language nothing is parsed."""
    assert localized("Choose another model.") == "Choose another model."


@pytest.mark.parametrize("key", sorted(SETTINGS))
def test_what_a_setting_may_be_has_words(key):
    """Every form of "must be …" is known, as a wrong value in the file would show it."""
    assert find_template(SETTINGS[key].allowed), SETTINGS[key].allowed


def test_what_comes_with_the_starter_is_said_in_the_language():
    """Its note stands in the list of models while nothing else is known of it."""
    assert find_template(Workplace(None, {}).starter.note)


def _wholes(tmp_path: Path) -> Iterator[str]:
    """Sentences that are put together from parts, as the engine says them."""
    for server in (ollama_faults.not_ollama("x:1", 502), ollama_faults.not_ollama("x:1")):
        yield str(server)
    yield str(ollama_faults.missing("m", ("a", "b")))
    yield str(ollama_faults.missing("m"))
    yield str(ollama_faults.silent(30.0, answered=True))
    yield str(ollama_faults.silent(2.5, answered=False))
    yield str(ollama_faults.unreachable("x:1", "no such host name", local=False))
    yield str(ollama_faults.chat_refusal("prompt is too long: 9000 tokens > 4096 maximum", 400))
    memory = "model requires more system memory (5.6 GiB) than is available (2.1 GiB)"
    yield str(ollama_faults.chat_refusal(memory, 500, model="m"))
    yield str(ollama_faults.chat_refusal(memory, 500))
    yield str(ollama_faults.chat_refusal("strange things", 500))
    yield from _of_the_window()
    yield from _of_the_settings(tmp_path)
    yield from _of_the_engine()


def _of_the_window() -> Iterator[str]:
    sources: tuple[Source, ...] = (
        "option", "modelsConfig", "manifest", "model", "default", "agentContextTokens", "trained",
        "memory", "loaded",
    )  # fmt: skip
    for source in sources:
        for tokens in (4_096, 20_000):
            for trained, stretches in ((0, False), (8_192, True), (2_048, False)):
                window = ContextWindow(tokens, source, trained=trained)
                for endpoint in (Endpoint(can_stretch=stretches), Endpoint(self_hosted=False)):
                    told = guard_words("ollama:m", window, plan_guard(tokens), endpoint)
                    if told is not None:
                        yield str(told)
                yield str(window)
        yield source_words(source, "m")
    long = ContextWindow(16_384, "manifest", trained=8_192)
    for mode in ("off", "auto", "yarn"):
        yield plan_stretch(long, mode).sentence
        yield from plan_window_request(
            long, stretch=mode, cap_tokens=9_000, memory_tokens=4_096
        ).notes
    yield from settle_window(long, 16_384, 4).notes
    yield from settle_window(long, 8_192).notes
    yield str(memory_short("m", plan_memory(10**10, 1, 8_192, 10**9), 10**9))


def _of_the_engine() -> Iterator[str]:
    for words_ in (
        "manifest: file does not exist",
        "no space left",
        "digest mismatch",
        "i/o timeout",
        "?",
    ):
        yield str(ollama_faults.pull_refusal(words_, model="m"))
    yield str(ollama_faults.pull_refusal("odd"))
    for words_ in ("timed out waiting for runner", "unknown model architecture", "CUDA error"):
        for model in ("m", ""):
            yield str(ollama_faults.chat_refusal(words_, 500, model=model))
    yield str(ollama_faults.cut("the server closed the connection"))
    yield str(not_installed("libgomp.so.1: cannot open"))
    yield str(not_installed())
    for code in (-9, -4, 3):
        yield str(_death(code, ""))
        yield str(_death(code, "ggml: out of luck"))
    for name in ("a/b", "qwen", ""):
        with pytest.raises(EnvironmentFault) as caught:
            parse_model_name(name, Path("starter.gguf"))
        yield str(caught.value)
    yield _told_of_damage(Path("x.db"), 2, 5)
    yield _told_of_damage(Path("x.db"), 0, 0)
    for reserve, floor in ((1_000, 20_000), (30_000, 0), (20_000, 25_000)):
        yield plan_budget(16_384, reserve, floor).explanation
    for reason in ("it claims to have 1,000,000 settings", "it claims to have 1,000,000 tensors"):
        yield f"x.gguf cannot be used: {reason}."
    yield from _of_compactions()


def _of_compactions() -> Iterator[str]:
    ended = CompactionEnded(1, "manual", "done", "", before_tokens=7_610, folded=24)
    for facts in ({}, {"degraded": True}):
        body = Compaction(
            "s", "", tokens_before=7_610, tokens_after=2_914, reason="manual", facts=facts
        )
        yield done(ended, Entry("e", "s", None, 0, body), 6.2).text
    yield failure_words(overflow_fault(9_000, 8_000))


def _of_the_settings(folder: Path) -> Iterator[str]:
    broken = folder / "broken.toml"
    for number, text in enumerate(
        (
            'languag = "en"', 'language = "fr"', "language = 5", "context = 5", "model = 3",
            '[model]\nx = 3', '[model."ollama:m"]\nseed = "x"', '[model."ollama:m"]\nsede = 1',
            "[model.qwen2.5]\nseed = 3", "[model.a:b]\n", "a = C:\\x", "nonsense_xyz_q = 1",
            '[model."ollama:m"]\nnonsense_xyz_q = 1', "a = " + "[" * 2_000,
        )
    ):  # fmt: skip
        file = broken.with_name(f"{number}.toml")
        file.write_text(text, encoding="utf-8")
        yield from map(str, load_settings(file, {}).problems)
    yield from map(str, load_settings(broken, {"PORTHOLE_LANGUAGE": "fr"}).problems)


def test_sentences_made_of_parts_are_known(tmp_path, speaking):
    """The parts alone say nothing; put together each is found, to its last sentence."""
    lost = [text for text in _wholes(tmp_path) if localized(text) == text]
    assert not lost


# ---- what the client tells ----------------------------------------------------------------------

KNOWN, SAID = "Choose another model.", "CHOOSE ANOTHER MODEL."


def test_every_value_with_a_sentence_is_put_into_words(speaking):
    """All that is told and answered, each in its own field."""
    failed = ReplyItem("r", "", state="failed", error=KNOWN, remedy=KNOWN)
    row = ModelRow("m", "m", 0, "", 0, "block", KNOWN, "gguf", loaded=False, fetched=True)
    told = localized_value(ItemsChanged("c", (UserItem("u", KNOWN, 0), failed)))
    assert told.items[0].text == KNOWN
    assert (told.items[1].error, told.items[1].remedy) == (SAID, SAID)
    paid = ReplyItem("r", "", receipt=Receipt(9, mismatch=KNOWN, cure=KNOWN))
    (shown,) = localized_value(ItemsChanged("c", (paid,))).items
    assert (shown.receipt.mismatch, shown.receipt.cure) == (SAID, SAID)
    truth = localized_value(ModelTruth("m", "m", remedy=KNOWN, problem=KNOWN))
    assert (truth.remedy, truth.problem) == (SAID, SAID)
    assert localized_value(Notice("", "info", KNOWN)).text == SAID
    assert localized_value(Failed("", KNOWN, KNOWN)) == Failed("", SAID, SAID)
    window = WindowKnown("", "m", "16,384 tokens", 1, 1, "warn", KNOWN)
    assert localized_value(window).window == "16,384 TOKENS"
    assert localized_value(window).guard_text == SAID
    conversation = Conversation("c", "t", "m", (failed,), guard_text=KNOWN)
    assert localized_value(conversation).guard_text == SAID
    assert localized_value(conversation).items[0].error == SAID
    assert localized_value((row,))[0].reason == SAID
    assert localized_value({"ollama": KNOWN}) == {"ollama": SAID}
    assert localized_value(Fetching(0, 0, error=KNOWN)).error == SAID


def test_settings_say_what_is_wrong_in_the_language(speaking):
    """Problems, the window of the model they are shown for, and who decides it."""
    facts = WindowFacts("m", "16,384 tokens", guard="block", guard_text=KNOWN)
    state = localized_value(SettingsState({}, window=facts, window_why=KNOWN, problems=(KNOWN,)))
    assert (state.window_why, state.problems) == (SAID, (SAID,))
    assert (state.window.words, state.window.guard_text) == ("16,384 TOKENS", SAID)


def test_a_fault_keeps_its_kind_and_figures(speaking):
    """Only its words change; the one that was raised stays as it is."""
    fault = overflow_fault(9_000, 8_000)
    fault.__cause__ = ValueError("why")
    spoken = localized_value(fault)
    assert isinstance(spoken, ContextOverflow)
    assert (spoken.prompt_tokens, spoken.window_tokens) == (9_000, 8_000)
    assert spoken.sentence.isupper()
    assert spoken.__cause__ is fault.__cause__
    assert not fault.sentence.isupper()


def test_what_has_no_sentence_is_the_same_object(speaking):
    """Streams of items are not copied."""
    changed = ItemsChanged("c", (ReplyItem("r", KNOWN),))
    assert localized_value(changed).items is changed.items
    assert localized_value(3) == 3
    bug = Bug("x")
    assert localized_value(bug) is bug


def test_english_values_say_what_the_engine_says():
    """A fault is the same but for its asides; what has no sentence of the engine is not touched."""
    fault = EnvironmentFault(KNOWN, "Choose a smaller one (porthole models).")
    told = localized_value(fault)
    assert (told.sentence, told.remedy) == (KNOWN, "Choose a smaller one.")
    rows = ("a (porthole b)",)
    assert localized_value(rows) == rows
