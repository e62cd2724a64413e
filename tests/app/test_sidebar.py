"""The sidebar: its groups, its rows, what the keys and the pointer ask for."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QLocale, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QHoverEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from app.client import ConversationRow, ModelState
from app.conversation_list import (
    LINE,
    ConversationModel,
    group_words,
    spoken_words,
    title_of,
    when_words,
)
from app.grouping import Group, Line, find_hits, group_of, plan_lines, plan_when
from app.labels import Dot, Picture, Words, key_words, paint_progress
from app.sidebar import Sidebar
from app.theme import apply_theme, theme_of

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=ZONE)


def row(id_, title="", days=0.0, **more):
    """A conversation that was touched so many days before NOW."""
    moment = NOW - timedelta(days=days)
    return ConversationRow(
        id_, title or f"Title {id_}", "m", int(moment.timestamp() * 1000), **more
    )


def fresh(id_, title="", minutes=5, **more):
    """A conversation that was touched some minutes before the real now."""
    moment = datetime.now().timestamp() - minutes * 60
    return ConversationRow(id_, title or f"Title {id_}", "m", int(moment * 1000), **more)


def keys_of(lines):
    return [line.group.kind if line.group else line.row.id for line in lines]


# ---- grouping -----------------------------------------------------------------------------------


def test_groups_follow_pins_and_dates():
    """Pinned first, then by day, each group under its head, newest first."""
    rows = [row("old", days=40), row("week", days=3), row("pin", days=90, pinned=True), row("now")]
    rows += [row("yesterday", days=1), row("seven", days=7), row("eight", days=8)]
    assert keys_of(plan_lines(rows, NOW)) == [
        *("pinned", "pin", "today", "now", "yesterday", "yesterday", "week", "week", "seven"),
        *("month", "eight", "month", "old"),
    ]


def test_a_day_begins_at_local_midnight():
    """Five to twelve last night is yesterday, whatever the hours between."""
    late = row("a", days=0)
    late = replace(
        late, updated_at=int(datetime(2026, 11, 17, 23, 55, tzinfo=ZONE).timestamp() * 1000)
    )
    assert group_of(late, NOW).kind == "yesterday"


def test_what_lies_in_the_future_counts_as_today():
    """A clock that was set back makes no new group."""
    assert group_of(row("a", days=-3), NOW).kind == "today"


def test_found_rows_keep_their_order_and_have_no_heads():
    """Search results come best first, not by date."""
    rows = [row("b", days=9), row("a"), row("c", days=2)]
    assert keys_of(plan_lines(rows, NOW, hits=True)) == ["b", "a", "c"]


def test_a_deleted_row_stays_in_its_place():
    """Once with rows that still hold it, once with rows that do not."""
    rows = [row("a"), row("b", days=0.01), row("c", days=0.02)]
    for there in (rows, [rows[0], rows[2]]):
        lines = plan_lines(there, NOW, deleted=[rows[1]])
        assert keys_of(lines) == ["today", "a", "b", "c"]
        assert [line.deleted for line in lines] == [False, False, True, False]


@pytest.mark.parametrize(
    ("days", "kind"),
    [
        (0, "now"),
        (0.1, "time"),
        (1, "time"),
        (6, "weekday"),
        (7, "day"),
        (40, "day"),
        (400, "year"),
    ],
)
def test_how_a_time_is_said(days, kind):
    """The older, the coarser; a weekday never means the one a week ago."""
    assert plan_when(row("a", days=days).updated_at, NOW)[0] == kind


def test_hits_are_found_whatever_their_case():
    """Every word of a search, the longest first where two overlap."""
    assert find_hits("Map of a hiking MAP", "map hik") == ((0, 3), (9, 3), (16, 3))
    assert find_hits("a.b", ".") == ((1, 1),)
    assert find_hits("anything", " ") == ()


# ---- words --------------------------------------------------------------------------------------


@pytest.fixture
def english():
    """Dates as in English, with 24 hours."""
    before = QLocale()
    QLocale.setDefault(QLocale("en_GB"))
    yield
    QLocale.setDefault(before)


@pytest.mark.usefixtures("qapp", "english")
def test_words_of_times_and_groups():
    """What the list says of each kind of time and group."""
    said = [when_words(row("a", days=days).updated_at, NOW) for days in (0, 0.1, 6, 9, 400)]
    assert said == ["now", "13:06", "Thu", "9 Nov", "Oct 2025"]
    kinds = ("pinned", "today", "yesterday", "week")
    heads = [group_words(Group(kind), NOW) for kind in kinds]
    assert heads == ["Pinned", "Today", "Yesterday", "Previous 7 days"]
    months = [NOW.date().replace(day=1), NOW.date().replace(year=2025, day=1)]
    assert [group_words(Group("month", m), NOW) for m in months] == ["November", "November 2025"]


@pytest.mark.usefixtures("qapp", "english")
def test_hours_follow_the_locale():
    """Where people say PM, the list does."""
    QLocale.setDefault(QLocale("en_US"))
    assert when_words(row("a", days=0.1).updated_at, NOW) == "1:06 PM"


@pytest.mark.usefixtures("qapp")
def test_a_screen_reader_hears_every_mark():
    """Pinned, unread, running, snippet; a deleted row says how it comes back."""
    one = row("a", "A\n title", pinned=True, unread=True, running=True, snippet="here")
    said = spoken_words(Line(row=one), NOW)
    assert said == "A title, pinned, unread reply, a reply is being written, now, here"
    assert spoken_words(Line(row=one, deleted=True), NOW).endswith("Enter brings it back")
    assert spoken_words(Line(group=Group("today")), NOW) == "Today"
    assert spoken_words(Line(), NOW) == ""
    assert title_of(replace(one, title=" \n")) == "New conversation"


def test_keys_are_shown_short(monkeypatch):
    """Shift is its arrow, a plus that is a key stays one; macOS has its own signs."""
    monkeypatch.setattr("sys.platform", "linux")
    assert [key_words(k) for k in ("Ctrl+Shift+F", "Ctrl++", "F1")] == ["Ctrl ⇧ F", "Ctrl +", "F1"]
    monkeypatch.setattr("sys.platform", "darwin")
    assert key_words("F1") == "F1"


# ---- model --------------------------------------------------------------------------------------


def test_the_model_keeps_what_is_the_same(qapp):
    """Rows before and after a change are neither removed nor inserted again."""
    model = ConversationModel(qapp)
    rows = [row(name, days=0.01 * n) for n, name in enumerate("abcd")]
    model.set_lines(plan_lines(rows, NOW), NOW)
    seen = []
    model.rowsRemoved.connect(lambda _p, first, last: seen.append(("-", first, last)))
    model.rowsInserted.connect(lambda _p, first, last: seen.append(("+", first, last)))
    model.set_lines(plan_lines([rows[0], rows[2], rows[3]], NOW), NOW)
    model.set_lines(plan_lines([replace(rows[0], title="New"), *rows[2:]], NOW), NOW)
    model.set_lines(plan_lines(rows, NOW), NOW)
    assert seen == [("-", 2, 2), ("+", 2, 2)]
    assert model.row_of("d") == 4
    assert model.row_of("x") == -1
    assert model.rowCount(model.index(0)) == 0
    assert model.data(QModelIndex()) is None
    assert model.flags(QModelIndex()) == Qt.ItemFlag.NoItemFlags


def test_the_model_answers_every_role(qapp):
    """Titles, what is said, tips; heads can be neither chosen nor renamed."""
    model = ConversationModel(qapp)
    model.set_lines(plan_lines([row("a", "Alpha")], NOW), NOW)
    head, first = model.index(0), model.index(1)
    assert (model.data(head), model.data(first)) == ("Today", "Alpha")
    assert model.data(first, Qt.ItemDataRole.AccessibleTextRole) == "Alpha, now"
    assert model.data(first, Qt.ItemDataRole.ToolTipRole).startswith("Alpha\nm · ")
    assert model.data(head, Qt.ItemDataRole.ToolTipRole) is None
    assert not model.flags(head) & Qt.ItemFlag.ItemIsEnabled
    assert model.flags(first) & Qt.ItemFlag.ItemIsEditable
    assert model.data(first, LINE).row.id == "a"


def test_only_another_title_is_told(qapp, qtbot):
    """Blank, the same and a head's: nothing happens."""
    model = ConversationModel(qapp)
    model.set_lines(plan_lines([row("a", "Alpha")], NOW), NOW)
    first = model.index(1)
    for title in ("", "  ", "Alpha"):
        assert not model.setData(first, title)
    assert not model.setData(model.index(0), "Head")
    with qtbot.waitSignal(model.renamed) as told:
        assert model.setData(first, " Beta \n two ")
    assert told.args == ["a", "Beta two"]


