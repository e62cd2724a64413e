"""Controls: what they say in each state, how they are used by mouse and keyboard, the ring."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QEnterEvent, QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.theme import LIGHT, apply_theme, theme_of
from app.theme.controls import (
    Badge,
    Button,
    CheckBox,
    Chip,
    Choice,
    Field,
    IconButton,
    PopupMenu,
    Progress,
    Segmented,
    Switch,
    Tag,
    focus_is_visible,
    install_focus_ring,
    set_focus_ring,
)


@pytest.fixture
def theme(qapp):
    theme = theme_of()
    apply_theme(qapp, theme)
    yield theme
    theme.set_scheme("system")
    theme.set_zoom(1)


@pytest.fixture
def stage(theme, qtbot):
    """A window to put controls into, shown and active."""
    window = QWidget()
    qtbot.addWidget(window)
    window.setLayout(QVBoxLayout())
    window.resize(420, 300)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def put(stage: QWidget, *controls: QWidget) -> None:
    for control in controls:
        stage.layout().addWidget(control)
        control.show()
    QApplication.processEvents()


def picture(widget: QWidget) -> QImage:
    """The widget as it stands in its window."""
    window = widget.window()
    place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
    return window.grab(place).toImage()


def colors(widget: QWidget) -> set[str]:
    """Every colour the widget shows."""
    image = picture(widget)
    return {
        image.pixelColor(x, y).name().upper()
        for x in range(image.width())
        for y in range(image.height())
    }


def fill(widget: QWidget) -> str:
    """The colour just inside the left edge, halfway down: the control's fill."""
    return picture(widget).pixelColor(3, widget.height() // 2).name().upper()


def hover(widget: QWidget, *, inside: bool = True) -> None:
    """Let the pointer enter or leave."""
    if inside:
        at = QPointF(3, 3)
        QApplication.sendEvent(widget, QEnterEvent(at, at, at))
    else:
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    widget.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, inside)


def role(widget: QWidget) -> QAccessible.Role:
    return QAccessible.queryAccessibleInterface(widget).role()


# -- buttons ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rest", "over", "down", "off"),
    [
        ("primary", "accent", "accent_hover", "accent_down", "m_free"),
        ("plain", "raised", "hover", "selected", "raised"),
        ("quiet", "paper", "hover", "selected", "paper"),
        ("danger", "raised", "hover", "selected", "raised"),
    ],
)
def test_a_button_shows_its_state(stage, kind, rest, over, down, off):
    """At rest, under the pointer, pressed and disabled it has the fill of that state."""
    button = Button("Compact now", kind, "fold")
    put(stage, button)
    seen = [fill(button)]
    hover(button)
    seen.append(fill(button))
    button.setDown(True)
    seen.append(fill(button))
    hover(button, inside=False)
    button.setDown(False)
    button.setEnabled(False)
    seen.append(fill(button))
    assert seen == [getattr(LIGHT, name) for name in (rest, over, down, off)]
    assert button.kind == kind


def test_a_checked_button_stays_selected(stage):
    """A toggled one shows that it is on, its icon in the accent."""
    button = Button("Pinned", icon="stop")
    button.setCheckable(True)
    button.setChecked(True)
    put(stage, button)
    assert fill(button) == LIGHT.selected
    assert LIGHT.accent in colors(button)


def test_a_button_is_as_large_as_specified(theme, qtbot):
    """28 px high, 32 when large, wider with an icon, larger with the zoom."""
    small, large = Button("Edit"), Button("Edit", large=True)
    qtbot.addWidget(small)
    qtbot.addWidget(large)
    assert (small.sizeHint().height(), large.sizeHint().height()) == (28, 32)
    bare = small.sizeHint().width()
    small.set_icon("edit")
    assert small.sizeHint().width() == bare + 20
    assert small.minimumSizeHint() == small.sizeHint()
    small.set_icon("")
    small.set_kind("quiet")
    assert small.sizeHint().width() == bare - 8
    theme.set_zoom(2)
    assert large.sizeHint().height() == 64


