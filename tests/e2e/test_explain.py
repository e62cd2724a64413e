"""`porthole explain`: the specification's vectors from outside, what people read, bad input.

In the test's own process, through the program's entry point, unless a test says otherwise.
"""

import json
import os
import re
import threading

import pytest

from app.__main__ import main
from app.wiring import OPTIONS_ENTRY, Workplace
from engine.store import Store
from engine.testing.ollama import OllamaDouble
from engine.transcript import Custom, Message, Text, Usage, user
from tests.e2e.conftest import STARTER_FILE
from tests.engine.test_routes import VECTORS

HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-02T03:04:05Z"}


def record(number, message, parent=None, **more):
    """A message line; ids are e0, e1, …"""
    parent = (f"e{number - 1}" if number else None) if parent is None else parent
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": parent,
        "timestamp": "2026-01-02T03:04:05Z",
        "message": message,
        **more,
    }


def said(role, content):
    return {"role": role, "content": content}


def result(text, call="c"):
    block = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call, "toolName": "read", "content": block}


def calling(*ids, text=""):
    blocks = [{"type": "toolCall", "id": id_, "name": "read", "arguments": {}} for id_ in ids]
    return said("assistant", [{"type": "text", "text": text}, *blocks] if text else blocks)


class Explain:
    """Runs `porthole explain` on files it writes."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self.profile = folder / "profile"
        self._capsys = capsys

    def file(self, *messages, name="talk.jsonl"):
        path = self.folder / name
        records = [m if "type" in m else record(n, m) for n, m in enumerate(messages)]
        lines = [json.dumps(line) for line in (HEADER, *records)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def run(self, *arguments):
        code = main(["--profile", str(self.profile), "explain", *map(str, arguments)])
        out, err = self._capsys.readouterr()
        return code, out, err

    def json(self, file, *arguments):
        code, out, err = self.run("--file", file, "--json", *arguments)
        assert code == 0, err
        return json.loads(out)

    def refused(self, *arguments):
        code, out, err = self.run(*arguments)
        assert (code, out) == (3, ""), err
        assert len(err.strip().splitlines()) == 1
        return err

    def settings(self, text):
        file = self.profile / "config" / "settings.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture
def explain(tmp_path, capsys, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PORTHOLE_CONTEXT")]:
        monkeypatch.delenv(name)
    return Explain(tmp_path, capsys)


# ---- vectors of context-engine.md ---------------------------------------------------------------


def routed(facts):
    """The columns of section 4's table."""
    return (
        facts["route"],
        facts["count"]["spec_estimate"],
        facts["budget"]["prompt"],
        facts["overflow"],
        facts["reducible_chars"],
        facts["budget"]["reserve"],
    )


@pytest.mark.parametrize(
    ("words", "results", "window", "reserve", "prompt", "expected"),
    [pytest.param(*row[1:], id=row[0]) for row in VECTORS],
)
def test_route_vectors(explain, words, results, window, reserve, prompt, expected):
    """P1 to P22 out of a file: a user's words, tool results nobody called, a prompt."""
    messages = [said("user", "u" * words)] if words else []
    messages += [result("t" * chars) for chars in results if chars]
    messages += [said("user", prompt)] if prompt else []
    facts = explain.json(
        explain.file(*messages), "--spec", "--window", window, "--reserve", reserve
    )
    assert routed(facts) == expected
    assert facts["count"]["tokens"] == facts["count"]["spec_estimate"]
    assert facts["count"]["kind"] == "estimated"
    assert facts["window"] == {"tokens": window, "source": "option"}


@pytest.mark.parametrize(
    ("window", "tokens", "warn", "block"),
    [
        pytest.param("0", 0, False, False, id="W1"),
        pytest.param("1", 1, True, True, id="W2"),
        pytest.param("15999", 15_999, True, True, id="W3"),
        pytest.param("16000", 16_000, True, False, id="W4"),
        pytest.param("16001", 16_001, True, False, id="W5"),
        pytest.param("31999", 31_999, True, False, id="W6"),
        pytest.param("32000", 32_000, False, False, id="W7"),
        pytest.param("32001", 32_001, False, False, id="W8"),
        pytest.param("200000", 200_000, False, False, id="W8-200000"),
        pytest.param("-5", 0, False, False, id="W9"),
        pytest.param("15999.9", 15_999, True, True, id="W10"),
        pytest.param("16000.9", 16_000, True, False, id="W11"),
    ],
)
def test_guard_vectors(explain, window, tokens, warn, block):
    """Warned under 32,000, blocked under 16,000; words where there is something to say."""
    facts = explain.json(explain.file(said("user", "Hello")), "--window", window)
    assert facts["window"]["tokens"] == tokens
    assert (facts["guard"]["warn"], facts["guard"]["block"]) == (warn, block)
    assert len(facts["guard"]["messages"]) == (1 if warn or block else 0)