# ---- the widget ---------------------------------------------------------------------------------


@pytest.fixture
def sidebar(qtbot, qapp):
    """A sidebar with four conversations, shown."""
    if not qapp.styleSheet():
        apply_theme(qapp, theme_of())
    one = Sidebar()
    qtbot.addWidget(one)
    one.resize(264, 600)
    rows = (
        fresh("a", "Alpha"),
        fresh("b", "Beta", 6),
        fresh("c", "Gamma", 7),
        fresh("p", pinned=True),
    )
    one.set_rows(rows)
    one.show()
    qtbot.waitExposed(one)
    return one


def rect_of(sidebar, id_):
    view = sidebar.list
    return view.visualRect(view.model().index(view.model().row_of(id_)))


def shown(sidebar):
    return [line.row.id for line in sidebar.list.model().lines if line.row]


def test_a_click_opens(sidebar, qtbot):
    """One click on a row is enough."""
    with qtbot.waitSignal(sidebar.chosen) as told:
        qtbot.mouseClick(
            sidebar.list.viewport(), Qt.LeftButton, pos=rect_of(sidebar, "b").center()
        )
    assert told.args == ["b"]


def test_a_click_beside_rows_and_another_button_do_nothing(sidebar, qtbot):
    """Heads, empty room and the right button open nothing."""
    view = sidebar.list.viewport()
    with qtbot.assertNotEmitted(sidebar.chosen):
        qtbot.mouseClick(view, Qt.LeftButton, pos=QPoint(50, 5))
        qtbot.mouseClick(view, Qt.LeftButton, pos=QPoint(50, view.height() - 5))
        qtbot.mouseClick(view, Qt.RightButton, pos=rect_of(sidebar, "a").center())