def test_a_button_answers_mouse_and_keys(stage, qtbot):
    """Click and Space press it, as any button."""
    button = Button("Go")
    put(stage, button)
    with qtbot.waitSignal(button.clicked):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    button.setFocus()
    with qtbot.waitSignal(button.clicked):
        QTest.keyClick(button, Qt.Key.Key_Space)
    assert role(button) == QAccessible.Role.Button


def test_an_icon_button_has_a_name_and_states(stage):
    """32 x 32; its name is read and shown as tooltip; on it is selected and in the accent."""
    button = IconButton("lens", "What the model sees")
    put(stage, button)
    assert button.size() == QSize(32, 32)
    assert (button.accessibleName(), button.toolTip()) == ("What the model sees",) * 2
    assert fill(button) == LIGHT.paper
    hover(button)
    assert fill(button) == LIGHT.hover
    button.setDown(True)
    assert fill(button) == LIGHT.selected
    button.setDown(False)
    button.setCheckable(True)
    button.setChecked(True)
    assert fill(button) == LIGHT.selected
    button.set_icon("stop")
    assert LIGHT.accent in colors(button)
    button.setEnabled(False)
    assert LIGHT.disabled in colors(button)


def test_a_click_on_an_icon_leaves_focus_where_it_was(stage):
    """Who writes and clicks an icon goes on writing."""
    field, button = Field("Message"), IconButton("search", "Find")
    put(stage, field, button)
    field.setFocus()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert field.hasFocus()


# -- chips, badges, tags ---------------------------------------------------------------------


def test_a_chip_elides_what_is_too_long(stage):
    """The words keep within the limit, the whole stays its name; it shrinks to a few letters."""
    chip = Chip("A model with quite a long name", "model", limit=120)
    put(stage, chip)
    assert chip.sizeHint() == QSize(120, 24)
    assert chip.minimumSizeHint().width() == 72
    assert chip.accessibleName() == "A model with quite a long name"
    chip.set_text("R&D")
    assert chip.accessibleName() == "R&D"
    assert chip.sizeHint().width() < 120


def test_a_chip_shows_its_state(stage):
    """Raised, hover, selected while pressed; disabled words when it is off."""
    chip = Chip("16K", chevron=False)
    put(stage, chip)
    seen = [fill(chip)]
    hover(chip)
    seen.append(fill(chip))
    chip.setDown(True)
    seen.append(fill(chip))
    chip.setEnabled(False)
    seen.append(fill(chip))
    assert seen == [LIGHT.raised, LIGHT.hover, LIGHT.selected, LIGHT.raised]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("amber", "amber_bg"), ("red", "red_bg"), ("teal", "selected"), ("plain", "sunken")],
)
def test_a_badge_has_the_tint_of_its_kind(stage, kind, expected):
    """20 px high, never a colour alone: the word is its name."""
    badge = Badge("small window", kind)
    put(stage, badge)
    assert fill(badge) == getattr(LIGHT, expected)
    assert badge.height() == 20
    assert badge.accessibleName() == badge.text == "small window"


def test_a_compact_badge_is_its_icon(stage):
    """In a narrow header the word becomes a tooltip; a badge without icon keeps its word."""
    badge = Badge("blocked", "red")
    put(stage, badge)
    wide = badge.sizeHint().width()
    badge.set_compact(True)
    QApplication.processEvents()
    assert badge.sizeHint() == QSize(24, 20)
    assert badge.toolTip() == "blocked"
    assert LIGHT.red_bg in colors(badge)
    badge.set_state("typed 4,096", "plain", "")
    assert badge.sizeHint().width() > 24
    badge.set_state("blocked", "red")
    badge.set_compact(False)
    assert (badge.sizeHint().width(), badge.toolTip()) == (wide, "")


def test_a_tag_can_be_pressed(stage, qtbot):
    """An exact value, as it is; its fill follows the pointer."""
    tag = Tag("a&b.mbtiles")
    put(stage, tag)
    assert (tag.height(), tag.accessibleName()) == (22, "a&b.mbtiles")
    seen = [fill(tag)]
    hover(tag)
    seen.append(fill(tag))
    tag.setDown(True)
    seen.append(fill(tag))
    tag.setDown(False)
    tag.setEnabled(False)
    assert seen == [LIGHT.sunken, LIGHT.hover, LIGHT.selected]
    tag.setEnabled(True)
    with qtbot.waitSignal(tag.clicked):
        tag.click()