def test_guard_w14(explain):
    """W14: limits of the user's own, 12,000 and 9,000, at 10,000 tokens."""
    explain.settings("[context]\nwarn_below_tokens = 12000\nhard_min_tokens = 9000\n")
    guard = explain.json(explain.file(said("user", "Hello")), "--window", 10_000)["guard"]
    assert (guard["warn"], guard["block"]) == (True, False)


def test_guard_h3(explain):
    """H3: the message for 8,000 tokens has the figure, its source and the minimum."""
    facts = explain.json(explain.file(said("user", "Hello")), "--window", 8_000)
    [message] = facts["guard"]["messages"]
    for words in ("8,000", "--window", "16,000"):
        assert words in message


@pytest.mark.parametrize(
    ("options", "reserve", "prompt"),
    [
        pytest.param("--window 16000 --reserve 20000", 8_000, 8_000, id="B1"),
        pytest.param("--window 32000 --reserve 20000", 20_000, 12_000, id="B2"),
        pytest.param("--window 28000", 20_000, 8_000, id="B3"),
        pytest.param("--window 24000", 16_000, 8_000, id="B4"),
        pytest.param("--window 200000 --reserve 12000 --floor 20000", 20_000, 180_000, id="B5"),
        pytest.param("--window 200000 --reserve 32000 --floor 20000", 32_000, 168_000, id="B6"),
        pytest.param("--window 8192 --reserve 2048 --floor 0", 2_048, 6_144, id="B7"),
        pytest.param("--window 1", 0, 1, id="B8-1"),
        pytest.param("--window 0", 0, 1, id="B8-0"),
        pytest.param("--window 1000.9 --reserve 100.9 --spec", 100, 900, id="B9"),
        pytest.param("--window 1000 --reserve -5 --spec", 0, 1_000, id="B10"),
        pytest.param("--window 16384", 8_384, 8_000, id="16384"),
        pytest.param("--window 16384 --reserve 2048", 8_384, 8_000, id="16384 floor"),
    ],
)
def test_budget_vectors(explain, options, reserve, prompt):
    """Reserve and prompt budget; without --floor the settings' own, 20,000."""
    facts = explain.json(explain.file(said("user", "Hello")), *options.split())
    assert (facts["budget"]["reserve"], facts["budget"]["prompt"]) == (reserve, prompt)


@pytest.mark.parametrize(
    ("content", "estimate"),
    [
        pytest.param([said("user", "a" * 400)], 120, id="E2"),
        pytest.param(
            [said("user", [{"type": "text", "text": "a" * 400}])], 120, id="E2 as a block"
        ),
        pytest.param(
            [
                said(
                    "assistant",
                    [
                        {"type": "text", "text": "abcd"},
                        {"type": "thinking", "thinking": "abcd"},
                        {
                            "type": "toolCall",
                            "id": "c",
                            "name": "read",
                            "arguments": {"path": "a.txt"},
                        },
                    ],
                )
            ],
            9,  # 7 tokens, and the margin
            id="E6",
        ),
        pytest.param([said("user", "漢字漢字")], 2, id="E10"),
        pytest.param([said("user", "a" * 4_000), said("user", "hello")], 1_203, id="E17"),
        pytest.param([{**result("abcd"), "details": {"raw": "x" * 1_000_000}}], 2, id="E20"),
    ],
)
def test_estimate_vectors(explain, content, estimate):
    """The specification's estimate is told with and without --spec, margin included."""
    file = explain.file(*content)
    assert explain.json(file)["count"]["spec_estimate"] == estimate
    assert explain.json(file, "--spec")["count"]["tokens"] == estimate


def test_runtime_context_is_never_counted(explain):
    """What a program tells itself has no tokens (SPEC1 12.3.1)."""
    hidden = {
        "type": "custom_message",
        "id": "e1",
        "parentId": "e0",
        "customType": "openclaw.runtime-context",
        "content": "x" * 4_000,
        "display": False,
    }
    seen = explain.json(explain.file(said("user", "a" * 400), hidden))
    assert seen["count"]["spec_estimate"] == 120
    assert seen["count"] == explain.json(explain.file(said("user", "a" * 400)))["count"]