def test_arrows_move_over_heads_and_enter_opens(sidebar, qtbot):
    """From the pinned one down to the first of today, in one step."""
    sidebar.list.go_to("p")
    qtbot.keyClick(sidebar.list, Qt.Key_Down)
    with qtbot.waitSignal(sidebar.chosen) as told:
        qtbot.keyClick(sidebar.list, Qt.Key_Return)
    assert told.args == ["a"]


def test_up_on_the_first_row_leads_to_the_search(sidebar, qtbot):
    """And Down in the search leads to the first row."""
    sidebar.list.go_to("p")
    qtbot.keyClick(sidebar.list, Qt.Key_Up)
    assert sidebar.focusWidget() is sidebar.search
    qtbot.keyClick(sidebar.search, Qt.Key_Down)
    assert sidebar.focusWidget() is sidebar.list
    assert sidebar.list.line().row.id == "p"
    qtbot.keyClick(sidebar.search, Qt.Key_Up)
    assert sidebar.focusWidget() is sidebar.list


def test_f2_renames_in_place(sidebar, qtbot):
    """A field over the row; Enter tells the new title."""
    sidebar.list.go_to("b")
    qtbot.keyClick(sidebar.list, Qt.Key_F2)
    editor = sidebar.list.viewport().findChild(QLineEdit)
    assert editor.text() == "Beta"
    assert editor.accessibleName()
    editor.setText("Better")
    with qtbot.waitSignal(sidebar.renamed) as told:
        qtbot.keyClick(editor, Qt.Key_Return)
    assert told.args == ["b", "Better"]


