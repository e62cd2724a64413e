"""A reply that was not read as it was sent: its receipt warns, asks why, and tells on demand."""

from dataclasses import replace

import pytest

from app.transcript import words
from tests.app.transcript_room import receipt, reply, show, use, user

CUT = receipt(
    sent=6_912,
    sent_kind="estimated",
    read=4_096,
    mismatch="The server read 4,096 of about 6,912 tokens sent. The start was not seen.",
    cure="Update it, or use a smaller window for this model.",
)


@pytest.fixture
def view(qtbot):
    """A question and the reply that did not see it whole."""
    return show(qtbot, [user("q", "And now?"), reply("a", "Something.", receipt=CUT)])


def actions(view):
    return [part.action for part in view.box(1).parts]


def test_it_warns(view):
    """Amber with a warning's icon, and a link at its end."""
    box = view.box(1)
    assert next(label.text for label in box.labels if label.color == "amber").startswith(
        "sent about"
    )
    assert any(picture.icon == "warning" for picture in box.pictures)
    why = next(part for part in box.parts if part.action == "toggle_why")
    assert (why.text, why.is_open) == ("Why?", False)
    assert why.rect.right() <= box.width
    assert "window_truth" not in actions(view)


def test_why(view, qtbot):
    """A card with the reason and what to do; a button leads to the window's truth."""
    height = view.box(1).height
    use(view, "a", "toggle_why")
    box = view.box(1)
    assert box.height > height + 60
    assert any("read 4,096 of about" in label.text for label in box.labels)
    assert any("Update it" in run.document.toPlainText() for run in box.runs)
    view.grab()
    with qtbot.waitSignal(view.action) as told:
        use(view, "a", "window_truth")
    assert told.args == ["a", "window_truth"]
    use(view, "a", "toggle_why")
    assert view.box(1).height == height
    assert "window_truth" not in actions(view)


def test_an_honest_one_asks_nothing(qtbot):
    """As before."""
    view = show(qtbot, [user("q", "And now?"), reply("a", "Something.", receipt=receipt())])
    assert "toggle_why" not in actions(view)
    assert not any(picture.icon == "warning" for picture in view.box(1).pictures)


def test_it_fails_afterwards(view):
    """Another version of the item: the card of the failure takes its place."""
    use(view, "a", "toggle_why")
    item = view.model.items()[1]
    failed = replace(item, state="failed", error="It broke.", remedy="Try again.")
    view.model.set_items([view.model.items()[0], failed])
    box = view.box(1)
    assert any("It broke." in label.text for label in box.labels)
    assert not any("Update it" in run.document.toPlainText() for run in box.runs)


def test_it_is_spoken(view):
    """A screen reader says it with the reply."""
    assert "read 4,096 of about" in words.spoken(view.model.items()[1])
