"""Reading settings: what is in the file and the environment never stops anything."""

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backends.base import Stretch
from engine.errors import Bug, SettingsUnusable
from engine.settings import (
    MODEL_SETTINGS,
    NOT_SETTINGS,
    SETTINGS,
    ModelSettings,
    Setting,
    Settings,
    Tombstone,
    load_settings,
    settings_markdown_table,
)
from engine.settings.document import MOST_BYTES

ROOT = Path(__file__).parents[2]
EVERY = [*SETTINGS.values(), *MODEL_SETTINGS.values()]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.toml"


@pytest.fixture
def load(file):
    """Load a text or bytes as the settings file."""

    def loaded(content="", environ=None, **more):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_settings(file, environ or {}, **more)

    return loaded


def only(problems):
    (problem,) = problems
    return problem


# ---- the table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.key)
def test_setting_is_declared_well(setting):
    """A default is allowed, as it stands; title and help are there; bounds belong to numbers."""
    if setting.default is not None:
        assert setting.accept(setting.default) == setting.default
    assert setting.title
    assert setting.help.endswith(".")
    assert (setting.minimum is not None) == (setting.kind in ("whole", "number"))
    assert (setting.maximum is not None) == (setting.kind in ("whole", "number"))
    assert not setting.choices or setting.kind == "text"
    assert bool(setting.pattern) == bool(setting.pattern_words)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.key)
def test_setting_has_a_default(setting):
    """Every setting of the application has a value without any file."""
    assert Settings()[setting.key] == setting.default is not None


def test_variables_are_unique():
    """No two settings share an environment variable, and none takes another part's."""
    names = [setting.variable for setting in SETTINGS.values()]
    assert len(set(names)) == len(names)
    assert not set(names) & set(NOT_SETTINGS)


def test_model_settings_match_the_table():
    """Every per-model setting has its field, typed for what the table lets through."""
    types = {"whole": int, "number": float, "text": str, "switch": bool}
    hints = get_type_hints(ModelSettings)
    assert [field.name for field in fields(ModelSettings)] == list(MODEL_SETTINGS)
    for name, setting in MODEL_SETTINGS.items():
        inner, none = get_args(hints[name])
        assert none is type(None)
        assert get_args(inner) == setting.choices or inner is types[setting.kind]


@pytest.mark.parametrize(
    ("written", "meant"), [("true", "on"), ("false", "off"), ('"max"', "max")]
)
def test_a_switch_that_became_a_choice_is_still_read(load, written, meant):
    """Files from when `think` was on or off go on working, without a word."""
    settings = load(f"[model.starter]\nthink = {written}\n")
    assert (settings.model("starter").think, settings.problems) == (meant, ())


def test_no_other_text_takes_a_switch():
    """Only one that was a switch; nor does it take what is no choice."""
    texts = [s for s in EVERY if s.kind == "text" and s.was_switch is None]
    assert texts
    assert {setting.accept(value=True) for setting in texts} == {None}
    think = MODEL_SETTINGS["think"]
    assert [think.accept(value) for value in (1, 0, "", "yes", None)] == [None] * 5


def test_stretch_is_the_backends():
    """The choices of a model's stretch are the ones a backend understands."""
    assert MODEL_SETTINGS["stretch"].choices == get_args(Stretch)


def test_markdown_table_names_every_setting():
    """The documents' table has a row for each setting, with its default and its range."""
    table = settings_markdown_table()
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [setting.key for setting in EVERY]
    assert "| `context.cap_tokens` | `32768` | a whole number from 1 to 16,777,216 |" in table


def test_importing_costs_little():
    """Settings, paths and window load no parser, no writer and nothing heavy by themselves."""
    heavy = ["tomllib", "tomlkit", "platformdirs", "difflib", "tempfile", "json", "asyncio"]
    heavy += ["httpx", "psutil", "sqlite3", "ipaddress", "urllib.parse", "random", "logging"]
    script = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import engine.paths, engine.settings, engine.window\n"
        f"print(sorted(set({heavy!r}) & (set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


