"""Changing settings: one key changes, every other line stays."""

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.errors import SettingsUnusable
from engine.settings import (
    MODEL_SETTINGS,
    SETTINGS,
    load_settings,
    save_model_setting,
    save_setting,
    set_broken_aside,
    unset_model_setting,
    unset_setting,
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config" / "settings.toml"


@pytest.fixture
def write(file):
    """Write the settings file."""

    def written(text):
        file.parent.mkdir()
        file.write_bytes(text.encode())

    return written


def test_first_save_makes_the_file(file):
    """Saving into nothing makes folder and file, for their user only."""
    save_setting(file, "context.cap_tokens", 16_384)
    assert file.read_text() == "[context]\ncap_tokens = 16384\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


BEFORE = """\
# Einstellungen / 设置

language = "zh"   # 中文

[context] # windows
unknown = { a = [1, 2] } # mine
cap_tokens = 24576 # smaller
# warn_below_tokens = 1

# models live here
[models]
added = ["/a"]

[[extra]]
x = 1
"""


def test_change_keeps_the_rest(file, write):
    """A changed value leaves comments, its own too, order and unknown keys alone."""
    write(BEFORE)
    save_setting(file, "context.cap_tokens", 16_384)
    assert file.read_text() == BEFORE.replace("24576", "16384")


def test_new_key_goes_to_its_table(file, write):
    """A new key stands below its table's last key, not below the next table's comment."""
    write(BEFORE)
    save_setting(file, "context.hard_min_tokens", 9000)
    assert file.read_text() == BEFORE.replace("smaller\n", "smaller\nhard_min_tokens = 9000\n")


def test_new_table_goes_to_the_end(file, write):
    """A table that is missing is put at the end."""
    write(BEFORE)
    save_setting(file, "ollama.host", "http://127.0.0.1:11434")
    assert file.read_text() == BEFORE + '\n[ollama]\nhost = "http://127.0.0.1:11434"\n'


def test_new_top_key(file, write):
    """A key without a table is put where no table claims it."""
    write("# mine\n[context]\ncap_tokens = 1\n")
    save_setting(file, "language", "en")
    assert file.read_text() == 'language = "en"\n# mine\n[context]\ncap_tokens = 1\n'


def test_a_switch_of_an_older_file_is_replaced(file, write):
    """What is chosen instead takes its place; what stood beside it stays."""
    write("[model.starter]\nthink = true # slow\nseed = 1\n")
    save_model_setting(file, "starter", "think", "low")
    assert file.read_text() == '[model.starter]\nthink = "low" # slow\nseed = 1\n'


def test_model_setting(file, write):
    """A model's settings stand under its name, in quotes where it needs them."""
    write("[context]\ncap_tokens = 1")
    save_model_setting(file, "ollama:qwen3:8b", "think", "off")
    save_model_setting(file, "ollama:qwen3:8b", "temperature", 0.3)
    save_model_setting(file, "starter", "stretch", "auto")
    assert file.read_text() == (
        '[context]\ncap_tokens = 1\n\n[model."ollama:qwen3:8b"]\nthink = "off"\n'
        'temperature = 0.3\n\n[model.starter]\nstretch = "auto"\n'
    )
    model = load_settings(file, {}).model("ollama:qwen3:8b")
    assert (model.think, model.temperature) == ("off", 0.3)


def test_list_keeps_its_comments(file, write):
    """A list that is replaced hands its comments to the new one."""
    write('[models]\nadded = [ # all\n  "/a#1", # fast\n  # old\n  "/b",\n] # end\n')
    save_setting(file, "models.added", ["/b", "/c"])
    text = file.read_text()
    assert all(comment in text for comment in ("# all", "# fast", "# old", "# end"))
    assert text.count("#") == 4
    assert load_settings(file, {})["models.added"] == ("/b", "/c")


def test_windows_line_ends_and_mark_stay(file, write):
    """A file with Windows line ends and a byte-order mark keeps both."""
    write("\ufeff# mine\r\n[context]\r\ncap_tokens = 1\r\n")
    save_setting(file, "context.cap_tokens", 2)
    save_setting(file, "context.hard_min_tokens", 3)
    assert file.read_bytes() == (
        "\ufeff# mine\r\n[context]\r\ncap_tokens = 2\r\nhard_min_tokens = 3\r\n".encode()
    )


def test_dotted_and_inline_forms_are_changed(file, write):
    """A key that is written without its table's header is changed where it stands."""
    write("context.cap_tokens = 1\nmodel = {starter = {seed = 1}} # in one line\n")
    save_setting(file, "context.cap_tokens", 2)
    save_setting(file, "context.hard_min_tokens", 3)
    save_model_setting(file, "starter", "seed", 4)
    save_model_setting(file, "other", "seed", 5)
    loaded = load_settings(file, {})
    assert (loaded["context.cap_tokens"], loaded["context.hard_min_tokens"]) == (2, 3)
    assert (loaded.model("starter").seed, loaded.model("other").seed) == (4, 5)
    assert "# in one line" in file.read_text()


def test_unset(file, write):
    """A key that is taken out leaves the others, and its default applies; twice is no fault."""
    write(BEFORE)
    for _ in range(2):
        unset_setting(file, "context.cap_tokens")
        assert file.read_text() == BEFORE.replace("cap_tokens = 24576 # smaller\n", "")
    assert load_settings(file, {})["context.cap_tokens"] == 32_768


def test_unset_unknown_and_model_keys(file, write):
    """What is reported as unknown can be taken out, and so can a model's setting."""
    write('[context]\nunknown = 1\n[model."a.b"]\nseed = 1\nthink = true\n')
    unset_setting(file, "context.unknown")
    unset_model_setting(file, "a.b", "seed")
    assert file.read_text() == '[context]\n[model."a.b"]\nthink = true\n'


def test_unset_takes_no_table(file, write):
    """A whole table is not a setting: its keys stay."""
    write(BEFORE)
    with pytest.raises(SettingsUnusable, match="without touching the rest"):
        unset_setting(file, "context")
    assert file.read_text() == BEFORE


def test_unset_without_a_file(file):
    """Taking a key out of nothing does nothing."""
    unset_setting(file, "language")
    assert not file.exists()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("context.cap_tokens", 0, "a whole number from 1 to 16,777,216, not 0"),
        ("context.cap_tokens", True, "not true"),
        ("context.cap_tokens", 5.0, "not 5.0"),
        ("context.cap_tokens", None, "not None"),
        ("llamacpp.kv_type", "q4_0", 'one of "f16", "q8_0"'),
        ("models.added", "/a", "a list of texts"),
        ("chat.system_prompt", "a\0b", "text in quotes"),
        ("chat.system_prompt", "\ud800", "text in quotes"),
        ("context.cap", 5, "Did you mean context.cap_tokens?"),
        ("model.starter.seed", 5, "is not a setting"),
    ],
)
def test_invalid_value_is_refused(file, key, value, words):
    """A value that is not allowed is refused with what is, before the file is touched."""
    with pytest.raises(SettingsUnusable) as caught:
        save_setting(file, key, value)
    assert words in str(caught.value)
    assert not file.exists()