# -- inputs ----------------------------------------------------------------------------------


def test_a_switch_switches(stage, qtbot):
    """Anywhere on it; on is the accent; a screen reader hears a check box."""
    switch = Switch("Compact conversations")
    put(stage, switch)
    assert switch.size() == QSize(36, 20)
    assert LIGHT.control in colors(switch)
    with qtbot.waitSignal(switch.toggled):
        QTest.mouseClick(switch, Qt.MouseButton.LeftButton, pos=QPoint(33, 10))
    hover(switch, inside=False)
    assert fill(switch) == LIGHT.accent
    hover(switch)
    assert fill(switch) == LIGHT.accent_hover
    assert role(switch) == QAccessible.Role.CheckBox
    switch.setEnabled(False)
    assert fill(switch) == LIGHT.m_free
    switch.setChecked(False)
    assert LIGHT.disabled in colors(switch)


def test_a_switch_that_is_off_shows_the_pointer(stage):
    """Its track fills under the pointer."""
    switch = Switch("Motion")
    put(stage, switch)
    hover(switch)
    assert LIGHT.hover in colors(switch)


def test_a_check_box_ticks_with_its_words(stage, qtbot):
    """The words can be clicked too; on and off differ by the mark as well as the colour."""
    box = CheckBox("Do not ask again")
    put(stage, box)
    assert LIGHT.accent not in colors(box)
    with qtbot.waitSignal(box.toggled):
        QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(60, box.height() // 2))
    assert {LIGHT.accent, LIGHT.on_accent} <= colors(box)
    box.setEnabled(False)
    assert LIGHT.m_free in colors(box)
    box.setChecked(False)
    assert LIGHT.disabled in colors(box)
    assert box.minimumSizeHint() == box.sizeHint()
    box.setText("")
    assert box.sizeHint() == QSize(16, 20)


def segmented() -> Segmented:
    parts = (("tell", "Do it and tell me"), ("ask", "Ask first"), ("remind", "Only remind me"))
    return Segmented(parts, "When it is time")


def test_a_segmented_control_tells_what_was_chosen(stage, qtbot):
    """A click and an arrow choose and tell; setting a value does not tell."""
    control = segmented()
    put(stage, control)
    assert (control.value, control.height()) == ("tell", 32)
    with qtbot.assertNotEmitted(control.chosen):
        control.set_value("remind")
    assert control.value == "remind"
    ask = control._parts["ask"]
    with qtbot.waitSignal(control.chosen) as said:
        QTest.mouseClick(ask, Qt.MouseButton.LeftButton, pos=QPoint(ask.width() - 3, 5))
    assert said.args == ["ask"]
    with qtbot.waitSignal(control.chosen) as said:
        QTest.keyClick(ask, Qt.Key.Key_Left)
    assert said.args == ["tell"]
    assert role(ask) == QAccessible.Role.RadioButton


def test_the_chosen_part_is_the_accent(stage):
    """The others are raised, hover under the pointer, selected while pressed."""
    control = segmented()
    put(stage, control)
    tell, ask = control._parts["tell"], control._parts["ask"]
    assert fill(tell) == LIGHT.accent
    assert fill(ask) == LIGHT.raised
    hover(ask)
    assert fill(ask) == LIGHT.hover
    ask.setDown(True)
    assert fill(ask) == LIGHT.selected
    control.setEnabled(False)
    assert fill(tell) == LIGHT.m_free


def test_a_segmented_control_keeps_its_width(stage):
    """Choosing moves nothing, although the chosen words are heavier."""
    control = segmented()
    put(stage, control)
    before = [part.geometry() for part in control._parts.values()]
    control.set_value("ask")
    QApplication.processEvents()
    assert [part.geometry() for part in control._parts.values()] == before


def border(widget: QWidget) -> str:
    return picture(widget).pixelColor(widget.width() // 2, 0).name().upper()


def test_a_field_shows_focus_and_faults_in_its_border(stage):
    """Control at rest, accent with focus, red when wrong, a hairline when it is off."""
    field = Field("Kept for the reply", "20,000", numeric=True)
    put(stage, field, Button("Elsewhere"))
    assert (border(field), field.height()) == (LIGHT.control, 32)
    field.setFocus()
    assert border(field) == LIGHT.accent
    field.set_wrong(True)
    assert field.is_wrong
    assert border(field) == LIGHT.red
    field.set_wrong(False)
    field.setEnabled(False)
    assert border(field) == LIGHT.line
    assert field.accessibleName() == "Kept for the reply"


def test_a_field_with_an_icon_makes_room_for_it(stage):
    """The glass of a search stands left of the words; placeholders have the help's colour."""
    field = Field("Search")
    put(stage, field)
    bare = field.textMargins().left()
    field.set_icon("search")
    assert field.textMargins().left() > bare
    assert field.minimumSizeHint().width() < field.sizeHint().width()
    assert field.palette().placeholderText().color() == QColor(LIGHT.ink3)


def choice() -> Choice:
    box = Choice("Language")
    box.addItems(["English", "简体中文", "R&D"])
    return box


def test_a_choice_opens_a_menu_and_takes_from_it(stage, qtbot):
    """The current item is marked; choosing another tells as a combo box does."""
    box = choice()
    put(stage, box)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton)
    menu = box.findChild(PopupMenu)
    assert [action.isChecked() for action in menu.actions()] == [True, False, False]
    assert menu.actions()[2].text() == "R&&D"
    with qtbot.waitSignals([box.activated, box.textActivated]):
        menu.actions()[1].trigger()
    menu.close()
    box.hidePopup()
    assert box.currentText() == "简体中文"


def test_a_choice_shows_its_state(stage):
    """Raised, hover under the pointer, fainter when it is off; room for its longest item."""
    box = choice()
    put(stage, box)
    assert fill(box) == LIGHT.raised
    hover(box)
    assert fill(box) == LIGHT.hover
    box.setEnabled(False)
    assert border(box) == LIGHT.line
    assert box.sizeHint().width() >= box.minimumSizeHint().width()
    assert Choice("Empty", stage).sizeHint().height() == 32


def test_progress_is_drawn_as_far_as_it_is(stage):
    """Nothing, a part, all; without a range it stays empty."""
    bar = Progress("Fetching")
    put(stage, bar)
    bar.setRange(0, 100)
    shares = []
    for value in (0, 50, 100):
        bar.setValue(value)
        image = bar.grab().toImage()
        row = [image.pixelColor(x, 2).name().upper() for x in range(image.width())]
        shares.append(row.count(LIGHT.accent) / len(row))
    assert shares == pytest.approx([0, 0.5, 1], abs=0.02)
    bar.setRange(0, 0)
    assert LIGHT.accent not in colors(bar)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Button("A"),
        lambda: IconButton("more", "More"),
        lambda: Chip("A"),
        lambda: Badge("A"),
        lambda: Switch("A"),
        lambda: CheckBox("A"),
        segmented,
        lambda: Field("A"),
        choice,
        lambda: Progress("A"),
    ],
)
def test_every_control_follows_the_theme(theme, qtbot, make):
    """It repaints in another scheme and grows with the zoom."""
    control = make()
    qtbot.addWidget(control)
    control.resize(control.sizeHint())
    light, size = colors(control), control.sizeHint()
    theme.set_scheme("dark")
    assert colors(control) != light
    theme.set_zoom(2)
    assert control.sizeHint().height() == 2 * size.height()
    assert control.minimumSizeHint().height() == 2 * size.height() or control.layout()


