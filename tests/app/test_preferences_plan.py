"""The preferences without a window: pages, search, what typed text means, effective values."""

import pytest

from app.preferences.effective import kept_words, plan_effective, step_words
from app.preferences.pages import page_of, plan_found, plan_pages
from app.preferences.reading import check, read_text, written
from app.preferences.words import choice_words, help_words, range_words, value_words
from engine.budget import plan_budget, plan_targets
from engine.settings import MODEL_SETTINGS, SETTINGS, Setting

EVERY = [*SETTINGS.values(), *MODEL_SETTINGS.values()]


def bad_texts(setting):
    """What may be typed for a setting and is none of its values."""
    match setting.kind:
        case "whole" | "number":
            beyond = [str(setting.minimum - 1), str(setting.maximum + 1)]
            return ["twelve", "-", "1e5x", *beyond] + ([""] if setting.default is not None else [])
        case "switch":
            return []
    texts = ["no\0thing"]
    if setting.choices or setting.pattern:
        texts += ["no such choice", "30 moons"]
    return texts


# ---- effective values -----------------------------------------------------------------------


def test_floor_raises_and_cap_brings_down():
    """4,096 at 16,384 with the usual floor: raised to 20,000, capped at 8,384, 8,000 left."""
    found = plan_effective(16_384, 4_096, 20_000)
    assert found.steps() == (("typed", 4_096), ("floor", 20_000), ("cap", 8_384))
    assert [step_words(*step) for step in found.steps()] == [
        "typed 4,096",
        "floor raises to 20,000",
        "capped at 8,384",
    ]
    assert found.sentence == (
        "In effect: 8,384, leaving 8,000 for the prompt. Set the floor to 0 to use 4,096 as typed."
    )
    assert found.differs


def test_without_a_floor_it_holds_as_typed():
    """Floor 0: nothing to explain, and the prompt has the rest."""
    found = plan_effective(16_384, 4_096, 0)
    assert (found.differs, found.reserve, found.prompt) == (False, 4_096, 12_288)
    assert found.steps() == (("typed", 4_096),)


def test_no_hint_that_would_not_help():
    """A reserve that is capped in any case is not advised to lower the floor."""
    found = plan_effective(16_384, 12_000, 20_000)
    assert found.sentence == "In effect: 8,384, leaving 8,000 for the prompt."
    assert plan_effective(16_384, 30_000, 0).steps() == (("typed", 30_000), ("cap", 8_384))


def test_floor_that_fits_is_the_last_word():
    """In a large window the floor alone decides."""
    found = plan_effective(100_000, 4_096, 20_000)
    assert found.steps()[-1] == ("floor", 20_000)
    assert (found.reserve, found.prompt) == (20_000, 80_000)


def test_unknown_window_explains_nothing():
    """Before a model was asked there is no figure to tell."""
    found = plan_effective(0, 4_096, 20_000)
    assert not found.differs
    assert kept_words(found, 20_000) == ""


@pytest.mark.parametrize("window", [1, 8_192, 16_000, 16_384, 28_000, 32_768, 200_000])
@pytest.mark.parametrize("typed", [0, 4_096, 20_000, 90_000])
@pytest.mark.parametrize("floor", [0, 20_000])
def test_every_figure_is_the_engines(window, typed, floor):
    """Reserve, prompt and tail are what the engine divides; the last step is what counts."""
    found, budget = plan_effective(window, typed, floor), plan_budget(window, typed, floor)
    assert (found.reserve, found.prompt) == (budget.reserve, budget.prompt)
    assert found.steps()[-1][1] == budget.reserve
    kept = plan_targets(budget, keep_recent=20_000).keep_recent
    assert (f"{kept:,}" in kept_words(found, 20_000)) == (kept != 20_000)


# ---- pages and search -----------------------------------------------------------------------


def test_every_setting_stands_on_exactly_one_page():
    """None is forgotten, none is shown twice, and each has words."""
    shown = [setting.key for page in plan_pages() for setting in page.settings]
    assert sorted(shown) == sorted(setting.key for setting in EVERY)
    assert all(page.title and page.about for page in plan_pages())


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.key)
def test_a_setting_is_found_by_its_words(setting):
    """Title, help, key: all lead to it, in any case; and its page is where it stands."""
    pages = plan_pages()
    for words in (setting.title, setting.title.upper(), setting.key, setting.help):
        assert setting.key in plan_found(words, pages)
    page = next(page for page in pages if setting in page.settings)
    assert page_of(setting) == page.id