@pytest.mark.parametrize("model", ["", "a\0b", "\ud800"])
def test_impossible_model_name_is_refused(file, model):
    """A name no model can have is refused."""
    with pytest.raises(SettingsUnusable, match="cannot be a model's name"):
        save_model_setting(file, model, "seed", 1)


@pytest.mark.parametrize("text", ["a = 1\nb = \n", "language = 'en'\nlanguage = 'zh'\n"])
def test_broken_file_is_not_saved_into(file, write, text):
    """A file that is not TOML is left as it is; the line is named."""
    write(text)
    with pytest.raises(SettingsUnusable, match="line 2"):
        save_setting(file, "language", "en")
    assert file.read_text() == text


def test_broken_file_can_be_set_aside(file, write):
    """Set aside, the broken file has a free name, nothing is overwritten, and saving works."""
    write("a = \n")
    first = set_broken_aside(file)
    file.write_text("b = \n")
    second = set_broken_aside(file)
    assert (first.name, second.name) == ("settings.toml.broken-1", "settings.toml.broken-2")
    assert (first.read_text(), second.read_text()) == ("a = \n", "b = \n")
    save_setting(file, "language", "en")
    assert load_settings(file, {})["language"] == "en"


def test_good_file_is_not_set_aside(file, write):
    """A file that can be read stays where it is, as does a missing one."""
    assert set_broken_aside(file) is None
    write_text = BEFORE
    file.write_text(write_text)
    assert set_broken_aside(file) is None
    assert file.read_text() == write_text