# ---- good files ---------------------------------------------------------------------------------


def test_missing_file_means_defaults(file):
    """Without a file everything has its default and nothing is wrong."""
    loaded = load_settings(file, {})
    assert {key: loaded[key] for key in SETTINGS} == {
        key: setting.default for key, setting in SETTINGS.items()
    }
    assert loaded.problems == ()
    assert not file.exists()


def test_values_are_read(load):
    """What is in the file applies, and says that it came from there."""
    loaded = load('language = "zh"\n[context]\ncap_tokens = 24_576\n[models]\nadded = ["/a"]\n')
    assert loaded["language"] == "zh"
    assert loaded["context.cap_tokens"] == 24_576
    assert loaded["models.added"] == ("/a",)
    assert loaded.origin("language") == "file"
    assert loaded.origin("models.default") == "default"
    assert loaded.problems == ()


def test_unknown_key_is_a_bug():
    """Asking for a setting that does not exist is a mistake of ours."""
    with pytest.raises(KeyError):
        Settings()["context.cap"]


def test_models_are_read_by_name(load):
    """A model's settings are found by the name the user writes; others have none."""
    loaded = load(
        '[model.starter]\nstretch = "yarn"\n'
        '[model."ollama:qwen3:8b"]\ncontext_window = 16384\ntemperature = 1\nthink = false\n'
        '[model."llama.cpp:/模型/甲.gguf"]\nsystem_prompt = ""\n'
    )
    assert loaded.model("starter") == ModelSettings(stretch="yarn")
    ollama = loaded.model("ollama:qwen3:8b")
    assert (ollama.context_window, ollama.temperature, ollama.think) == (16_384, 1.0, "off")
    assert type(ollama.temperature) is float
    assert loaded.model("llama.cpp:/模型/甲.gguf").system_prompt == ""
    assert loaded.model("ollama:other") == ModelSettings()
    assert loaded.problems == ()


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf# first line\r\n[context]\r\ncap_tokens = 20000\r\n",
        '# 注释：窗口\n[context] # 中文\n"cap_tokens" = 20000 # 二万\n'.encode(),
        b"context.cap_tokens = 20_000",
        b"context = {cap_tokens = 0x4e20}\n",
    ],
    ids=["bom-crlf", "cjk-comments", "dotted", "inline-hex"],
)
def test_every_way_of_writing_it(load, content):
    """Byte-order mark, Windows line ends, Chinese comments, dotted and inline forms all read."""
    loaded = load(content)
    assert loaded["context.cap_tokens"] == 20_000
    assert loaded.problems == ()


# ---- bad files ----------------------------------------------------------------------------------

BAD_VALUES = [
    ("cap_tokens = true", "whole number from 1 to 16,777,216, not true"),
    ("cap_tokens = 32000.0", "not 32,000.0"),
    ("cap_tokens = 0", "not 0"),
    ("cap_tokens = -5", "not -5"),
    ("cap_tokens = 99999999999999999999999999", "not a far larger number"),
    ("cap_tokens = 0x" + "f" * 6000, "not a far larger number"),
    ("cap_tokens = inf", "not inf"),
    ('cap_tokens = "32768"', 'not "32768"'),
    ("cap_tokens = [1, 2, 3, 4]", "not [1, 2, 3, …]"),
    ("cap_tokens = {a = 1}", "not a table"),
    ("cap_tokens = 2024-01-01", "not 2024-01-01"),
]


@pytest.mark.parametrize(("line", "words"), BAD_VALUES, ids=[words for _, words in BAD_VALUES])
def test_invalid_value_is_reported(load, line, words):
    """A value of the wrong type or out of range: line, range and value; the default applies."""
    loaded = load(f"# a comment\n\n[context]\nwarn_below_tokens = 9000\n{line}\n")
    problem = only(loaded.problems)
    assert (problem.key, problem.line) == ("context.cap_tokens", 5)
    assert words in problem.message
    assert "the default 32,768 applies" in problem.message
    assert loaded["context.cap_tokens"] == 32_768
    assert loaded["context.warn_below_tokens"] == 9000