# -- menus -----------------------------------------------------------------------------------


@pytest.fixture
def menu(theme, qtbot):
    menu = PopupMenu("File")
    qtbot.addWidget(menu)
    yield menu
    menu.close()


def at_row(menu: PopupMenu, number: int) -> str:
    """The colour at the left of a row, where nothing else is painted."""
    row = menu.actionGeometry(menu.actions()[number])
    return menu.grab().toImage().pixelColor(row.left() + 4, row.center().y()).name().upper()


def test_a_menu_marks_the_active_row(menu):
    """The row under the keyboard is selected, a disabled one never."""
    menu.addAction("Rename…").setShortcut(QKeySequence("F2"))
    menu.addSeparator()
    menu.addAction("Hidden").setVisible(False)
    menu.addAction("Off").setEnabled(False)
    menu.popup(QPoint(0, 0))
    assert at_row(menu, 0) == LIGHT.raised
    menu.setActiveAction(menu.actions()[0])
    assert at_row(menu, 0) == LIGHT.selected
    assert at_row(menu, 3) == LIGHT.raised
    assert LIGHT.line in colors(menu)


def test_a_menu_shows_marks_icons_and_submenus(menu, theme):
    """A tick for what is on, also when disabled; else the icon; a chevron where more opens."""
    menu.addAction(theme.icon("stop", "red"), "Stop")
    ticked = menu.addAction("Pin")
    ticked.setCheckable(True)
    ticked.setChecked(True)
    gone = menu.addAction(theme.icon("stop", "red"), "Gone")
    gone.setEnabled(False)
    gone.setShortcut(QKeySequence("Ctrl+G"))
    more = PopupMenu("More", menu)
    menu.addMenu(more)
    menu.popup(QPoint(0, 0))
    seen = colors(menu)
    assert {LIGHT.red, LIGHT.accent, LIGHT.disabled} <= seen
    ticked.setEnabled(False)
    more.menuAction().setEnabled(False)
    assert LIGHT.accent not in colors(menu)