@pytest.mark.parametrize("text", ["context = 5\n", "[[context]]\ncap_tokens = 1\n"])
def test_something_in_the_tables_place(file, write, text):
    """Where something else has the table's name, nothing is saved and the line is named."""
    write(text)
    with pytest.raises(SettingsUnusable, match="line 1"):
        save_setting(file, "context.cap_tokens", 5)
    assert file.read_text() == text


def test_file_is_a_folder(file):
    """A folder in the file's place is one sentence."""
    file.mkdir(parents=True)
    with pytest.raises(SettingsUnusable, match="it is a folder"):
        save_setting(file, "language", "en")


@contextmanager
def without_privileges():
    """File permissions count for root as well: act as nobody meanwhile."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("text", ["a = 1\n", "a = \n"])
def test_read_only_folder(text):
    """Where the folder may not be written, saving and setting aside are one sentence each."""
    with TemporaryDirectory() as name:
        file = Path(name) / "settings.toml"
        file.write_text(text)
        Path(name).chmod(0o555)
        change = (
            set_broken_aside if text == "a = \n" else lambda f: save_setting(f, "language", "en")
        )
        with without_privileges(), pytest.raises(SettingsUnusable, match="permission denied"):
            change(file)
        Path(name).chmod(0o755)
        assert file.read_text() == text


def test_savers_at_the_same_time_lose_nothing(file):
    """Several windows saving at once: every change is in the file."""

    def save(name):
        for seed in range(8):
            save_model_setting(file, f"{name}{seed}", "seed", seed)

    threads = [Thread(target=save, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loaded = load_settings(file, {})
    assert {name: model.seed for name, model in loaded.models.items()} == {
        f"{name}{seed}": seed for name in "abcd" for seed in range(8)
    }


# ---- any file, any value ------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def values_of(setting):
    """Everything a setting allows."""
    if setting.choices:
        return st.sampled_from(setting.choices)
    if setting.pattern:
        return st.sampled_from(["", "30m", "1h30m", "-1m", "1.5h"])
    low, high = setting.minimum, setting.maximum
    return {
        "whole": lambda: st.integers(low, high),
        "number": lambda: st.floats(low, high),
        "text": lambda: TEXT,
        "switch": st.booleans,
        "list": lambda: st.lists(TEXT.filter(bool), max_size=4),
    }[setting.kind]()


CHANGES = st.sampled_from([*SETTINGS.values()]).flatmap(
    lambda setting: st.tuples(st.just(setting.key), values_of(setting))
)
MODEL_CHANGES = st.sampled_from([*MODEL_SETTINGS.values()]).flatmap(
    lambda setting: st.tuples(TEXT.filter(bool), st.just(setting.key), values_of(setting))
)
COMMENT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=12
).map("# ".__add__)
BLANKS = st.lists(COMMENT | st.just(""), max_size=3)
ODD_VALUES = st.sampled_from(
    ["1", "1.5", "nan", "'x # y'", "2024-01-01T00:00:00Z", "true", "[1, [2]] # list"]
) | st.sampled_from(
    ["{a = {b = 1}}", '"""\n# inside\n"""', "[ # open\n  1,\n\n  # more\n]"],
)
KNOWN_LINES = {
    "": ['language = "en" # 语言', "unknown.dotted = 1"],
    "context": ["cap_tokens = 1000  # cap", '"hard_min_tokens"=1', "typo = 1"],
    "models": ["added = [\n  '/a', # one\n  # two\n  '/b'\n]", 'default = "starter"'],
    "chat": ['system_prompt = """\n[context]\n"""'],
    'model."ollama:a.b"': ["seed = 3", "  think = true # yes"],
    "model.starter": ["temperature = 0.5", "stretch = 'auto'"],
}