TEN_TURNS = [said("user" if i % 2 == 0 else "assistant", "x" * 1_600) for i in range(20)]


@pytest.mark.parametrize(
    ("keep", "first", "split"),
    [
        pytest.param(2_400, 14, False, id="X1"),
        pytest.param(2_500, 13, True, id="X2"),
        pytest.param(400, 19, True, id="X3-400"),
        pytest.param(1, 19, True, id="X3-1"),
        pytest.param(8_000, 0, False, id="X4-8000"),
        pytest.param(8_001, 0, False, id="X4-8001"),
        pytest.param(20_000, 0, False, id="X4-20000"),
    ],
)
def test_cut_vectors(explain, keep, first, split):
    """Ten turns of 400-token messages: id of the first kept message, folded, kept, split."""
    facts = explain.json(explain.file(*TEN_TURNS), "--spec", "--keep-recent", keep)
    assert facts["cut"] == {
        "first_kept": f"e{first}",
        "folded": first,
        "kept": 20 - first,
        "split_turn": split,
    }


SEQUENCE = [
    said("user", "a" * 20),
    said("assistant", "b" * 20),
    said("user", "c" * 20),
    calling("c"),
    result("r" * 8_000),
    said("assistant", "d" * 4_000),
]


@pytest.mark.parametrize(
    ("keep", "first", "split"),
    [(900, 5, True), (1_000, 5, True), (1_001, 5, True), (3_001, 3, True), (3_020, 0, False)],
)
def test_cut_never_parts_a_call_from_its_result(explain, keep, first, split):
    """Section 6's sequence with a tool result of 2,000 tokens and a reply of 1,000."""
    facts = explain.json(explain.file(*SEQUENCE), "--spec", "--keep-recent", keep)
    assert facts["cut"]["first_kept"] == f"e{first}"
    assert facts["cut"]["split_turn"] is split


def test_chunks_are_token_sums_of_what_is_folded(explain):
    """18 messages of 400 tokens at 16,000: the chunk budget is 2,304, with its margin 1,920."""
    facts = explain.json(
        explain.file(*TEN_TURNS), "--spec", "--keep-recent", 800, "--window", 16_000
    )
    assert facts["chunks"] == [1_600] * 4 + [800]


# ---- files --------------------------------------------------------------------------------------


def test_window_without_an_option_is_the_default_under_the_cap(explain):
    """A file says nothing of a model: 200,000, and context.cap_tokens makes it smaller."""
    file = explain.file(said("user", "Hello"))
    assert explain.json(file)["window"] == {"tokens": 32_768, "source": "agentContextTokens"}
    explain.settings("[context]\ncap_tokens = 1000000\n")
    assert explain.json(file)["window"] == {"tokens": 200_000, "source": "default"}


def test_settings_hold_unless_an_option_says_otherwise(explain):
    """Reserve and floor come from the settings."""
    explain.settings("[compaction]\nreserve_tokens = 4000\nreserve_floor = 0\n")
    file = explain.file(said("user", "Hello"))
    assert explain.json(file, "--window", 32_000)["budget"]["reserve"] == 4_000
    facts = explain.json(file, "--window", 32_000, "--reserve", 6_000)
    assert facts["budget"]["reserve"] == 6_000


def test_only_the_branch_of_the_leaf_counts(explain):
    """What was said on another branch is not in the context."""
    file = explain.file(
        record(0, said("user", "a" * 400)),
        record(1, said("assistant", "b" * 40_000)),
        record(2, said("assistant", "c" * 400), parent="e0"),
    )
    assert explain.json(file)["count"]["spec_estimate"] == 240


def test_after_a_compaction_the_summary_stands_for_what_it_folded(explain):
    """Summary, kept tail and what came after; nothing from before."""
    compaction = {
        "type": "compaction",
        "id": "e3",
        "parentId": "e2",
        "summary": "s" * 400,
        "firstKeptEntryId": "e2",
        "tokensBefore": 9_000,
    }
    file = explain.file(
        said("user", "a" * 9_000),
        said("assistant", "b" * 9_000),
        said("user", "c" * 400),
        compaction,
        record(4, said("assistant", "d" * 400)),
    )
    assert explain.json(file)["count"]["spec_estimate"] == 360
    assert explain.json(file, "--spec")["cut"]["first_kept"] == "e2"