def test_a_menu_taller_than_the_screen_has_columns(menu):
    """Every row can still be seen and reached."""
    for number in range(60):
        menu.addAction(str(number))
    menu.popup(QPoint(0, 0))
    menu.setActiveAction(menu.actions()[-1])
    assert at_row(menu, 59) == LIGHT.selected
    assert menu.rect().contains(menu.actionGeometry(menu.actions()[-1]))


# -- the focus ring --------------------------------------------------------------------------


def test_the_ring_shows_after_tab_and_not_after_a_click(stage):
    """Who uses the mouse never sees it."""
    one, two = Button("One"), Button("Two")
    put(stage, one, two)
    ring = install_focus_ring(stage)
    assert install_focus_ring(stage) is ring
    QTest.mouseClick(one, Qt.MouseButton.LeftButton)
    one.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not ring.isVisible()
    QTest.keyClick(one, Qt.Key.Key_Tab)
    assert two.hasFocus()
    assert ring.isVisible()
    assert ring.target is two
    assert focus_is_visible(two)
    assert not focus_is_visible(one)
    assert ring.geometry() == two.geometry().adjusted(-4, -4, 4, 4)
    assert LIGHT.accent in colors(stage)
    one.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not ring.isVisible()
    one.setFocus(Qt.FocusReason.ShortcutFocusReason)
    two.setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert ring.target is two


def test_the_first_tab_of_a_window_shows_the_ring(stage):
    """Nothing had focus before, so nothing loses it; the key itself tells."""
    button = Button("One")
    put(stage, button)
    if stage.focusWidget() is not None:
        stage.focusWidget().clearFocus()
    ring = install_focus_ring(stage)
    QTest.keyClick(stage, Qt.Key.Key_A)
    assert not ring.isVisible()
    QTest.keyClick(stage, Qt.Key.Key_Tab)
    assert button.hasFocus()
    assert ring.target is button


def test_the_ring_goes_where_its_control_goes(stage):
    """It follows moves, and is gone with what the control lies in."""
    button, box = Button("One"), QWidget()
    put(stage, box)
    button.setParent(box)
    button.show()
    ring = install_focus_ring(stage)
    QTest.keyClick(stage, Qt.Key.Key_Tab)
    for thing in (button, box):
        thing.move(thing.x() + 30, thing.y() + 10)
        place = QRect(button.mapTo(stage, QPoint(0, 0)), button.size())
        assert ring.geometry() == place.adjusted(-4, -4, 4, 4)
    box.hide()
    assert not ring.isVisible()