def test_the_lists_keys_come_before_the_windows_shortcuts(sidebar):
    """F2 and Delete are of the row that has the keys; others are left to the window."""

    def is_kept(key, modifiers=Qt.KeyboardModifier.NoModifier):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers)
        event.ignore()
        QApplication.sendEvent(sidebar.list, event)
        return event.isAccepted()

    assert is_kept(Qt.Key.Key_F2)
    assert is_kept(Qt.Key.Key_Delete)
    assert not is_kept(Qt.Key.Key_F5)


def test_letters_and_ctrl_are_left_to_qt(sidebar, qtbot):
    """A letter goes to the title that begins with it; Ctrl+Home opens nothing."""
    sidebar.list.go_to("a")
    qtbot.keyClick(sidebar.list, Qt.Key_G)
    assert sidebar.list.line().row.id == "c"
    with qtbot.assertNotEmitted(sidebar.chosen):
        qtbot.keyClick(sidebar.list, Qt.Key_Return, Qt.ControlModifier)


def test_delete_shows_undo_in_place(sidebar, qtbot):
    """The row stays as "Deleted" and is told at once; Enter on it brings it back."""
    sidebar.list.go_to("b")
    with qtbot.waitSignal(sidebar.row_action) as told:
        qtbot.keyClick(sidebar.list, Qt.Key_Delete)
    assert told.args == ["b", "delete"]
    assert sidebar.list.line().deleted
    with qtbot.assertNotEmitted(sidebar.row_action):
        qtbot.keyClick(sidebar.list, Qt.Key_Delete)
    with qtbot.waitSignal(sidebar.row_action) as told:
        qtbot.keyClick(sidebar.list, Qt.Key_Return)
    assert told.args == ["b", "undelete"]
    assert not sidebar.list.line().deleted


def test_only_undo_can_be_clicked_on_a_deleted_row(sidebar, qtbot):
    """A second click that comes too late undoes nothing by accident."""
    sidebar.mark_deleted("b")
    place, view = rect_of(sidebar, "b"), sidebar.list.viewport()
    with qtbot.assertNotEmitted(sidebar.row_action):
        qtbot.mouseClick(view, Qt.LeftButton, pos=QPoint(place.right() - 30, place.center().y()))
    delegate = sidebar.list.itemDelegate()
    undo = delegate.undo_rect(delegate.row_rect(place)).center().toPoint()
    with qtbot.waitSignal(sidebar.row_action) as told:
        qtbot.mouseClick(view, Qt.LeftButton, pos=undo)
    assert told.args == ["b", "undelete"]


def test_a_deleted_row_goes_after_its_time(sidebar, qtbot):
    """It stays while rows come without it, then leaves."""
    sidebar.UNDO_MS = 1
    sidebar.mark_deleted("b")
    sidebar.mark_deleted("b")
    sidebar.mark_deleted("nobody")
    sidebar.set_rows([fresh("a"), fresh("c", minutes=7)])
    assert "b" in shown(sidebar)
    qtbot.waitUntil(lambda: "b" not in shown(sidebar))


def test_a_deleted_row_cannot_be_renamed(sidebar):
    """Nor one that is not there."""
    sidebar.mark_deleted("b")
    for name in ("b", "nobody"):
        sidebar.rename(name)
        assert sidebar.list.viewport().findChild(QLineEdit) is None


def test_the_menu_of_a_row_offers_everything(sidebar, qtbot):
    """Each entry is told by name; renaming opens the field."""
    told = []
    sidebar.row_action.connect(lambda *args: told.append(args))
    menu = sidebar.menu_of("a")
    for action in menu.actions():
        action.trigger()
    assert [name for _, name in told] == [
        *("pin", "duplicate", "export_markdown", "export_jsonl", "delete"),
    ]
    assert "unpin" in [action.data() for action in sidebar.menu_of("p").actions()]
    assert sidebar.menu_of("nobody") is None