@pytest.mark.parametrize("value", ["nan", "inf", "-0.1", "5.1", "true", '"hot"', "[]"])
def test_invalid_number_is_reported(load, value):
    """A temperature that is no number in its range has no effect."""
    loaded = load(f"[model.starter]\ntemperature = {value}\n")
    assert only(loaded.problems).line == 2
    assert "a number from 0 to 5" in only(loaded.problems).message
    assert loaded.model("starter").temperature is None


@pytest.mark.parametrize("value", ['"/a"', "[1]", '["/a", ""]', '["a\\u0000b"]', "{}", "true"])
def test_invalid_list_is_reported(load, value):
    """A list of paths takes texts only, no empty one and none that no file can have."""
    loaded = load(f"[models]\nadded = {value}\n")
    assert only(loaded.problems).line == 2
    assert loaded["models.added"] == ()


@pytest.mark.parametrize("value", ["10", "-1", "ten minutes", "5d", "1h 30m"])
def test_invalid_duration_is_reported(load, value):
    """What Ollama would refuse as a duration is refused here, with the right form."""
    loaded = load(f'[ollama]\nkeep_alive = "{value}"\n')
    assert '"30m"' in only(loaded.problems).message
    assert loaded["ollama.keep_alive"] == "30m"


def test_choice_says_what_was_meant(load):
    """A choice in the wrong case is named."""
    problem = only(load('[llamacpp]\nkv_type = "Q8_0"\n').problems)
    assert 'one of "f16", "q8_0", not "Q8_0" (did you mean "q8_0"?)' in problem.message


