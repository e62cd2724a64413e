"""What can be used in the transcript: by the pointer, by the keyboard, by a screen reader."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from app.items import ReplyItem, Versions
from app.transcript import accessible
from app.transcript.view import TranscriptView
from tests.app.transcript_room import (
    CODE,
    LONG_LINE,
    RICH,
    click,
    conversation,
    focus,
    full_house,
    mouse,
    part_of,
    place_of,
    reply,
    show,
    tops,
    use,
    user,
    wheel,
)

CONTROL = Qt.KeyboardModifier.ControlModifier


def told_by(signal):
    told = []
    signal.connect(lambda *values: told.append(values if len(values) > 1 else values[0]))
    return told


def clipboard():
    return QGuiApplication.clipboard().text()


@pytest.fixture
def house(qtbot):
    """One item of every kind."""
    return show(qtbot, full_house())


# -- the pointer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("short", "edit"),
        ("rich", "regenerate"),
        ("cut", "continue"),
        ("wrong", "retry"),
        ("wrong", "use_model"),
        ("failed", "retry"),
        ("busy", "stop"),
    ],
)
def test_using_a_part_is_told(house, name, action):
    """A click on a part leaves the view as an action of its item."""
    told = told_by(house.action)
    use(house, name, action)
    assert told == [(name, action)]


def test_version_arrows(qtbot):
    """Arrows only where there is another version."""
    view = show(
        qtbot,
        [
            user("a", "one", versions=Versions(1, 2, "", "x")),
            reply("b", "two", versions=Versions(2, 3, "y", "z")),
        ],
    )
    told = told_by(view.action)
    use(view, "a", "later")
    use(view, "b", "earlier")
    use(view, "b", "later")
    assert told == [("a", "later"), ("b", "earlier"), ("b", "later")]
    assert "earlier" not in [part.action for part in view.box(0).parts]


def test_a_release_elsewhere_does_nothing(house):
    """Pressed and drawn off the part: it was not meant."""
    told = told_by(house.action)
    place = place_of(house, "wrong", "retry")
    mouse(house, "press", place)
    house.grab()
    mouse(house, "drag", place + QPointF(0, 60))
    mouse(house, "release", place + QPointF(0, 60))
    assert told == []
    assert not house.has_selection()


def test_copying_a_message_and_a_value(house):
    """The whole message as its source, a value as it is; the part says so for a while."""
    use(house, "rich", "copy")
    assert clipboard() == RICH
    use(house, "fold", "copy_value:2")
    assert clipboard() == "4 × M6"
    state = house._state(1, part_of(house, "fold", "copy_value:2"))
    assert state.copied
    house.grab()


def test_copied_passes(qtbot, house):
    """The mark goes by itself."""
    house._copied_timer.setInterval(1)
    use(house, "rich", "copy_code:0")
    assert clipboard() == CODE
    house._copied_timer.start(1)
    qtbot.waitUntil(lambda: not house._state(3, part_of(house, "rich", "copy_code:0")).copied)


def test_code_of_a_card_and_of_nothing(qtbot):
    """Cards have code too; what has none gives none."""
    view = show(qtbot, [user("u", "x"), *full_house()[6:7]])
    assert view.box(0).code_text(0) == ""
    view.model.set_items(
        [user("u", "x"), replace(full_house()[6], body="See:\n\n```\nls\n```\n"), reply("r", "")]
    )
    use(view, "note", "copy_code:0")
    assert clipboard() == "ls"
    assert view.box(2).code_text(0) == ""


def test_long_code_shows_all_lines(qtbot):
    """Twenty lines first, then all."""
    code = "\n".join(f"print({k})" for k in range(40))
    view = show(
        qtbot, [reply("a", f"Look:\n\n```python\n{code}\n```\n\nDone.")], size=(1016, 1200)
    )
    before = view.box(0).height
    view.grab()
    use(view, "a", "show_code:0")
    assert view.box(0).height > before + 300
    assert "show_code:0" not in [part.action for part in view.box(0).parts]
    view.model.set_items([reply("a", f"Look:\n\n```python\n{code}\n```\n\nDone, all.")])
    assert "show_code:0" not in [part.action for part in view.box(0).parts]


def test_folding_and_unfolding(house):
    """What is unfolded folds again to the same height."""
    for name, action in (
        ("rich", "toggle_thinking"),
        ("long", "show_all"),
        ("fold", "toggle_card"),
    ):
        index = house.model.index_of(name)
        height = house.box(index).height
        use(house, name, action)
        assert house.box(index).height > height
        use(house, name, action)
        assert house.box(index).height == height


def test_exact_values_beyond_a_row(house):
    """One row of tags, then how many more; unfolded, every value has one."""
    shown = [part.action for part in house.box(1).parts if part.action.startswith("copy_value")]
    assert 3 <= len(shown) < 12
    assert f"{12 - len(shown)} more" in [part.name for part in house.box(1).parts]
    use(house, "fold", "toggle_values")
    tags = [part.action for part in house.box(1).parts if part.action.startswith("copy_value")]
    assert len(tags) == 12


def test_links_are_told_not_opened(house):
    """The target is told while the pointer is on it, and when it is clicked."""
    hovered, activated = told_by(house.hovered), told_by(house.link_activated)
    place = place_of(house, "rich", "link:https://example.org/guide")
    mouse(house, "move", place)
    assert house.viewport().cursor().shape() == Qt.CursorShape.PointingHandCursor
    house.grab()
    click(house, place)
    mouse(house, "move", place + QPointF(120, 0))
    assert hovered == ["https://example.org/guide", ""]
    assert activated == ["https://example.org/guide"]


def test_a_drag_that_begins_beside_a_link_selects(house):
    """Over text the pointer is a beam, elsewhere an arrow."""
    index = house.model.index_of("cut")
    house.scroll_to_item(index, 30)
    rect = house.item_rect(index)
    mouse(house, "move", rect.topLeft() + QPoint(10, 10))
    assert house.viewport().cursor().shape() == Qt.CursorShape.IBeamCursor
    mouse(house, "move", QPointF(3, rect.top() + 3))
    assert house.viewport().cursor().shape() == Qt.CursorShape.ArrowCursor


def test_leaving_hovers_nothing(house):
    """When the pointer leaves, links and shy parts are as before."""
    told = told_by(house.hovered)
    mouse(house, "move", place_of(house, "rich", "link:https://example.org/guide"))
    QApplication.sendEvent(house.viewport(), QEvent(QEvent.Type.Leave))
    assert told[-1] == ""
    assert house._pointer.item == -1


def test_shy_parts_show_on_hover_only(qtbot):
    """The icons of a message appear with the pointer, and no text moves for them."""
    view = show(qtbot, [user("a", "one"), reply("b", "two", receipt=None)])
    before = view.viewport().grab().toImage()
    place = tops(view)
    mouse(view, "move", QPointF(300, view.item_rect(1).top() + 10))
    assert view.viewport().grab().toImage() != before
    assert tops(view) == place
    mouse(view, "move", QPointF(300, 600))
    assert view.viewport().grab().toImage() == before


def test_the_menu_of_a_message(house):
    """More, the right button and the menu key all ask for it, with a place on the screen."""
    told = told_by(house.menu_requested)
    use(house, "rich", "more")
    place = QPointF(house.item_rect(3).center())
    mouse(house, "press", place, button=Qt.MouseButton.RightButton)
    mouse(house, "press", QPointF(500, 5_000), button=Qt.MouseButton.RightButton)
    assert [name for name, _where in told] == ["rich", "rich"]
    assert isinstance(told[0][1], QPoint)


def test_offering_other_actions(house):
    """A window says what it can do; nothing else is shown."""
    house.offer("compaction", ("edit", "undo", "redo", "copy", "show_originals"))
    house.offer("reply", ("copy", "delete", "pin", "branch"))
    house.offer("failed", ("retry", "details", "own"))
    actions = [part.action for part in house.box(1).parts]
    assert {"edit", "undo", "redo", "copy", "show_originals"} <= set(actions)
    assert [part.name for part in house.box(3).parts][-4:] == [
        "Copy",
        "Delete",
        "Pin",
        "Branch from here",
    ]
    assert [part.text for part in house.box(10).parts] == ["Try again", "Details", "own"]


def test_wide_code_scrolls_sideways(qtbot):
    """By the wheel, by Shift and the wheel, and by its bar; the page stays."""
    view = show(qtbot, [reply("a", f"```\n{LONG_LINE}\n```"), *conversation(30)])
    view.scroll_to_item(0, 16)
    pane = view.box(0).runs[0].panes[0]
    inside = pane.inner.center() + QPointF(view.item_rect(0).topLeft())
    place = tops(view)
    wheel(view, sideways=-2, at=inside)
    assert pane.offset == 120
    wheel(view, -1, at=inside, modifiers=Qt.KeyboardModifier.ShiftModifier)
    assert pane.offset == 180
    thumb = pane.thumb(view.theme).center() + QPointF(view.item_rect(0).topLeft())
    mouse(view, "press", thumb)
    mouse(view, "drag", thumb + QPointF(2_000, 0))
    mouse(view, "release", thumb + QPointF(2_000, 0))
    assert pane.offset == pane.slack
    wheel(view, sideways=-1, at=inside)
    wheel(view, sideways=-1, at=QPointF(400, 500))
    wheel(view, sideways=-1, at=QPointF(400, 5_000))
    assert tops(view) == place
    assert not view.has_selection()
    view.grab()


def test_hovering_again_when_the_wheel_rests(qtbot):
    """After scrolling, what came under the pointer is hovered without a move."""
    view = show(qtbot, conversation(60))
    mouse(view, "move", QPointF(400, 300))
    before = view._pointer.item
    wheel(view, 12, at=QPointF(400, 300))
    qtbot.waitUntil(lambda: view._pointer.item not in (-1, before))


# -- the keyboard ----------------------------------------------------------------------------


def test_tab_walks_the_parts_and_leaves(qtbot):
    """Tab enters at the last message in view, walks its parts, then goes on to the next widget."""
    window = QWidget()
    layout = QVBoxLayout(window)
    before, view, after = QLineEdit(), TranscriptView(), QLineEdit()
    for widget in (before, view, after):
        layout.addWidget(widget)
    qtbot.addWidget(window)
    window.resize(900, 700)
    view.model.set_items([user("a", "one"), reply("b", RICH)])
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    before.setFocus()
    hovered = told_by(view.hovered)
    qtbot.keyClick(before, Qt.Key.Key_Tab)
    assert view.focused_part() == (1, -1)
    view.grab()
    seen = []
    for _ in view.box(1).parts:
        qtbot.keyClick(view, Qt.Key.Key_Tab)
        seen.append(view.box(1).parts[view.focused_part()[1]].action)
        view.grab()
    assert seen == [part.action for part in view.box(1).parts]
    assert hovered == ["https://example.org/guide", ""]
    qtbot.keyClick(view, Qt.Key.Key_Backtab)
    assert view.focused_part() == (1, len(seen) - 2)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    assert after.hasFocus()
    assert view.focused_part()[0] == -1


def test_enter_uses_the_focused_part(qtbot, house):
    """Return and space do what a click does; on the message itself, nothing."""
    told = told_by(house.action)
    focus(qtbot, house)
    qtbot.keyClick(house, Qt.Key.Key_Return)
    assert told == []
    qtbot.keyClick(house, Qt.Key.Key_Tab)
    qtbot.keyClick(house, Qt.Key.Key_Return)
    qtbot.keyClick(house, Qt.Key.Key_Tab)
    qtbot.keyClick(house, Qt.Key.Key_Space)
    assert told == [("failed", "retry"), ("failed", "use_model")]


def test_links_by_the_keyboard(qtbot):
    """A link is reached by Tab and entered by Return."""
    view = show(qtbot, [reply("a", "See [it](https://example.org/x).")])
    told = told_by(view.link_activated)
    focus(qtbot, view)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert told == ["https://example.org/x"]


def test_control_and_arrows_walk_the_messages(qtbot):
    """Up from the end, down again; the message comes into view, and the ends hold."""
    view = show(qtbot, conversation(60))
    focus(qtbot, view)
    for _ in range(20):
        qtbot.keyClick(view, Qt.Key.Key_Up, CONTROL)
    item = view.focused_part()[0]
    assert item == 39
    assert item in view.visible_items
    view.scroll_to_item(0, 16)
    view._keys.item = 1
    for _ in range(3):
        qtbot.keyClick(view, Qt.Key.Key_Up, CONTROL)
    assert view.focused_part() == (0, -1)
    qtbot.keyClick(view, Qt.Key.Key_Down, CONTROL)
    assert view.focused_part() == (1, -1)


def test_walking_begins_at_what_is_in_view(qtbot):
    """After a click nothing has the focus: the first step takes what is in view."""
    view = show(qtbot, conversation(60))
    focus(qtbot, view)
    click(view, QPointF(5, 5))
    assert view.focused_part()[0] == -1
    first = min(view.visible_items)
    qtbot.keyClick(view, Qt.Key.Key_Down, CONTROL)
    assert view.focused_part()[0] == first
    click(view, QPointF(5, 5))
    last = max(view.visible_items)
    qtbot.keyClick(view, Qt.Key.Key_Up, CONTROL)
    assert view.focused_part()[0] == last


def test_the_focus_goes_with_its_message(qtbot):
    """Items that come before it do not take its place; the menu key asks for its menu."""
    base = conversation(10)
    view = show(qtbot, base)
    told = told_by(view.menu_requested)
    qtbot.keyClick(view, Qt.Key.Key_Menu)
    focus(qtbot, view)
    view.model.set_items([user("new", "first"), *base])
    assert view.model[view.focused_part()[0]].id == "i9"
    view.model.set_items(base)
    assert view.model[view.focused_part()[0]].id == "i9"
    qtbot.keyClick(view, Qt.Key.Key_Menu)
    assert [name for name, _ in told] == ["i9"]
    view.model.set_items([user("other", "thing")])
    assert view.focused_part()[0] == -1


def test_a_key_that_says_nothing_is_passed_on(qtbot):
    """What the view does not use, its window gets."""
    window_got = []

    class Window(QWidget):
        def keyPressEvent(self, event):
            window_got.append(event.key())

    window = Window()
    qtbot.addWidget(window)
    view = TranscriptView(parent=window)
    qtbot.keyClick(view, Qt.Key.Key_F9)
    assert window_got == [Qt.Key.Key_F9]


def test_a_part_that_went_is_not_used(qtbot):
    """The parts of a message got fewer under the focus: Return and Tab do no harm."""
    view = show(qtbot, [reply("a", "See [it](https://a.example) and [it](https://b.example).")])
    focus(qtbot, view)
    for _ in view.box(0).parts:
        qtbot.keyClick(view, Qt.Key.Key_Tab)
    told = told_by(view.action)
    view.model.set_items([reply("a", "No links.")])
    qtbot.keyClick(view, Qt.Key.Key_Return)
    view.grab()
    assert told == []


# -- screen readers --------------------------------------------------------------------------


def tree(view):
    found = QAccessible.queryAccessibleInterface(view)
    assert isinstance(found, accessible.ListInterface)
    return found


def name_of(thing):
    return thing.text(QAccessible.Text.Name)


def test_a_list_of_who_said_what(house):
    """One child an item, with role and words, laid out or not."""
    items = tree(house)
    assert items.role() == QAccessible.Role.List
    assert items.childCount() == len(house.model)
    roles = [items.child(at).role() for at in range(3)]
    assert roles == [QAccessible.Role.Separator, *[QAccessible.Role.ListItem] * 2]
    assert name_of(items.child(2)) == "You: How thick?"
    assert name_of(items.child(3)).startswith("Tiny 1B: Measure")
    assert (
        name_of(items.child(5))
        == "Tiny 1B: A beginning Cut short at its limit. This much is saved."
    )
    assert name_of(items.child(7)) == "Note: No model.. Choose one."
    assert items.child(99) is None
    assert items.child(2).text(QAccessible.Text.Value) == ""


def test_children_know_their_place(house):
    """Rectangles, parents and indexes agree; the window is the view's."""
    items = tree(house)
    last = len(house.model) - 1
    item = items.child(last)
    assert items.indexOfChild(item) == last
    assert items.indexOfChild(items) == -1
    assert item.parent() is not None
    assert item.window() == house.window().windowHandle()
    centre = item.rect().center()
    assert items.childAt(centre.x(), centre.y()) is item
    assert items.childAt(-50, -50) is None
    assert items.child(0).rect().isEmpty()
    assert items.child(0).state().offscreen
    assert (item.object(), item.childAt(0, 0), item.relations()) == (None, None, [])
    item.setText(QAccessible.Text.Name, "nothing happens")