def test_garbage_in_the_middle_is_skipped(explain):
    """A line that is no JSON, and one of a type from elsewhere, cost only themselves."""
    file = explain.file(said("user", "a" * 400), {"type": "frobnicated", "id": "e1"})
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], "{half a line", "[1, 2]", lines[2]]))
    assert explain.json(file)["count"]["spec_estimate"] == 120


def test_a_large_file_is_explained(explain):
    """50 MB, one message of 12 MB in it."""
    file = explain.file(
        said("user", "word " * 2_400_000), *[said("user", "some words " * 910)] * 3_800
    )
    assert file.stat().st_size > 50_000_000
    facts = explain.json(file)
    assert facts["route"] == "compact_only"
    assert facts["count"]["spec_estimate"] > 15_000_000


def test_a_pipe_can_be_explained(explain, tmp_path):
    """What a shell gives for `<(…)` is no file of its own, and can be read."""
    text = explain.file(said("user", "a" * 400)).read_text()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    try:
        assert explain.json(pipe)["count"]["spec_estimate"] == 120
    finally:
        writer.join()


# ---- bad input ----------------------------------------------------------------------------------


def test_missing_file(explain, tmp_path):
    """No such file: its name, one sentence."""
    assert "nowhere.jsonl" in explain.refused("--file", tmp_path / "nowhere.jsonl")


def test_folder_in_place_of_a_file(explain, tmp_path):
    """A folder is told as one."""
    assert "folder" in explain.refused("--file", tmp_path)


def test_device_in_place_of_a_file(explain):
    """A device that never ends is not read."""
    assert "device" in explain.refused("--file", "/dev/zero")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Dear diary,\n",
        "\x00\x01\x02" * 400,
        "[1, 2, 3]\n",
        '{"type": "message"}\n',
        "[" * 9_999,
    ],
    ids=["empty", "prose", "bytes", "another JSON", "no header", "deep"],
)
def test_file_that_is_no_conversation(explain, tmp_path, text):
    """What its first line must be."""
    file = tmp_path / "notes.jsonl"
    file.write_text(text)
    told = explain.refused("--file", file)
    assert "notes.jsonl" in told
    assert "first line" in told


@pytest.mark.parametrize("spec", [(), ("--spec",)], ids=["session", "spec"])
def test_conversation_without_a_word(explain, spec):
    """A header alone, or settings alone: told as empty."""
    assert "empty" in explain.refused("--file", explain.file(), *spec)
    label = {"type": "model_change", "id": "e0", "parentId": None, "modelId": "m"}
    assert "nothing" in explain.refused("--file", explain.file(label), *spec)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--session", "a", "--file", "b"),
        ("--file", "b", "--window", "many"),
        ("--file", "b", "--window", "nan"),
        ("--file", "b", "--window", "99999999999999"),
        ("--file", "b", "--keep-recent", "0"),
    ],
    ids=["neither", "both", "no number", "nan", "absurd", "no tail"],
)
def test_wrong_usage(explain, arguments):
    """Exit 2, before anything is read."""
    with pytest.raises(SystemExit) as ended:
        explain.run(*arguments)
    assert ended.value.code == 2
    assert not explain.profile.exists()


def test_unknown_conversation(explain):
    """An id that names nothing."""
    assert "nope" in explain.refused("--session", "nope")


# ---- conversations ------------------------------------------------------------------------------


def stored(explain, *bodies, model="starter"):
    """A conversation in the profile's store; its id."""
    place = Workplace(str(explain.profile), {})
    place.paths.ensure()
    with Store.open(place.paths.database) as store:
        session = store.create_session(title="t", model=model).id
        store.append_all(session, bodies)
    return session


def answer(text, *, model="starter", usage=None):
    return Message("assistant", (Text(text),), model=model, stop_reason="stop", usage=usage)


def session_json(explain, session, *arguments):
    code, out, err = explain.run("--session", session, "--json", *arguments)
    assert code == 0, err
    return json.loads(out), err


def test_conversation_with_a_starter_that_is_not_fetched(explain):
    """The window a turn would request, out of the manifest; the count from the last usage."""
    session = stored(
        explain, user("Hello"), answer("Hi.", usage=Usage(40, 10, 3)), user("How are you?")
    )
    facts, err = session_json(explain, session[:6])
    assert facts["window"] == {"tokens": 16_384, "source": "manifest"}
    assert facts["budget"] == {"min_prompt": 8_000, "reserve": 8_384, "prompt": 8_000}
    assert facts["count"]["kind"] == "anchored"
    assert facts["count"]["tokens"] > 53
    assert facts["guard"]["warn"] is True
    assert "16,384" in facts["guard"]["messages"][0]
    assert facts["route"] == "fits"
    assert "8,192" in err