def test_another_window_takes_the_ring_and_gives_it_back(stage, qtbot):
    """Away: no ring. Back in the window by its activation: as it was left."""
    one, two = Button("One"), Button("Two")
    put(stage, one, two)
    ring = install_focus_ring(stage)
    one.setFocus(Qt.FocusReason.MouseFocusReason)
    two.setFocus(Qt.FocusReason.TabFocusReason)
    other = QWidget()
    qtbot.addWidget(other)
    other.setLayout(QHBoxLayout())
    other.layout().addWidget(QPushButton("There"))
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    other.layout().itemAt(0).widget().setFocus()
    assert not ring.isVisible()
    stage.activateWindow()
    qtbot.waitUntil(lambda: two.hasFocus())
    assert ring.target is two


@pytest.mark.parametrize(
    ("make", "grown"),
    [
        (lambda: IconButton("more", "More"), 0),
        (lambda: QSlider(), 0),
        (lambda: Chip("16K"), 4),
        (lambda: QPushButton("Qt's own"), 4),
    ],
)
def test_the_ring_lies_as_each_control_wants_it(stage, make, grown):
    """Inside icon buttons and what is not a button, outside the rest."""
    control, first = make(), Button("First")
    put(stage, first, control)
    ring = install_focus_ring(stage)
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    control.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.geometry() == control.geometry().adjusted(-grown, -grown, grown, grown)


def test_a_field_needs_no_ring(stage):
    """Its border shows the focus; the ring knows it and stays away."""
    first, field, area = Button("First"), Field("Name"), QScrollArea()
    put(stage, first, field, area)
    ring = install_focus_ring(stage)
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    field.setFocus(Qt.FocusReason.TabFocusReason)
    assert not ring.isVisible()
    assert focus_is_visible(field)
    area.setFocus(Qt.FocusReason.TabFocusReason)
    assert not ring.isVisible()


def test_a_part_of_a_control_can_put_the_ring_around_the_whole(stage):
    """The segmented control gets one ring, whichever part has the focus."""
    first, control = Button("First"), segmented()
    put(stage, first, control)
    ring = install_focus_ring(stage)
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    control._parts["tell"].setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.geometry() == control.geometry().adjusted(-4, -4, 4, 4)


def test_the_ring_is_cut_by_the_area_its_control_scrolls_in(stage):
    """It never lies over what stands beside a scrolled area, and goes when scrolled away."""
    first, area, inner = Button("First"), QScrollArea(), QWidget()
    inner.setFixedSize(300, 900)
    button = Button("Deep", parent=inner)
    button.move(0, 0)
    set_focus_ring(button, "outside", 6)
    area.setWidget(inner)
    put(stage, first, area)
    ring = install_focus_ring(stage)
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    view = area.viewport()
    assert ring.geometry().topLeft() == view.mapTo(stage, QPoint(0, 0))
    area.verticalScrollBar().setValue(600)
    assert not ring.isVisible()


def test_a_window_without_a_ring_has_no_visible_focus(stage):
    """Asking is allowed before the overlay is there."""
    label = QLabel("x", stage)
    assert not focus_is_visible(label)


def test_the_ring_lets_the_mouse_through(stage):
    """It is a picture: never a target, never in the tab order."""
    ring = install_focus_ring(stage)
    assert ring.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    assert ring.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_a_destroyed_control_takes_the_ring_with_it(stage, qtbot):
    """Nothing is drawn around what is gone, and the next control is followed as before."""
    first, box = Button("First"), QWidget()
    button = Button("Passing", parent=box)
    put(stage, first, box)
    ring = install_focus_ring(stage)
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.target is button
    with qtbot.waitSignal(box.destroyed):
        box.deleteLater()
    ring.repaint()
    ring.follow()
    assert ring.target is not button
    first.setFocus(Qt.FocusReason.MouseFocusReason)
    last = Button("Last")
    put(stage, last)
    last.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.geometry() == last.geometry().adjusted(-4, -4, 4, 4)