def test_parts_are_children(house):
    """Buttons, links and folds with their names and states."""
    items = tree(house)
    house.scroll_to_item(3)
    item = items.child(3)
    assert item.childCount() == len(house.box(3).parts)
    parts = {name_of(item.child(at)): item.child(at) for at in range(item.childCount())}
    link = parts["Link the guide, to https://example.org/guide"]
    assert link.role() == QAccessible.Role.Link
    assert parts["Copy code"].role() == QAccessible.Role.Button
    thought = next(part for name, part in parts.items() if name.startswith("Thought for 4 s"))
    assert thought.state().expandable
    assert thought.state().collapsed
    assert item.indexOfChild(link) >= 0
    assert item.indexOfChild(item) == -1
    assert item.child(99) is None
    assert item.rect().contains(parts["Copy code"].rect())
    assert (link.child(0), link.childCount(), link.indexOfChild(item)) == (None, 0, -1)
    assert link.parent() is item
    assert link.window() == house.window().windowHandle()
    assert link.isValid()


def test_what_went_is_no_longer_valid(house):
    """Interfaces that a screen reader still holds say that they are gone."""
    items = tree(house)
    item = items.child(10)
    part = item.child(0)
    assert item.isValid()
    house.model.set_items(full_house()[:9])
    assert not item.isValid()
    assert not part.isValid()
    assert (item.childCount(), name_of(item)) == (0, "")
    house.scroll_to_item(0)
    other = items.child(3).child(len(house.box(3).parts) - 1)
    house.model.set_items([*full_house()[:3], reply("rich", "short")])
    assert not other.isValid()
    assert (name_of(other), other.rect().isEmpty()) == ("", True)
    assert other.role() == QAccessible.Role.Button