def test_conversation_with_the_starter_here(explain, starter_path):
    """Header and vocabulary of its file are read: counted as the model would, and nothing written."""
    fetched(explain, starter_path)
    session = stored(explain, user("Hello"))
    facts, _ = session_json(explain, session)
    assert facts["window"]["tokens"] == 16_384
    assert facts["count"]["kind"] == "exact"
    again, _ = session_json(explain, session, "--window", "32768")
    assert again["count"] == facts["count"]
    assert again["window"]["tokens"] == 32_768
    assert again["budget"]["prompt"] == 12_768


def test_count_is_what_the_model_reads(explain, starter_path):
    """The very tokens of the receipt: the answer to the same conversation was sent with them."""
    fetched(explain, starter_path)
    options = ("--profile", str(explain.profile), "ask", "What is a lighthouse?")
    assert main([*options, "--max-tokens", "4", "--temperature", "0"]) == 0
    explain._capsys.readouterr()
    place = Workplace(str(explain.profile), {})
    with Store.open(place.paths.database) as store:
        (row,) = store.sessions()
        question, reply = store.path(row.id)[-2:]
        store.set_leaf(row.id, question.id)
    usage = reply.body.usage
    facts, _ = session_json(explain, row.id)
    sent = usage.read_tokens + usage.reused_tokens
    assert facts["count"] == {**facts["count"], "tokens": sent, "kind": "exact"}


def test_count_of_a_file_that_cannot_be_read_is_estimated(explain):
    """What is no model any more explains nothing, and costs nothing."""
    broken = explain.folder / "broken.gguf"
    broken.write_bytes(b"GGUF")
    session = stored(explain, user("Hello"), model=f"llama.cpp:{broken}")
    facts, _ = session_json(explain, session)
    assert facts["count"]["kind"] == "estimated"


def fetched(explain, starter_path):
    """The starter is in the profile."""
    models = explain.profile / "data" / "models"
    models.mkdir(parents=True)
    (models / STARTER_FILE).symlink_to(starter_path)


def test_conversation_with_an_ollama_model(explain, monkeypatch):
    """The server is asked what it knows of the model; nothing is loaded."""
    session = stored(explain, user("Hello"), model="ollama:m")
    with OllamaDouble() as double:
        monkeypatch.setenv("PORTHOLE_OLLAMA_HOST", double.host)
        facts, _ = session_json(explain, session)
        assert double.loads == []
        assert double.bodies("/api/chat") == []
    assert facts["window"] == {"tokens": 32_768, "source": "model"}


def test_conversation_whose_server_is_away(explain, monkeypatch):
    """The default window under the cap, and a line that says why."""
    monkeypatch.setenv("PORTHOLE_OLLAMA_HOST", "127.0.0.1:9")
    session = stored(explain, user("Hello"), model="ollama:m")
    facts, err = session_json(explain, session)
    assert facts["window"] == {"tokens": 32_768, "source": "agentContextTokens"}
    assert "127.0.0.1:9" in err


def test_window_of_an_option_asks_nobody(explain, monkeypatch):
    """With --window the server need not be there."""
    monkeypatch.setenv("PORTHOLE_OLLAMA_HOST", "127.0.0.1:9")
    session = stored(explain, user("Hello"), model="ollama:m")
    facts, err = session_json(explain, session, "--window", "65536")
    assert facts["window"] == {"tokens": 65_536, "source": "option"}
    assert err == ""


def test_an_exported_conversation_is_explained_as_the_stored_one(explain, tmp_path):
    """The same figures out of the store and out of its file: system prompt and usage included."""
    session = stored(
        explain,
        Custom(OPTIONS_ENTRY, {"system_prompt": "Be brief. " * 40}),
        *[user("So we went on. " * 90), answer("Yes. " * 90, model="ollama:m")] * 20,
        model="ollama:m",
    )
    file = tmp_path / "export.jsonl"
    database = Workplace(str(explain.profile), {}).paths.database
    with Store.open(database) as store, file.open("w") as lines:
        store.export_jsonl(session, lines)
    for options in ((), ("--spec",)):
        here, _ = session_json(explain, session, "--window", "16384", *options)
        there = explain.json(file, "--window", "16384", *options)
        assert here.pop("guard")["warn"] == there.pop("guard")["warn"]
        assert here == there
        assert here["route"] == "compact_only"


