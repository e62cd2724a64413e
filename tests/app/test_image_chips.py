"""Pictures in the composer: chips, pasting, dropping, what is sent, what a blind model means."""

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton

from app.composer_dock import ComposerDock
from app.picture_files import prepare_picture
from app.theme import theme_of
from app.typed import AttachedImage, Attachment
from engine.transcript import Image
from tests.app.test_picture_files import a_picture


def attached(name="cat.png", color="#2a7", size=(60, 40)):
    return prepare_picture(a_picture(*size, color), name)


@pytest.fixture
def composer(qtbot):
    dock = ComposerDock()
    qtbot.addWidget(dock)
    dock.resize(760, 400)
    dock.show()
    qtbot.waitExposed(dock)
    return dock.composer


def names(composer):
    return [one.image.name for one in composer.pictures.images]


def test_a_picture_alone_can_be_sent(qtbot, composer):
    """With no word typed; the chips are gone then."""
    one = attached()
    composer.pictures.add(one)
    assert composer._button.isEnabled()
    told = []
    composer.images_changed.connect(told.append)
    with qtbot.waitSignal(composer.submitted_with) as sent:
        composer.send()
    assert sent.args == ["", (one,)]
    assert composer.pictures.images == ()
    assert told == [()]
    assert not composer._button.isEnabled()


def test_text_files_and_pictures_go_together(qtbot, composer):
    composer.set_text("Look.")
    composer.add_attachment(Attachment.of("a.txt", "words"))
    composer.pictures.add(attached())
    with qtbot.waitSignal(composer.submitted_with) as sent:
        composer.send()
    assert sent.args[0].startswith("Look.\n\na.txt:")
    assert len(sent.args[1]) == 1
    assert composer.text() == ""


def test_without_pictures_all_is_as_ever(qtbot, composer):
    composer.set_text("Look.")
    with (
        qtbot.assertNotEmitted(composer.submitted_with),
        qtbot.waitSignal(composer.submitted) as sent,
    ):
        composer.send()
    assert sent.args == ["Look."]


def test_the_same_picture_is_there_once(composer):
    composer.pictures.add(attached())
    composer.pictures.add(attached("copy of it.png"))
    composer.pictures.add(attached("dog.png", "#123"))
    assert names(composer) == ["cat.png", "dog.png"]


def test_a_chip_is_taken_away_by_its_cross(qtbot, composer):
    """What is left is told, and one goes on writing."""
    for name, color in (("a", "#111"), ("b", "#222"), ("c", "#333")):
        composer.pictures.add(attached(name, color))
    cross = composer.pictures.chips[1].findChild(QAbstractButton)
    assert cross.accessibleName() == "Remove b"
    assert cross.focusPolicy() & Qt.FocusPolicy.TabFocus
    with qtbot.waitSignal(composer.images_changed) as told:
        cross.click()
    assert [one.image.name for one in told.args[0]] == ["a", "c"] == names(composer)
    assert composer._edit.hasFocus()


def test_a_chip_says_what_it_is(composer):
    """Its size and weight; what was made of it where that is something else."""
    composer.pictures.set_images(
        [
            attached(),
            attached("big.png", size=(3136, 100)),
            AttachedImage(Image("image/png", "AA", "dance.gif", 2, 2), frames=24),
        ]
    )
    assert [chip.facts() for chip in composer.pictures.chips] == [
        "60 × 40 · about 1,200 tokens",
        "Made smaller: 3,136 × 100 → 1,568 × 50",
        "2 × 2 · the first of 24 pictures",
    ]
    said = composer.pictures.chips[0].accessibleName()
    assert said == "Image cat.png, 60 × 40 · about 1,200 tokens"


def test_many_chips_stand_in_lines(composer):
    """The composer grows by them, and shrinks when they are gone."""
    before = composer.height()
    composer.pictures.set_images([attached(f"{n}.png", f"#12{n}") for n in range(7)])
    row = composer.pictures
    assert all(row.rect().contains(chip.geometry()) for chip in row.chips)
    assert len({chip.y() for chip in row.chips}) > 1
    assert composer.height() > before + 2 * theme_of().px(50)
    row.set_images(())
    assert composer.height() == before
    assert row.isHidden()