def test_the_menu_opens_by_pointer_and_by_key(sidebar, qtbot):
    """Under the pointer, or at the row that has the keys; not on heads or deleted rows."""

    def ask(reason, at):
        event = QContextMenuEvent(reason, at, sidebar.list.viewport().mapToGlobal(at))
        sidebar.list.contextMenuEvent(event)
        menu = QApplication.activePopupWidget()
        if menu is not None:
            menu.close()
        return isinstance(menu, QMenu)

    reasons = QContextMenuEvent.Reason
    assert ask(reasons.Mouse, rect_of(sidebar, "a").center())
    sidebar.list.go_to("c")
    assert ask(reasons.Keyboard, QPoint(1, 1))
    assert not ask(reasons.Mouse, QPoint(20, 5))
    sidebar.mark_deleted("a")
    assert not ask(reasons.Mouse, rect_of(sidebar, "a").center())
    sidebar._on_menu_asked("nobody", QPoint())
    assert QApplication.activePopupWidget() is None


def test_typing_searches_once_it_pauses(sidebar, qtbot):
    """One question for several letters; emptied, it asks for everything at once."""
    asked = []
    sidebar.search_changed.connect(asked.append)
    with qtbot.waitSignal(sidebar.search_changed):
        qtbot.keyClicks(sidebar.search, "map ")
    sidebar.search.clear()
    assert asked == ["map", ""]


def test_enter_in_the_search_opens_the_best(sidebar, qtbot):
    """Without waiting for the pause; nothing when nothing was searched."""
    with qtbot.assertNotEmitted(sidebar.chosen):
        qtbot.keyClick(sidebar.search, Qt.Key_Return)
    sidebar.search.setText("al")
    sidebar.search.tell_now()
    sidebar.set_rows([fresh("a", "Alpha", snippet="an alp")])
    with qtbot.waitSignal(sidebar.chosen) as told:
        qtbot.keyClick(sidebar.search, Qt.Key_Return)
    assert told.args == ["a"]


def test_escape_empties_the_search_and_then_leaves_it(sidebar, qtbot):
    """The window's own Esc (stop) does not hear of either."""
    sidebar.focus_search()
    sidebar.search.setText("x")
    qtbot.keyClick(sidebar.search, Qt.Key_Escape)
    assert sidebar.search.text() == ""
    assert sidebar.focusWidget() is sidebar.search
    qtbot.keyClick(sidebar.search, Qt.Key_Escape)
    assert sidebar.focusWidget() is sidebar.list
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.NoModifier)
    event.ignore()
    QApplication.sendEvent(sidebar.search, event)
    assert event.isAccepted()


def test_empty_states_say_why(sidebar):
    """Nothing yet, and nothing found, are different words."""
    sidebar.set_rows([])
    words = [one.text() for one in sidebar.findChildren(Words) if one.isVisible()]
    assert "Conversations appear here." in words
    assert not sidebar.list.isVisible()
    sidebar.set_rows([], search="contour")
    words = [one.text() for one in sidebar.findChildren(Words) if one.isVisible()]
    assert "Nothing found for “contour”. Folded messages were searched too." in words


def test_found_rows_are_higher(sidebar):
    """Room for a snippet while searching; all rows of a list are alike."""
    px = theme_of().px
    assert rect_of(sidebar, "a").height() == px(32)
    sidebar.set_rows([fresh("a", "Alpha", snippet="a map"), fresh("b")], search="map")
    QApplication.processEvents()
    assert rect_of(sidebar, "a").height() == px(52)


