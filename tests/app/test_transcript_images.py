"""Pictures in the conversation: where they stand, how they are drawn, what can be done with them."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor

from app.image_viewer import ImageViewer
from app.pictures import Pictures
from app.theme import theme_of
from app.transcript.heights import estimate
from app.transcript.model import TranscriptModel
from app.transcript.thumbs import plan_thumbs
from app.transcript.view import TranscriptView
from app.transcript.words import spoken
from engine.transcript import Image
from tests.app.test_picture_files import a_picture, encoded
from tests.app.transcript_room import conversation, focus, user


def image(name="cat.png", width=400, height=300, color="#00ff00"):
    data = base64.b64encode(encoded(a_picture(width, height, color), "PNG")).decode()
    return Image("image/png", data, name, width, height)


@pytest.fixture
def view(qtbot):
    made = TranscriptView(theme_of())
    qtbot.addWidget(made)
    made.resize(760, 600)
    made.show()
    qtbot.waitExposed(made)
    return made


def show(view, *items):
    model = TranscriptModel(view)
    model.set_items(items)
    view.set_model(model)
    return view


def color_at(view, index, point):
    """The colour at a point of an item."""
    place = view.item_rect(index).topLeft() + point.toPoint()
    return view.viewport().grab().toImage().pixelColor(place)


# ---- places -------------------------------------------------------------------------------------


def test_one_picture_is_at_most_320_wide_and_ends_at_the_right(view):
    """Over its text, in its own shape."""
    show(view, user("u", "Who?", images=(image(width=1568, height=784),)))
    [(rect, size)] = view.box(0).thumbs
    assert size == QSize(320, 160)
    assert rect.right() == view.box(0).width
    assert view.box(0).bubble.top() > rect.bottom()
    assert view.box(0).height > 160


sizes = st.lists(st.tuples(st.integers(1, 4000), st.integers(1, 4000)), min_size=1, max_size=9)


@given(sizes, st.integers(120, 700))
def test_pictures_never_overlap_and_never_leave_the_column(found, width):
    """Whatever shapes they have; each keeps its own."""
    planned = plan_thumbs(found, width)
    for place, size in zip(planned.places, found, strict=True):
        assert place.left >= -1
        assert place.left + place.width <= width + 1
        assert place.top + place.height <= planned.height
        assert max(place.wide, place.high) <= 320
        if min(place.wide, place.high) > 20:
            assert place.wide / place.high == pytest.approx(size[0] / size[1], rel=0.06)
    for one in planned.places:
        for other in planned.places:
            apart = (
                one.left + one.width <= other.left
                or other.left + other.width <= one.left
                or one.top + one.height <= other.top
                or other.top + other.height <= one.top
            )
            assert one is other or apart


def test_heights_are_known_without_decoding(view):
    """And guessed well before they are laid out."""
    broken = Image("image/png", "AAAA", "x", 640, 480)
    item = user("u", "Who?", images=(broken,))
    show(view, item)
    assert view.box(0).thumbs[0][1] == QSize(320, 240)
    assert abs(estimate(item, 720) - view.box(0).height) < 40
    assert view.desk.pictures.decoded == 0


def test_a_picture_alone_has_no_bubble(qtbot, view):
    """Its actions stand beside it."""
    show(view, user("u", "", images=(image(),)))
    box = view.box(0)
    assert box.height == pytest.approx(240 + 6 + 12, abs=2)
    copy = next(part for part in box.parts if part.action == "copy")
    assert copy.rect.right() < box.thumbs[0][0].left()
    ground = theme_of().color("paper")
    assert color_at(view, 0, box.bubble.bottomRight() + QPointF(-3, -1)) == ground


# ---- painting -----------------------------------------------------------------------------------


def test_a_picture_is_drawn_when_there_was_time_to_decode_it(qtbot, view):
    """Before, its place is quiet; it is decoded once."""
    show(view, user("u", "Who?", images=(image(),)))
    point = view.box(0).thumbs[0][0].bottomRight() - QPointF(20, 20)
    qtbot.waitUntil(lambda: color_at(view, 0, point) == QColor("#00ff00"))
    view.viewport().repaint()
    assert view.desk.pictures.decoded == 1


def test_only_pictures_in_view_are_decoded(qtbot, view):
    """Of a long conversation with a picture in every message."""
    items = [
        user(f"u{n}", "Look", images=(image(f"{n}.png", color=f"#00ff{n:02x}"),))
        for n in range(60)
    ]
    show(view, *items)
    view.scroll_to_end()
    qtbot.waitUntil(lambda: view.desk.pictures.decoded >= 2)
    view.viewport().repaint()
    assert view.desk.pictures.decoded < 12


def test_what_is_kept_of_decoded_pictures_is_bounded(qtbot):
    """What was drawn last stays."""
    pictures = Pictures(most_bytes=3 * 100 * 100 * 4)
    made = [image(str(n), 100, 100, f"#1020{n:02x}") for n in range(8)]
    for one in made:
        assert pictures.pixmap(one, QSize(100, 100)) is None
        with qtbot.waitSignal(pictures.ready):
            pass
    assert pictures.kept_bytes <= 3 * 100 * 100 * 4
    assert pictures.pixmap(made[-1], QSize(100, 100)) is not None
    assert pictures.pixmap(made[0], QSize(100, 100)) is None


def test_a_broken_picture_costs_its_place_and_nothing_else(qtbot, view):
    """It is tried once."""
    show(view, user("u", "Who?", images=(Image("image/png", "no picture", "x.png", 40, 40),)))
    qtbot.waitUntil(lambda: view.desk.pictures.decoded == 1)
    view.viewport().repaint()
    assert view.desk.pictures.pixmap(view.model[0].images[0], QSize(40, 40)).isNull()


def test_what_a_blind_model_does_not_get_is_marked(view):
    """In every message with pictures; gone again with a model that sees them."""
    show(view, user("u", "Who?", images=(image(),)), user("v", "And?"))
    plain = view.box(0).height
    view.set_sight(False)
    assert "Not shown to this model" in [label.text for label in view.box(0).labels]
    assert "Not shown to this model" not in [label.text for label in view.box(1).labels]
    assert view.box(0).height > plain
    for sees in (None, True):
        view.set_sight(sees)
        assert view.box(0).height == plain


# ---- using --------------------------------------------------------------------------------------


def test_a_click_on_a_picture_opens_it(qtbot, view):
    show(view, user("u", "Who?", images=(image(), image("dog.png"))))
    place = view.item_rect(0).topLeft() + view.box(0).thumbs[1][0].center().toPoint()
    with qtbot.waitSignal(view.action) as told:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert told.args == ["u", "open_image:1"]


def test_a_picture_is_reached_and_opened_by_the_keyboard(qtbot, view):
    """Tab from the message; Enter opens."""
    show(view, user("u", "Who?", images=(image(),)))
    focus(qtbot, view)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    with qtbot.waitSignal(view.action) as told:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert told.args == ["u", "open_image:0"]


def test_a_menu_says_which_picture_it_is_for(qtbot, view):
    """By the pointer and by the key; a menu of the message is for none."""
    show(view, user("u", "Who?", images=(image(),)))
    corner = view.item_rect(0).topLeft()
    asked = []
    view.menu_requested.connect(lambda id_, _: asked.append((id_, view.menu_part)))
    for point in (view.box(0).thumbs[0][0].center(), view.box(0).bubble.center()):
        place = corner + point.toPoint()
        qtbot.mousePress(view.viewport(), Qt.MouseButton.RightButton, pos=place)
    focus(qtbot, view)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.keyClick(view, Qt.Key.Key_Menu)
    assert asked == [("u", "open_image:0"), ("u", ""), ("u", "open_image:0")]


def test_a_screen_reader_says_what_pictures_there_are(view):
    """With the message, and each as a button of its own."""
    item = user("u", "Who?", images=(image(), Image("image/png", "AA")))
    assert spoken(item) == "You: Who?. Image cat.png. Image"
    assert spoken(user("u", "", images=(image(),))) == "You: Image cat.png"
    show(view, item)
    shown = QAccessible.queryAccessibleInterface(view).child(0)
    assert shown.child(0).text(QAccessible.Text.Name) == "Image cat.png"
    assert shown.child(0).role() == QAccessible.Role.Button


def test_conversations_without_pictures_are_as_they_were(view):
    """Nothing is decoded, no part is one of a picture."""
    show(view, *conversation(8))
    parts = [part for index in range(8) for part in view.box(index).parts]
    assert not [part for part in parts if part.look == "picture"]
    assert view.desk.pictures.decoded == 0


# ---- the viewer ---------------------------------------------------------------------------------


@pytest.fixture
def viewer(qtbot):
    def make(of):
        made = ImageViewer(of, None)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
        qtbot.addWidget(made)
        made.show()
        qtbot.waitExposed(made)
        return made

    return make


def test_the_viewer_shows_a_picture_in_its_own_size(viewer):
    """Named in its title, and aloud."""
    made = viewer(image(width=500, height=300))
    assert made.windowTitle() == "cat.png"
    assert made.accessibleName() == "Image cat.png, 500 × 300"
    shown = made.grab().toImage()
    assert shown.pixelColor(made.width() // 2 + 240, made.height() // 2) == QColor("#00ff00")
    assert shown.pixelColor(4, 4) == theme_of().color("paper")


def test_the_viewer_copies_and_closes_by_keys(qtbot, viewer, qapp):
    made = viewer(image(width=50, height=30))
    qtbot.keyClick(made, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert qapp.clipboard().image().size() == QSize(50, 30)
    qtbot.keyClick(made, Qt.Key.Key_Escape)
    assert not made.isVisible()


def test_the_viewer_says_that_a_picture_is_broken(viewer, qapp):
    """And copies nothing."""
    made = viewer(Image("image/png", "AAAA", "x.png"))
    qapp.clipboard().setText("before")
    made.copy()
    assert qapp.clipboard().text() == "before"
    ground = theme_of().color("paper")
    shown = made.grab().toImage()
    places = [(x, y) for x in range(0, made.width(), 2) for y in range(0, made.height(), 2)]
    assert any(shown.pixelColor(*place) != ground for place in places)