@st.composite
def files(draw):
    """A valid settings file with comments, unknown keys and odd values, and its comment lines."""
    comments, lines = [], []

    def blank():
        added = draw(BLANKS)
        comments.extend(line for line in added if line)
        lines.extend(added)

    for section in ["", *draw(st.permutations([*KNOWN_LINES][1:]).map(lambda all_: all_[:4]))]:
        blank()
        if section:
            lines.append(f"[{section}]" + draw(st.sampled_from(["", " # header"])))
        for line in draw(st.lists(st.sampled_from(KNOWN_LINES[section]), unique=True)):
            blank()
            lines.append(line)
        if draw(st.booleans()):
            lines.append(f"odd = {draw(ODD_VALUES)}")
        blank()
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    crlf, bom = draw(st.booleans()), draw(st.booleans())
    return ("\ufeff" if bom else "") + (text.replace("\n", "\r\n") if crlf else text), comments


def others(loaded, key):
    return {name: loaded[name] for name in SETTINGS if name != key}, loaded.models


@settings(deadline=None, max_examples=50)
@given(files(), CHANGES)
def test_saving_changes_one_thing(content, change):
    """In any valid file: the value is there afterwards, every comment and every other key too."""
    (text, comments), (key, value) = content, change
    with TemporaryDirectory() as name:
        file = Path(name) / "settings.toml"
        file.write_bytes(text.encode())
        before = load_settings(file, {})
        assume(not before.broken)
        save_setting(file, key, value)
        after = load_settings(file, {})
        lines = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    assert after[key] == (tuple(value) if isinstance(value, list) else value)
    assert others(after, key) == others(before, key)
    assert [p.message for p in after.problems] == [p.message for p in before.problems]
    assert sorted(comments) == sorted(line for line in lines if line in set(comments))


@settings(deadline=None, max_examples=50)
@given(files(), MODEL_CHANGES)
def test_saving_for_a_model_changes_one_thing(content, change):
    """The same for one model's setting, whatever the model is called."""
    (text, comments), (model, key, value) = content, change
    with TemporaryDirectory() as name:
        file = Path(name) / "settings.toml"
        file.write_bytes(text.encode())
        before = load_settings(file, {})
        assume(not before.broken)
        save_model_setting(file, model, key, value)
        after = load_settings(file, {})
        lines = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    assert getattr(after.model(model), key) == value
    assert others(after, "")[0] == others(before, "")[0]
    assert {k: v for k, v in after.models.items() if k != model} == {
        k: v for k, v in before.models.items() if k != model
    }
    assert sorted(comments) == sorted(line for line in lines if line in set(comments))


LINES = st.sampled_from(
    [
        "[context]\n",
        '[model."a"]\n',
        "cap_tokens = 5\n",
        "context.x = 1\n",
        "b = 1\n",
        "seed = 1\n",
    ]
)
TABLES = st.sampled_from(
    ["[a]\n", "[[a]]\n", "[a.b]\n", "[context.a]\n", "[[context]]\n", "# c\n"]
)
MARKS = st.sampled_from([*"\n\n=[]{}\"'.,#\\5中\ufeff", '"""', "\r\n", "[model.", "context"])
FRAGMENTS = LINES | TABLES | MARKS


@settings(deadline=None, max_examples=120)
@given(st.lists(FRAGMENTS, max_size=20).map("".join), CHANGES)
def test_any_file_is_saved_into_or_left_alone(text, change):
    """Whatever is in the file: the value is saved, or one sentence, and the file is as it was."""
    key, value = change
    with TemporaryDirectory() as name:
        file = Path(name) / "settings.toml"
        file.write_bytes(text.encode())
        try:
            save_setting(file, key, value)
        except SettingsUnusable:
            assert file.read_bytes() == text.encode()
        else:
            found = load_settings(file, {})[key]
            assert found == (tuple(value) if isinstance(value, list) else value)


def test_a_secret_that_cannot_be_saved_is_not_repeated(file, write):
    """Wrong, or in a file that cannot be changed line by line: what is said does not hold it."""
    with pytest.raises(SettingsUnusable) as wrong:
        save_setting(file, "ollama.token", "tok-5ecret and more")
    write('ollama.host = "a"\n[ollama.more]\nx = 1\n' * 2)
    with pytest.raises(SettingsUnusable) as broken:
        save_setting(file, "ollama.token", "tok-5ecret")
    assert "5ecret" not in f"{wrong.value} {broken.value}"


def test_a_secret_is_saved_as_it_is(file):
    """In the user's own file, which is for nobody else."""
    save_setting(file, "ollama.token", " tok-5ecret\n")
    assert load_settings(file, {})["ollama.token"] == "tok-5ecret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