@pytest.mark.parametrize(
    ("content", "line", "meant"),
    [
        ("[context]\ncap_token = 5\n", 2, "context.cap_tokens"),
        ("cap_tokens = 5\n", 1, "context.cap_tokens"),
        ("[contxt]\ncap_tokens = 5\n", 1, None),
        ('\n"context.cap_tokens" = 5\n', 2, "context.cap_tokens"),
        ("[llamacpp]\nThreads = 1\n", 2, "llamacpp.threads"),
        ("zzz = 1\n", 1, None),
    ],
)
def test_unknown_key_is_reported(load, content, line, meant):
    """An unknown key: its line, that it has no effect, and what was probably meant."""
    problem = only(load(content).problems)
    assert problem.line == line
    assert "is not a setting and has no effect" in problem.message
    assert (f"did you mean {meant}?" in problem.message) == (meant is not None)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("context = 5\n", 1, "context is a table, written [context], not 5"),
        ("model = 5\n", 1, 'written [model."NAME"]'),
        ("[model]\ncontext_window = 16384\n", 2, "names a model"),
        ("[[model]]\nstretch = 'off'\n", 1, 'written [model."NAME"]'),
        ("[model.qwen3.8b]\nthink = true\n", 1, '[model."qwen3.8b"]'),
        ("[model.starter]\nstrech = 'off'\n", 2, "did you mean stretch?"),
        ("[[context]]\ncap_tokens = 1\n", 1, "context is a table"),
    ],
)
def test_wrong_tables_are_reported(load, content, line, words):
    """A table where a value belongs, a value where a table belongs, a name without quotes."""
    problem = only(load(content).problems)
    assert problem.line == line
    assert words in problem.message


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"[context]\ncap_tokens = \n", 2, "not valid TOML"),
        (b"a = 1\na = 2\n", 2, "Cannot overwrite"),
        (b"[context]\n[context]\n", 2, "not valid TOML"),
        (b'a = "open\n', 1, "not valid TOML"),
        (b'a = """open\n\n', 1, "not valid TOML"),
        (b"[models]\nadded = ['a',\n", 2, "not valid TOML"),
        (b"# ok\n\xff\xfe\n", 2, "not UTF-8"),
        (b"a = 1\x00\n", 1, "not valid TOML"),
        (b"a = 1\rb = 2\n", 1, "not valid TOML"),
        (b"a = " + b"[" * 100_000, 0, "nested too deeply"),
        (b"a = " + b"9" * 5000, 0, "number is too long"),
        (b"[model.ollama:qwen3:8b]\n", 1, "goes in quotes"),
        (b'[models]\nadded = ["C:\\models\\x.gguf"]\n', 2, "single quotes"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_broken_file_is_reported(load, content, line, words):
    """A file that is not TOML: the line, the reason, and defaults throughout."""
    loaded = load(content)
    assert loaded.broken
    problem = only(loaded.problems)
    assert problem.line == line
    assert words in problem.message
    assert all(loaded[key] == setting.default for key, setting in SETTINGS.items())


def test_problems_are_in_file_order(load):
    """Several problems are all reported, by line, each readable by itself."""
    loaded = load('[zzz]\na = 1\n[context]\ncap_tokens = 0\n[model.x]\nseed = ""\n')
    assert [problem.line for problem in loaded.problems] == [1, 4, 6]
    assert str(loaded.problems[1]).startswith("Settings, line 4: context.cap_tokens must be")


def test_line_after_a_long_list(load):
    """Lines are right below texts and lists that span several lines."""
    loaded = load(
        '[models]\nadded = [ # ]\n  "/a#]",\n  "/b",\n]\n'
        '[chat]\nsystem_prompt = """\n[context]\ncap_tokens = "x"\n"""\n'
        "[context]\ncap_tokens = 0\n"
    )
    assert only(loaded.problems).line == 12
    assert loaded["models.added"] == ("/a#]", "/b")


def test_line_after_an_absurdly_long_list(load):
    """Below a list of a thousand lines a problem has no line, and is still reported."""
    items = "".join(f"'/m{number}',\n" for number in range(1000))
    loaded = load(f"[models]\nadded = [\n{items}]\n[context]\ncap_tokens = 0\n")
    assert only(loaded.problems).line == 0
    assert len(loaded["models.added"]) == 1000


def test_line_inside_an_inline_table(load):
    """A problem in an inline table has the line of the table."""
    assert only(load("\ncontext = {cap_tokens = 0, warn_below_tokens = 1}\n").problems).line == 2


def test_absurd_key_stays_readable(load):
    """A key of a hundred thousand letters makes a short message."""
    problem = only(load(f'"{"k" * 100_000}\\n" = 1\n').problems)
    assert len(problem.message) < 200


@pytest.mark.parametrize("kind", ["folder", "pipe", "huge"])
def test_unreadable_file_is_one_sentence(file, kind):
    """A folder, a pipe (which would never end) or a huge file: refused, unread."""
    match kind:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "huge":
            file.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(SettingsUnusable) as caught:
        load_settings(file, {})
    assert str(file) in caught.value.sentence
    assert caught.value.sentence.endswith(".")


def test_forbidden_file_is_one_sentence():
    """No permission to read the file is one sentence."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        file = Path(name) / "settings.toml"
        file.write_text("")
        file.chmod(0)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            with pytest.raises(SettingsUnusable, match="permission denied"):
                load_settings(file, {})
        finally:
            if root:
                os.seteuid(0)


def test_file_where_the_folder_should_be(tmp_path):
    """A file in place of the configuration folder is one sentence."""
    (tmp_path / "config").write_text("")
    with pytest.raises(SettingsUnusable, match="cannot be read"):
        load_settings(tmp_path / "config" / "settings.toml", {})


WORDS = st.sampled_from(
    ["[context]", "[model.", "model", '."a.b"]', "cap_tokens", "stretch", "language", "a", "中"]
)
VALUES = st.sampled_from(["5", "true", "1e400", "nan", "0x", "2024-01-01", '"x"', "-", "{}", "[]"])
MARKS = st.sampled_from([*"\n\n\n=====[]{}\"'.,#\\\r\t\0\ufeff", '"""', "[[", "]]", "\r\n"])
FRAGMENTS = WORDS | VALUES | MARKS
TEXTS = st.lists(FRAGMENTS, max_size=25).map("".join) | st.text(max_size=60)


@settings(deadline=None, max_examples=150)
@given(TEXTS.map(str.encode) | st.binary(max_size=60))
def test_any_file_loads(content):
    """Whatever is in the file, loading gives valid settings and problems with real lines."""
    with TemporaryDirectory() as name:
        file = Path(name) / "settings.toml"
        file.write_bytes(content)
        loaded = load_settings(file, {})
    for key, setting in SETTINGS.items():
        assert setting.accept(loaded[key]) == loaded[key]
    for problem in loaded.problems:
        assert 0 <= problem.line <= content.count(b"\n") + 1
        assert "\n" not in problem.message


# ---- the environment ----------------------------------------------------------------------------


def test_environment_wins_over_the_file(load):
    """A variable overrides the file for this run and says so."""
    loaded = load("[context]\ncap_tokens = 1000\n", {"PORTHOLE_CONTEXT_CAP_TOKENS": "2_000"})
    assert loaded["context.cap_tokens"] == 2000
    assert loaded.origin("context.cap_tokens") == "environment"


def test_environment_lists_and_texts(load):
    """Lists are separated as PATH is; a text is taken as it is."""
    environ = {
        "PORTHOLE_MODELS_FOLDERS": os.pathsep.join(["/a", "/b c"]),
        "PORTHOLE_CHAT_SYSTEM_PROMPT": " Be brief. ",
    }
    loaded = load("", environ)
    assert loaded["models.folders"] == ("/a", "/b c")
    assert loaded["chat.system_prompt"] == " Be brief. "


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("number", "0.5", 0.5),
        ("number", "2", 2.0),
        ("switch", "True", True),
        ("switch", "1", None),
    ],
)
def test_environment_numbers_and_switches(kind, text, value):
    """A number is written with a point, a switch as true or false."""
    setting = Setting(key="x", kind=kind, default=None, title="", help="", minimum=0, maximum=9)
    assert setting.accept(setting.parse(text)) == value