def test_the_current_one_is_marked_and_kept(sidebar):
    """New rows do not move the keys away from it."""
    sidebar.set_current("b")
    rows = (fresh("n", minutes=1), fresh("a", "Alpha"), fresh("b", "Beta", 6))
    sidebar.set_rows(rows)
    assert sidebar.list.line().row.id == "b"
    assert sidebar.list.looks.current == "b"
    sidebar.set_current("")
    assert sidebar.list.looks.current == ""


def test_focus_by_key_finds_a_row(sidebar):
    """The open conversation, or else the first; a click takes the ring away."""
    view = sidebar.list
    view.setCurrentIndex(QModelIndex())
    view.looks.current = "c"
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert (view.line().row.id, view.looks.keyboard) == ("c", True)
    view.clearFocus()
    view.setCurrentIndex(QModelIndex())
    view.looks.current = ""
    view.setFocus(Qt.FocusReason.MouseFocusReason)
    assert (view.line().row.id, view.looks.keyboard) == ("p", False)
    sidebar.set_rows([])
    view.go_to_first()
    assert view.line() is None


def test_buttons_tell(sidebar, qtbot):
    """New conversation, menu and settings."""
    by_name = {one.accessibleName(): one for one in sidebar.findChildren(QWidget)}
    for name, signal in (
        ("New conversation", sidebar.new_requested),
        ("Menu", sidebar.menu_requested),
        ("Settings", sidebar.settings_requested),
    ):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(by_name[name], Qt.LeftButton)


@pytest.mark.parametrize(
    ("title", "state", "words", "color"),
    [
        ("", None, "No model loaded", ""),
        ("SmolLM2", None, "SmolLM2 not loaded", ""),
        ("SmolLM2", ModelState("s", "loaded"), "SmolLM2 loaded", "green"),
        (
            "SmolLM2",
            ModelState("s", "loaded", None, 410_000_000),
            "SmolLM2 loaded · 0.4 GB",
            "green",
        ),
        ("SmolLM2", ModelState("s", "loading"), "Preparing SmolLM2", "m_pins"),
        ("SmolLM2", ModelState("s", "loading", 0.4), "Loading SmolLM2 · 40 %", "m_pins"),
        ("SmolLM2", ModelState("s", "failed"), "SmolLM2 stopped", "red"),
    ],
)
def test_the_foot_says_what_the_model_does(sidebar, title, state, words, color):
    """In words and with a dot."""
    sidebar.set_model_state(title, state)
    assert words in [one.text() for one in sidebar.findChildren(Words)]
    assert sidebar.findChild(Dot).color == color


def test_every_look_paints(sidebar):
    """Unread, running, pinned, current, deleted, hits, hover and keyboard, at two sizes of text."""
    rows = (
        fresh("a", "Alpha map", unread=True, snippet="a map here"),
        fresh("b", "Beta", 6, running=True, pinned=True),
        fresh("c", "Gamma " * 30, 7),
        fresh("d", "", 8),
    )
    sidebar.set_current("a")
    sidebar.mark_deleted("c")
    plain = []
    for search in ("", "map"):
        sidebar.set_rows(rows, search=search)
        sidebar.list.setFocus(Qt.FocusReason.TabFocusReason)
        for zoom in (1.5, 1.0):
            theme_of().set_zoom(zoom)
            plain.append(sidebar.grab().toImage())
    assert all(a != b for a, b in pairwise(plain))


def test_only_what_is_seen_is_painted(sidebar):
    """5,000 rows cost as many paints as 50, at first and for each step of the wheel."""

    def count(number):
        sidebar.set_rows([fresh(str(n), minutes=n * 7) for n in range(number)])
        sidebar.grab()
        before = sidebar.list.painted
        for step in range(20):
            sidebar.list.verticalScrollBar().setValue(step * 32)
            QApplication.processEvents()
        sidebar.grab()
        return sidebar.list.painted - before

    few = count(60)
    assert 0 < count(5_000) <= few * 2


