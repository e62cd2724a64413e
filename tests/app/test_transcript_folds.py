"""Long code: folded, unfolded in slices, so that no turn of the main thread lays out much."""

from itertools import pairwise

from app.markdown.highlight import COLOURED, lexer_loaded, load_lexer
from app.transcript.folds import SLICE
from tests.app.transcript_room import reply, show, use, user

LINES = 2_000
CODE = "\n".join(f"value_{n} = {n}" for n in range(LINES))
TEXT = f"Before.\n\n```python\n{CODE}\n```\n\nAfter."


def shown_view(qtbot, text=TEXT):
    """A view that ends with a reply of folded code, and the reply's prose."""
    view = show(qtbot, [user("u", "How?"), reply("big", text), user("next", "Thanks.")])
    view.go_to("big")
    return view, view.box(1).prose


def visible_lines(prose):
    """How many lines of the document show."""
    block, count = prose.document.begin(), 0
    while block.isValid():
        count += block.isVisible()
        block = block.next()
    return count


def unfold_all(qtbot, prose):
    """Wait until the view has shown all of it when it had time."""
    qtbot.waitUntil(lambda: not prose.folds.is_growing, timeout=60_000)


def test_a_long_block_is_unfolded_in_slices(qtbot):
    """A click shows the first lines; the rest comes when there is time, so many at once."""
    view, prose = shown_view(qtbot)
    assert prose.folds.shown == 0
    use(view, "big", "show_code:0")
    assert prose.folds.shown == SLICE
    counts = [prose.folds.shown]
    while prose.folds.is_growing:
        prose.work()
        counts.append(prose.folds.shown)
    steps = {after - before for before, after in pairwise(counts)}
    assert max(steps) == SLICE
    assert counts[-1] == LINES - 20


def test_unfolding_ends_with_everything_in_its_place(qtbot):
    """All lines show, the pane holds them, and what follows stands below."""
    view, prose = shown_view(qtbot)
    folded = view.box(1).height
    use(view, "big", "show_code:0")
    unfold_all(qtbot, prose)
    assert visible_lines(prose) >= LINES
    after = prose.caret(prose.document.find("After.").position())
    assert prose.panes[0].box.bottom() + prose.origin.y() <= after.top()
    assert view.box(1).height > folded + 1_900 * 20
    assert not [part for part in view.box(1).parts if part.action.startswith("show_code")]


def test_what_is_read_stays_while_code_grows(qtbot):
    """The top of the reply does not move, also not at the end of the page."""
    view, prose = shown_view(qtbot)
    use(view, "big", "show_code:0")
    top = view.visible_items[1]
    unfold_all(qtbot, prose)
    assert view.visible_items[1] == top
    assert not view.at_end


def test_unfolding_up_to_a_place(qtbot):
    """A hit deep in folded code is shown at once, with the lines above it."""
    view, prose = shown_view(qtbot)
    assert view.find("value_1500 =") == 1
    view.find_next()
    position = prose.document.find("value_1500 =").position()
    assert prose.hidden_code(position) == -1
    assert 1_480 <= prose.folds.shown < LINES - 20


def test_unfolding_what_is_not_folded_changes_nothing(qtbot):
    """A second click, or one on short code."""
    _view, prose = shown_view(qtbot, "```python\nx = 1\n```")
    prose.unfold_code(0)
    assert prose.folds.shown == 0
    assert not prose.folds.is_growing


def test_text_that_is_replaced_while_code_grows(qtbot):
    """The lines that were to come belong to no text any more."""
    view, prose = shown_view(qtbot)
    use(view, "big", "show_code:0")
    prose.set_text("Something else.", is_running=False)
    assert not prose.folds.is_growing
    assert prose.document.toPlainText() == "Something else."


def test_widest_line_is_found_slice_by_slice(qtbot):
    """A long line far down makes the pane scroll once it shows."""
    wide = CODE + "\n" + "x = " + "1 + " * 200 + "1"
    view, prose = shown_view(qtbot, f"```python\n{wide}\n```")
    assert prose.panes[0].slack == 0
    use(view, "big", "show_code:0")
    unfold_all(qtbot, prose)
    assert prose.panes[0].slack > 0


def test_colouring_is_bounded(qtbot):
    """However long the code, so many characters are coloured, a few at a time."""
    _view, prose = shown_view(qtbot)
    job = prose.built.pending[0]
    steps = []
    while not job.is_done:
        steps.append(job.step(2_000))
    assert max(steps) < 2_500
    assert sum(steps) < COLOURED + 3 * 2_500


def test_a_lexer_is_loaded_in_steps():
    """Its module, then its rules: each is a slice of its own."""
    name = "haskell"  # that no other test needs
    assert not lexer_loaded(name)
    load_lexer(name)
    assert not lexer_loaded(name)
    load_lexer(name)
    assert lexer_loaded(name)


def test_a_language_nobody_knows_is_no_work():
    """One step says that there is no lexer."""
    load_lexer("no-such-language")
    assert lexer_loaded("no-such-language")
