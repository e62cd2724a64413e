"""Learning a model's ratio: up at once, down slowly, kept in a file that may be damaged."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SettingsUnusable
from engine.tokens import Calibration, CalibrationBook

ratios = st.floats(0.5, 12.0)
counts = st.integers(64, 1_000_000)


def test_nothing_is_changed_before_anything_is_learned():
    """The ratio is 1."""
    assert Calibration().apply(1000) == 1000


def test_too_small_an_estimate_is_corrected_at_once():
    """1,000 estimated, 2,300 counted: 2.3 from the next prompt on."""
    learned = Calibration().learn(1000, 2300)
    assert learned.ratio == 2.3
    assert learned.apply(1000) == 2300


def test_too_large_an_estimate_is_corrected_by_a_tenth():
    """One step down is at most 10 %; many steps reach the truth."""
    learned = Calibration(2.0).learn(1000, 1000)
    assert learned.ratio == pytest.approx(1.8)
    for _ in range(20):
        learned = learned.learn(1000, 700)
    assert learned.ratio == pytest.approx(0.7)


def test_the_ratio_never_falls_below_a_half():
    """However thrifty the model."""
    learned = Calibration()
    for _ in range(50):
        learned = learned.learn(1000, 1)
    assert learned.ratio == 0.5


def test_an_absurd_count_is_bounded():
    """Something else was counted than was estimated."""
    assert Calibration().learn(100, 10**9).ratio == 12.0


@pytest.mark.parametrize(
    ("estimated", "exact"), [(0, 5), (-1, 5), (1000, 0), (1000, -3), (63, 500)]
)
def test_what_says_nothing_teaches_nothing(estimated, exact):
    """Missing figures, and prompts so small that the template around them is most of it."""
    assert Calibration(1.5).learn(estimated, exact) == Calibration(1.5)


@given(ratios, counts, counts)
def test_one_step(ratio, estimated, exact):
    """Never under the ratio seen (up to the bound), at most a tenth down, never under a half."""
    learned = Calibration(ratio).learn(estimated, exact).ratio
    assert learned >= min(exact / estimated, 12.0)
    assert learned >= max(0.5, ratio * 0.9)
    assert learned <= max(ratio, min(exact / estimated, 12.0))


@given(ratios, counts, counts, counts)
def test_learning_is_monotone(ratio, estimated, exact, more):
    """A larger count never teaches a smaller ratio; nor does a larger ratio before."""
    low, high = sorted((exact, more))
    assert Calibration(ratio).learn(estimated, low).ratio <= (
        Calibration(ratio).learn(estimated, high).ratio
    )
    assert Calibration(0.5).learn(estimated, exact).ratio <= (
        Calibration(ratio).learn(estimated, exact).ratio
    )


@given(ratios, counts, counts)
def test_the_same_figures_settle(ratio, estimated, exact):
    """Shown the same prompt again and again, the ratio arrives and stays."""
    learned = Calibration(ratio)
    for _ in range(40):
        learned = learned.learn(estimated, exact)
    assert learned.ratio == pytest.approx(max(0.5, min(exact / estimated, 12.0)))
    assert learned.learn(estimated, exact) == learned


@given(ratios, st.integers(0, 10**6), st.integers(0, 10**6))
def test_apply_is_monotone_and_rounds_up(ratio, tokens, more):
    """A larger estimate stays the larger one; nothing is lost by rounding."""
    low, high = sorted((tokens, more))
    learned = Calibration(ratio)
    assert learned.apply(low) <= learned.apply(high)
    assert learned.apply(tokens) >= tokens * ratio


# ---- the book ---------------------------------------------------------------------------------


def test_models_are_kept_apart():
    """What one model taught says nothing of another."""
    book = CalibrationBook()
    assert book.learn("ollama:a", 1000, 2000) == Calibration(2.0)
    assert book.of("ollama:a") == Calibration(2.0)
    assert book.of("ollama:b") == Calibration()


def test_a_saved_book_is_read_again(tmp_path):
    """Every model, every ratio; the folder is made, and names may be anything."""
    file = tmp_path / "new" / "calibration.json"
    book = CalibrationBook()
    names = ["ollama:qwen3:4b", "模型", "", "a/b\\c", "\ud800"]
    for number, name in enumerate(names):
        book.learn(name, 1000, 1100 + number)
    book.save(file)
    again = CalibrationBook.load(file)
    assert [again.of(name) for name in names] == [book.of(name) for name in names]


def test_the_file_is_for_its_user_only(tmp_path):
    """Model names are nobody else's business; nothing half written is left beside it."""
    file = tmp_path / "calibration.json"
    book = CalibrationBook({"m": 1.5})
    book.save(file)
    book.save(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_book_that_cannot_be_saved_says_so(tmp_path):
    """The caller decides whether it matters; the old file stays."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsUnusable):
        CalibrationBook({"m": 1.5}).save(tmp_path / "file" / "calibration.json")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"12", b"\xff\xfe", b"[" * 100_000,
        b'{"m": "2"}', b'{"m": null}', b'{"m": true}', b'{"m": NaN}', b'{"m": Infinity}',
        b'{"m": -3}', b'{"m": 0}', b'{"m": 1e300}', b'{"m": [1]}', b'{"m": 1' + b"0" * 5000 + b"}",
    ],
    ids=lambda content: repr(content[:12]),
)  # fmt: skip
def test_garbage_is_read_as_nothing_known(tmp_path, content):
    """A damaged file costs what was learned, never the start."""
    file = tmp_path / "calibration.json"
    file.write_bytes(content)
    assert CalibrationBook.load(file).of("m") == Calibration()


def test_a_missing_file_is_an_empty_book(tmp_path):
    """Nor is a folder in its place a failure."""
    assert CalibrationBook.load(tmp_path / "none.json").of("m") == Calibration()
    assert CalibrationBook.load(tmp_path).of("m") == Calibration()


def test_sound_entries_survive_damaged_ones(tmp_path):
    """One bad ratio costs that model only."""
    file = tmp_path / "calibration.json"
    file.write_text('{"bad": "x", "good": 1.25}')
    book = CalibrationBook.load(file)
    assert (book.of("bad"), book.of("good")) == (Calibration(), Calibration(1.25))


# ---- by content -------------------------------------------------------------------------------


def test_copies_of_a_model_share_what_was_learned():
    """Two names of one content are one tokenizer."""
    book = CalibrationBook()
    book.learn("ollama:a", 1000, 2000, "d1")
    assert book.of("ollama:a") == book.of("ollama:copy", "d1") == Calibration(2.0)


def test_another_model_under_an_old_name_begins_anew():
    """It was fetched again, and is another one."""
    book = CalibrationBook()
    book.learn("ollama:a", 1000, 2000, "d1")
    assert book.of("ollama:a", "d2") == Calibration()
    book.learn("ollama:a", 1000, 1500, "d2")
    assert (book.of("ollama:a"), book.of("x", "d1")) == (Calibration(1.5), Calibration(2.0))


def test_what_was_learned_by_name_goes_on_by_content(tmp_path):
    """A file of an earlier version knows names only."""
    file = tmp_path / "calibration.json"
    file.write_text('{"ollama:a": 2.0}')
    book = CalibrationBook.load(file)
    assert book.of("ollama:a", "d1") == Calibration(2.0)
    book.learn("ollama:a", 1000, 2100, "d1")
    book.save(file)
    again = CalibrationBook.load(file)
    assert again.of("ollama:a") == again.of("other", "d1") == Calibration(2.1)