def test_the_focused_child(qtbot, house):
    """The list says which item or part has the keyboard's focus."""
    QAccessible.setActive(True)
    try:
        items = tree(house)
        assert items.focusChild() is None
        focus(qtbot, house)
        assert items.focusChild().index == 10
        assert items.focusChild().state().focused
        qtbot.keyClick(house, Qt.Key.Key_Tab)
        assert name_of(items.focusChild()) == "Try again"
        assert items.focusChild().state().focused
    finally:
        QAccessible.setActive(False)


def test_a_finished_reply_is_announced(qtbot):
    """Once, when it is there; not while it grows."""
    base = [user("a", "Hello")]
    live = ReplyItem("live:1", "Good", state="writing")
    view = show(qtbot, [*base, live])
    told = told_by(view.announced)
    view.model.set_items([*base, replace(live, text="Good day")])
    view.model.set_items([*base, replace(live, id="r", text="Good day.", state="done")])
    view.model.set_items([*base, replace(live, id="r", text="Good day!", state="done")])
    view.model.set_items(
        [user("a", "Hello?"), replace(live, id="r", text="Good day!", state="done")]
    )
    assert told == ["Reply complete: Good day."]


def test_the_tree_of_a_view_that_is_gone(qtbot):
    """A screen reader that asks on gets nothing, and no crash."""
    view = TranscriptView()
    view.model.set_items([user("a", "x")])
    items = tree(view)
    item = items.child(0)
    view.close()
    view.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not item.isValid()