def test_empty_variable_is_none(load):
    """An empty variable changes nothing."""
    loaded = load('language = "en"\n', {"PORTHOLE_LANGUAGE": ""})
    assert loaded["language"] == "en"
    assert loaded.problems == ()


@pytest.mark.parametrize("text", ["20k", "1.5", "true", "0", "９９", "9" * 50, "-1", "1__0x"])
def test_invalid_variable_is_reported(load, text):
    """An invalid variable is named with the allowed range, and the file's value applies."""
    loaded = load("[context]\ncap_tokens = 1000\n", {"PORTHOLE_CONTEXT_CAP_TOKENS": text})
    problem = only(loaded.problems)
    assert (problem.key, problem.line) == ("PORTHOLE_CONTEXT_CAP_TOKENS", 0)
    assert "from 1 to 16,777,216" in problem.message
    assert loaded["context.cap_tokens"] == 1000


def test_unknown_variable_is_reported(load):
    """A variable with a typo is named, and the right one with it."""
    problem = only(load("", {"PORTHOLE_OLAMA_HOST": "x", "OLLAMA_HOST": "y"}).problems)
    assert problem.key == "PORTHOLE_OLAMA_HOST"
    assert "did you mean PORTHOLE_OLLAMA_HOST?" in problem.message


@pytest.mark.parametrize("name", [*NOT_SETTINGS, "PORTHOLE_TEST_MODEL", "PORTHOLE_TEST_X"])
def test_other_parts_variables_are_fine(load, name):
    """Variables of the same family that mean something elsewhere are no problem."""
    assert load("", {name: "x"}).problems == ()


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([setting.variable for setting in SETTINGS.values()])
        | st.text(max_size=20).map("PORTHOLE_".__add__),
        st.text(max_size=30) | st.integers().map(str) | st.floats().map(str),
        max_size=5,
    )
)
def test_any_environment_loads(environ):
    """Whatever the environment says, loading gives valid settings."""
    loaded = load_settings(Path("/no/such/folder/settings.toml"), environ)
    for key, setting in SETTINGS.items():
        assert setting.accept(loaded[key]) == loaded[key]


# ---- tombstones ---------------------------------------------------------------------------------