def test_a_long_list_opens_its_lines_without_asking_each(sidebar):
    """One height for all: the delegate is asked for the size of a few, not of 5,000."""
    asked = []
    delegate = sidebar.list.itemDelegate()
    ask = delegate.sizeHint
    delegate.sizeHint = lambda *args: asked.append(1) or ask(*args)
    sidebar.set_rows([fresh(str(n), minutes=n * 7) for n in range(5_000)])
    sidebar.grab()
    assert 0 < len(asked) < 50


def test_the_minute_brings_new_words(sidebar, qtbot):
    """The list is planned anew from time to time, so that "now" and "Today" stay true."""
    before = sidebar.list.model().now
    sidebar._refresh()
    assert sidebar.list.model().now > before


def test_every_control_has_a_name(sidebar):
    """What the keys can reach says what it is."""
    for one in sidebar.findChildren(QWidget):
        if one.focusPolicy() != Qt.FocusPolicy.NoFocus:
            assert one.accessibleName(), one


def test_words_are_elided_with_the_whole_in_the_tip(qtbot, sidebar):
    """A label that is too narrow says the rest when pointed at; disabled ones are grey."""
    label = Words("A rather long title that has no room", "interface", "ink", sidebar)
    label.resize(60, 20)
    label.grab()
    assert label.toolTip() == label.text()
    label.resize(label.sizeHint())
    label.set_role("small")
    label.grab()
    assert label.toolTip() == ""
    with_color = label.grab().toImage()
    label.set_color("red")
    assert label.grab().toImage() != with_color
    label.setEnabled(False)
    assert label.grab().toImage() != with_color


def test_wrapped_words_need_the_lines_they_need(sidebar):
    """Twice as narrow is more lines, each of the role's height."""
    label = Words("word " * 30, "interface", "ink", sidebar, wrap=True)
    line = theme_of().line_height("interface")
    wide, narrow = label.heightForWidth(600), label.heightForWidth(200)
    assert wide % line == 0
    assert narrow > wide
    assert label.minimumSizeHint().width() < 100
    label.resize(200, narrow)
    label.grab()


def test_ground_of_the_list_follows_every_change_of_the_theme(sidebar):
    """The list has the ground of the sidebar in both themes, there and back."""
    viewport = sidebar.list.viewport()
    for scheme in ("dark", "light", "dark"):
        theme_of().set_scheme(scheme)
        side = theme_of().color("side")
        assert viewport.palette().color(viewport.backgroundRole()) == side
    theme_of().set_scheme("system")


def test_the_mark_has_its_own_drawing_in_the_dark(sidebar):
    """The ring of the light one would drown there."""
    mark = Picture("app-icon", "ink", 22, sidebar, "Porthole")
    theme_of().set_scheme("light")
    light = mark.grab().toImage()
    theme_of().set_scheme("dark")
    try:
        assert mark.grab().toImage() != light
    finally:
        theme_of().set_scheme("system")
    icon = Picture("info", "ink", 22, sidebar)
    before = icon.grab().toImage()
    icon.set_color("red")
    assert icon.grab().toImage() != before


def test_the_row_under_the_pointer_is_lit(sidebar, qtbot):
    """Only while the pointer is on it."""
    view = sidebar.list.viewport()
    plain = view.grab().toImage()
    place = QPointF(rect_of(sidebar, "b").center())
    QApplication.sendEvent(view, QHoverEvent(QEvent.Type.HoverMove, place, place, QPointF()))
    assert view.grab().toImage() != plain
    assert sidebar.sizeHint().width() == theme_of().px(264)


def test_a_bar_without_progress_is_a_track(sidebar):
    """A share of nothing paints no end, and one above all paints no more than all."""
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QImage, QPainter

    def image(share):
        picture = QImage(40, 8, QImage.Format.Format_ARGB32)
        picture.fill(0)
        painter = QPainter(picture)
        paint_progress(painter, QRectF(0, 0, 40, 8), share)
        painter.end()
        return picture

    assert image(0) == image(-1)
    assert image(1) == image(2)
    assert image(0) != image(0.5) != image(1)