def test_a_chip_shows_its_picture_when_it_is_decoded(qtbot, composer):
    """Until then its place is quiet; afterwards the colours of the picture are there."""
    composer.pictures.add(attached(color="#00ff00", size=(400, 400)))
    chip = composer.pictures.chips[0]

    def greens():
        picture = chip.grab().toImage()
        place = picture.width() * 26 // chip.width(), picture.height() * 40 // chip.height()
        return picture.pixelColor(*place).green()

    qtbot.waitUntil(lambda: greens() > 200)


# ---- a model without eyes -----------------------------------------------------------------------


def test_a_model_that_sees_none_is_told_at_the_chips(qtbot, composer):
    """What it means and what to do; the text can be sent all the same, pictures kept with it."""
    composer.pictures.set_sight(False)
    assert composer.pictures.warning == ""
    composer.pictures.add(attached())
    assert composer.pictures.chips[0].facts() == "Will not be sent"
    assert composer.pictures.warning == (
        "This model cannot see images. Choose a model that can, or only the text is sent."
    )
    composer._edit.setPlainText("Hello")
    with qtbot.waitSignal(composer.submitted_with) as sent:
        composer.send()
    assert sent.args[0] == "Hello"
    assert len(sent.args[1]) == 1


def test_the_line_leads_to_another_model(qtbot, composer):
    composer.pictures.set_sight(False)
    composer.pictures.add(attached())
    button = composer.pictures._choose
    assert button.isVisible()
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    with qtbot.waitSignal(composer.pictures.model_requested):
        button.click()


def test_pictures_alone_are_not_sent_to_a_model_that_sees_none(qtbot, composer):
    """It is said why, and they stay."""
    composer.pictures.set_sight(False)
    composer.pictures.add(attached())
    with (
        qtbot.assertNotEmitted(composer.submitted_with),
        qtbot.waitSignal(composer.refused) as said,
    ):
        composer.send()
    assert said.args[0].startswith("This model cannot see images, and there is no text to send.")
    assert names(composer) == ["cat.png"]


@pytest.mark.parametrize("sees", [True, None])
def test_of_a_model_that_sees_or_may_see_nothing_is_said(composer, sees):
    composer.pictures.set_sight(False)
    composer.pictures.add(attached())
    tall = composer.height()
    composer.pictures.set_sight(sees)
    assert composer.pictures.warning == ""
    assert "tokens" in composer.pictures.chips[0].facts()
    assert composer.height() < tall
    assert not composer.pictures._warning.isVisible()


# ---- pasting and dropping -----------------------------------------------------------------------


def pasted(composer, **parts):
    data = QMimeData()
    if "image" in parts:
        data.setImageData(parts["image"])
    if "text" in parts:
        data.setText(parts["text"])
    if "html" in parts:
        data.setHtml(parts["html"])
    if "files" in parts:
        data.setUrls([QUrl.fromLocalFile(path) for path in parts["files"]])
    assert composer._edit.canInsertFromMimeData(data)
    composer._edit.insertFromMimeData(data)


def test_a_pasted_picture_is_told(qtbot, composer):
    """As it comes from a screen shot, or from a page that was copied."""
    for more in ({}, {"html": "<img src='https://example.org/a.png'>"}):
        with qtbot.waitSignal(composer.image_pasted) as told:
            pasted(composer, image=a_picture(), **more)
        assert isinstance(told.args[0], QImage)
        assert told.args[0].width() == 40
        assert composer.text() == ""


def test_what_is_text_too_is_pasted_as_text(qtbot, composer):
    """Cells of a table come as both."""
    with qtbot.assertNotEmitted(composer.image_pasted):
        pasted(composer, image=a_picture(), text="1\t2")
    assert composer.text() == "1\t2"


def test_a_copied_file_is_a_file(qtbot, composer):
    """Not the picture of it that some file managers add."""
    with (
        qtbot.assertNotEmitted(composer.image_pasted),
        qtbot.waitSignal(composer.files_dropped) as told,
    ):
        pasted(composer, image=a_picture(), files=["/a/cat.png"])
    assert told.args == [["/a/cat.png"]]