RENAMED = Tombstone("window.cap", "context.cap_tokens", "the value is used.")
DROPPED = Tombstone("chat.colour", None, "the theme decides.")


def test_renamed_key_still_works(load):
    """A renamed key is reported with its new name, and its value is used."""
    loaded = load("[window]\ncap = 1000\n", tombstones=(RENAMED,))
    problem = only(loaded.problems)
    assert problem.line == 2
    assert problem.message == "window.cap is now called context.cap_tokens: the value is used."
    assert loaded["context.cap_tokens"] == 1000


def test_new_name_wins_over_the_old(load):
    """With both in the file the new name counts."""
    content = "[window]\ncap = 1000\n[context]\ncap_tokens = 2000\n"
    assert load(content, tombstones=(RENAMED,))["context.cap_tokens"] == 2000


def test_renamed_key_is_checked(load):
    """An invalid value under an old name is reported as one."""
    loaded = load("[window]\ncap = 0\n", tombstones=(RENAMED,))
    assert "from 1 to" in loaded.problems[1].message
    assert loaded["context.cap_tokens"] == 32_768


def test_dropped_key_is_reported(load):
    """A dropped key has no effect and says what became of it."""
    problem = only(load("[chat]\ncolour = 1\n", tombstones=(DROPPED,)).problems)
    assert problem.message == (
        "chat.colour is no longer a setting and has no effect: the theme decides."
    )


def test_renamed_variable_still_works(load):
    """The variable of a renamed key works like the key, unless the new one is there."""
    environ = {"PORTHOLE_WINDOW_CAP": "1000"}
    loaded = load("", environ, tombstones=(RENAMED,))
    assert loaded["context.cap_tokens"] == 1000
    assert "is now called context.cap_tokens" in only(loaded.problems).message
    environ["PORTHOLE_CONTEXT_CAP_TOKENS"] = "2000"
    assert load("", environ, tombstones=(RENAMED,))["context.cap_tokens"] == 2000


@pytest.mark.parametrize(
    "tombstone",
    [Tombstone("language", None, ""), Tombstone("old", "no.such.key", "")],
    ids=["reused", "leads nowhere"],
)
def test_bad_tombstone_is_a_bug(load, tombstone):
    """A key may not come back from the dead, and a replacement must exist."""
    with pytest.raises(Bug):
        load("", tombstones=(tombstone,))


# ---- secrets ----------------------------------------------------------------------------------

SECRET = "tok-5ecret"


def test_a_secret_is_read_without_the_white_space_around_it(load):
    """It is pasted with the end of its line."""
    assert load(f'[ollama]\ntoken = "  {SECRET}\\n"\n')["ollama.token"] == SECRET
    assert load("", {"PORTHOLE_OLLAMA_TOKEN": f"{SECRET}\n"})["ollama.token"] == SECRET


@pytest.mark.parametrize(
    "line",
    [f'token = "{SECRET} and more"', f'token = ["{SECRET}"]', f'token = {{ is = "{SECRET}" }}'],
)
def test_a_secret_that_cannot_be_one_is_not_repeated(load, line):
    """It is said what it may be, and not what it is."""
    [problem] = load(f"[ollama]\n{line}\n").problems
    assert "ollama.token must be letters, digits and signs without spaces" in str(problem)
    assert SECRET not in str(problem)


def test_a_secret_in_a_variable_is_not_repeated(load):
    """Nor where the environment has a wrong one."""
    [problem] = load("", {"PORTHOLE_OLLAMA_TOKEN": f"{SECRET} é"}).problems
    assert SECRET not in str(problem)


def test_settings_do_not_print_their_secrets(load):
    """Whoever prints all settings, in a trace perhaps, prints none."""
    assert SECRET not in repr(load(f'[ollama]\ntoken = "{SECRET}"\n'))


def test_only_texts_are_secret():
    """A secret has no default, and is never a choice."""
    for setting in SETTINGS.values():
        if setting.secret:
            assert (setting.kind, setting.default, setting.choices) == ("text", "", ())