def test_conversation_without_a_word_in_it(explain):
    """Nothing was said yet."""
    assert "nothing" in explain.refused("--session", stored(explain))


# ---- for people ---------------------------------------------------------------------------------


def lines_for(explain, *arguments):
    code, out, err = explain.run(*arguments)
    assert code == 0, err
    return out.splitlines()


def test_text_fits_eighty_columns_and_tells_it_all(explain):
    """Window, guard, reserve and why, budget, segments, route, cut, chunks: none wider than 80."""
    talk = [said(m["role"], "So we went on. " * 110) for m in TEN_TURNS]
    messages = [said("system", "Be brief."), *talk, calling("c"), result("r" * 30_000)]
    lines = lines_for(explain, "--file", explain.file(*messages), "--window", 16_384)
    text = "\n".join(lines)
    assert max(len(line) for line in lines) <= 80
    for words in (
        "16,384 tokens",
        "asked for with --window",
        "capped at 8,384 so that 8,000 remain",
        "your messages",
        "tool results",
        "over the budget",
        "compact_then_truncate",
        "more",
        "Chunks",
    ):
        assert words in re.sub(r"\s+", " ", text), words


def test_text_of_what_fits(explain):
    """A short conversation: what is free, and that nothing would be done."""
    text = "\n".join(lines_for(explain, "--file", explain.file(said("user", "Hello"))))
    assert "fits" in text
    assert "free" in text
    assert "would fold nothing" in text


def test_text_of_what_would_be_shortened(explain):
    """The results and both lengths."""
    file = explain.file(said("user", "u" * 4_000), calling("c"), result("r" * 24_000))
    text = "\n".join(lines_for(explain, "--file", file, "--window", 16_000, "--spec"))
    assert "24,000 → 16,000 characters" in text


def test_text_shows_messages_harmlessly(explain):
    """Line breaks, escape sequences and wide characters of a message stay on one line."""
    messages = [
        said("user", "\x1b[2Jfirst\nline " + "x" * 900),
        said("assistant", "界" * 900),
    ] * 8
    lines = lines_for(explain, "--file", explain.file(*messages), "--window", 4_096)
    assert not any("\x1b" in line for line in lines)
    [wide, *_] = [line for line in lines if line.startswith("  reply")]
    assert len(wide) + wide.count("界") <= 80


def test_text_says_that_compactions_are_off(explain):
    """What the route would do, and that the settings keep it from being done."""
    explain.settings("[compaction]\nenabled = false\n")
    file = explain.file(said("user", "a " * 30_000))
    text = " ".join(lines_for(explain, "--file", file, "--window", 16_000))
    assert "compaction.enabled is off" in re.sub(r"\s+", " ", text)


def test_text_names_every_kind_of_entry(explain):
    """Calls, notes of the program, what happened on another branch, the system's words."""
    frame = {"timestamp": "2026-01-02T03:04:05Z"}
    note = {"type": "custom_message", "customType": "note", "content": "A note.", "display": True}
    branch = {"type": "branch_summary", "fromId": "x", "summary": "Another way."}
    file = explain.file(
        said("system", "Be brief."),
        calling("c"),
        result("r"),
        {**frame, **note, "id": "e3", "parentId": "e2"},
        {**frame, **branch, "id": "e4", "parentId": "e3"},
    )
    text = "\n".join(lines_for(explain, "--file", file))
    for words in ("system", "(calls read)", "tool result", "note", "A note.", "other branch"):
        assert words in text


def test_problems_of_the_settings_are_told(explain):
    """A mistyped setting has no effect: said on stderr, beside the answer."""
    explain.settings("[context]\ncap_tokns = 20000\n")
    code, out, err = explain.run("--file", explain.file(said("user", "Hello")), "--json")
    assert code == 0
    assert json.loads(out)["route"] == "fits"
    assert "cap_tokens" in err


def test_real_process(empty_profile, tmp_path):
    """The program itself: JSON on stdout, nothing on stderr, no profile made for a file."""
    file = tmp_path / "talk.jsonl"
    record_ = record(0, said("user", "u" * 26_668))
    file.write_text(f"{json.dumps(HEADER)}\n{json.dumps(record_)}\n")
    done = empty_profile.run(
        "explain", "--file", str(file), "--window", "16000", "--spec", "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["route"] == "compact_only"
    assert not empty_profile.profile.exists()