def test_every_word_of_a_search_counts():
    """Two words find what has both; nonsense finds nothing."""
    pages = plan_pages()
    assert plan_found("floor switches", pages) == {"compaction.reserve_floor"}
    assert plan_found("floor qqqq", pages) == frozenset()
    assert "ollama.host" in plan_found("ollama address", pages)
    assert "temperature" in plan_found("one model temperature", pages)


def test_a_setting_of_an_unknown_table_is_not_lost():
    """It stands under General until a page is made for it."""
    stray = Setting(key="stray.one", kind="switch", default=True, title="A", help="B")
    assert page_of(stray) == "general"


# ---- typed text -----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.key)
def test_every_setting_rejects_its_bad_values(setting):
    """What it cannot be is no value, and a sentence that names it says what it may be."""
    for text in bad_texts(setting):
        read = read_text(setting, text)
        assert read.value is None, text
        assert setting.title in read.problem


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.key)
def test_what_is_written_is_read_again(setting):
    """A value stands in its field in a form that means the same."""
    values = [v for v in (setting.default, setting.minimum, setting.maximum) if v is not None]
    for value in [value for value in values if not isinstance(value, bool)]:
        assert read_text(setting, written(setting, value)).value == setting.accept(value)


@pytest.mark.parametrize(
    "text", ["20000", "20,000", "20 000", "20\u202f000", "20'000", "20_000", " 20,000 "]
)
def test_figures_may_be_grouped(text):
    """However people part thousands, the figure is the same."""
    assert read_text(SETTINGS["compaction.reserve_tokens"], text).value == 20_000


def test_figures_of_another_language():
    """Where a point parts thousands, a comma is the decimal sign."""
    reserve, warmth = SETTINGS["compaction.reserve_tokens"], MODEL_SETTINGS["temperature"]
    assert read_text(reserve, "20.000", group=".", point=",").value == 20_000
    assert read_text(warmth, "0,7", group=".", point=",").value == 0.7


def test_nothing_typed_means_not_set():
    """For one model an empty field takes the setting away; for all it is a mistake."""
    read = read_text(MODEL_SETTINGS["temperature"], "  ")
    assert (read.value, read.problem) == (None, "")
    assert read_text(SETTINGS["context.cap_tokens"], "").problem


def test_lists_are_one_entry_a_line():
    """Blank lines count for nothing."""
    read = read_text(SETTINGS["models.folders"], "/one\n\n  /two words \n")
    assert read.value == ("/one", "/two words")
    assert written(SETTINGS["models.folders"], read.value) == "/one\n/two words"


def test_a_number_of_a_whole_setting_is_no_number():
    """12.5 tokens are none."""
    assert check(SETTINGS["context.cap_tokens"], 12.5).problem


# ---- words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.key)
def test_every_setting_has_words(setting):
    """Help, default, and a name for each choice."""
    assert help_words(setting).endswith((".", "!"))
    assert range_words(setting).startswith("Default ")
    assert all(choice_words(setting, choice) for choice in setting.choices)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("compaction.enabled", True, "on"),
        ("compaction.enabled", False, "off"),
        ("context.cap_tokens", 32_768, "32,768"),
        ("models.folders", (), "empty"),
        ("models.folders", ("a",), '["a"]'),
        ("appearance.scheme", "dark", "Dark"),
        ("ollama.host", "", "empty"),
        ("ollama.host", "x", '"x"'),
        ("compaction.enabled", None, "not set"),
    ],
)
def test_values_as_people_read_them(key, value, words):
    """Each kind in its own words."""
    assert value_words(SETTINGS[key], value) == words


def test_range_names_bounds_and_the_next_start():
    """What is needed to type a good value stands under the title."""
    assert range_words(SETTINGS["compaction.reserve_tokens"]) == "Default 20,000; 0 to 16,777,216."
    assert range_words(SETTINGS["llamacpp.threads"]).endswith("Holds from the next start on.")
    assert value_words(MODEL_SETTINGS["temperature"], 0.5) == "0.5"
