"""Pictures in the whole window: pasted, attached, sent, seen large, and a model that sees none."""

from PySide6.QtCore import QMimeData, QPoint, QSize, QUrl
from PySide6.QtWidgets import QFileDialog, QMenu

from app.client import DraftImages
from app.image_viewer import ImageViewer
from app.items import UserItem
from app.typed import AttachedImage
from engine.testing import ScriptedBackend
from engine.transcript import Image
from tests.app.test_picture_files import a_picture, encoded
from tests.app.window_room import is_done, say


def row(window):
    return window.parts.composer.pictures


def names(window):
    return [one.image.name for one in row(window).images]


def said(window):
    shown = window.parts.notices.shown
    return shown.text if shown is not None else ""


def use(qtbot, window, *, sees):
    """Have the window's model see pictures, or not."""

    async def put(client):
        models = ("test", "blind", "eyes")
        backend = ScriptedBackend(sees_images=sees, models=models)
        client._workplace._backends["scripted"] = backend
        client._models._infos.clear()
        await client.use_model(window._id or None, "scripted:eyes" if sees else "scripted:blind")
        return backend

    got = []
    window._bridge.ask(put, got.append)
    qtbot.waitUntil(lambda: bool(got) and row(window)._sees is sees)
    return got[0]


def paste(window, picture):
    data = QMimeData()
    data.setImageData(picture)
    window.parts.composer._edit.insertFromMimeData(data)


def pictured(window):
    return [i for i in window.items.items() if isinstance(i, UserItem) and i.images]


def send_one(qtbot, window, words="Who?"):
    paste(window, a_picture())
    qtbot.waitUntil(lambda: names(window) == ["Pasted image 1.png"])
    window.parts.composer._edit.setPlainText(words)
    window.do("send")
    qtbot.waitUntil(lambda: is_done(window))
    qtbot.waitUntil(lambda: bool(pictured(window)))
    return pictured(window)[0]


def test_a_pasted_picture_is_sent_and_shown(qtbot, window):
    backend = use(qtbot, window, sees=True)
    item = send_one(qtbot, window)
    assert item.images[0].name == "Pasted image 1.png"
    assert backend.requests[-1].messages[-1].images == (item.images[0].data,)
    assert names(window) == []


def test_attached_and_dropped_pictures_go_along(qtbot, window, tmp_path, monkeypatch):
    """In their order, beside text files."""
    files = []
    for name, data in (
        ("a.png", encoded(a_picture(900, 900), "PNG")),
        ("b.txt", b"words"),
        ("c.jpg", encoded(a_picture(), "JPEG")),
    ):
        (tmp_path / name).write_bytes(data)
        files.append(str(tmp_path / name))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (files[:2], ""))
    window.do("attach")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(files[2])])
    window.parts.composer._edit.insertFromMimeData(data)
    qtbot.waitUntil(lambda: names(window) == ["a.png", "c.jpg"])
    assert [file.name for file in window.parts.composer.attachments()] == ["b.txt"]


def test_a_broken_picture_is_told_in_a_sentence(qtbot, window, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    window._take_files([str(tmp_path / "a.png")])
    qtbot.waitUntil(lambda: "a.png is broken" in said(window))
    assert names(window) == []


def test_each_conversation_keeps_its_own_pictures(qtbot, window):
    """As it keeps its draft."""
    say(qtbot, window, "Once")
    here = window._id
    paste(window, a_picture())
    qtbot.waitUntil(lambda: len(names(window)) == 1)
    with qtbot.waitSignal(window.shown):
        window.open("")
    assert names(window) == []
    with qtbot.waitSignal(window.shown):
        window.open(here)
    assert names(window) == ["Pasted image 1.png"]
    row(window).chips[0].removed.emit()
    with qtbot.waitSignal(window.shown):
        window.open(here)
    assert names(window) == []


def test_a_picture_read_for_another_conversation_is_not_added_to_this_one(qtbot, window):
    window._add_picture("elsewhere", AttachedImage(Image("image/png", "AA")))
    assert names(window) == []


def test_a_model_that_sees_none_is_told_of_and_another_can_be_chosen(qtbot, window):
    """The words are sent; the picture stays in the conversation, marked."""
    backend = use(qtbot, window, sees=False)
    paste(window, a_picture())
    qtbot.waitUntil(lambda: bool(row(window).warning))
    row(window)._choose.click()
    qtbot.waitUntil(window.picker.isVisible)
    window.picker.hide()
    window.do("send")
    qtbot.waitUntil(lambda: "there is no text to send" in said(window))
    window.parts.composer._edit.setPlainText("Hello")
    window.do("send")
    qtbot.waitUntil(lambda: is_done(window))
    qtbot.waitUntil(lambda: bool(pictured(window)))
    assert not any(m.images for r in backend.requests for m in r.messages)
    index = window.items.index_of(pictured(window)[0].id)
    labels = [label.text for label in window.parts.transcript.box(index).labels]
    assert "Not shown to this model" in labels


def test_a_change_of_model_marks_the_pictures_that_were_sent(qtbot, window):
    use(qtbot, window, sees=True)
    item = send_one(qtbot, window)
    assert not window.parts.transcript.desk.is_blind
    use(qtbot, window, sees=False)
    qtbot.waitUntil(lambda: window.parts.transcript.desk.is_blind)
    assert window.items.index_of(item.id) >= 0


def test_pictures_that_are_handed_back_are_chips_again(window):
    """Of the open conversation; those of others are not shown here."""
    one = AttachedImage(Image("image/png", "AA", "a.png", 4, 4))
    window._take(DraftImages("elsewhere", (one,)))
    assert names(window) == []
    window._take(DraftImages("", (one,)))
    assert names(window) == ["a.png"]
    window._take(DraftImages("", ()))
    assert names(window) == []


# ---- those of messages --------------------------------------------------------------------------


def menu_of(qtbot, window, part):
    """The menu of a message, or of one of its pictures."""
    window.parts.transcript.menu_part = part
    item = pictured(window)[0]
    before = set(window.findChildren(QMenu))
    window.parts.transcript.menu_requested.emit(item.id, QPoint(20, 20))
    [menu] = set(window.findChildren(QMenu)) - before
    menu.close()
    return menu


def test_a_picture_is_seen_large(qtbot, window):
    """In a window of its own."""
    use(qtbot, window, sees=True)
    item = send_one(qtbot, window)
    window.parts.transcript.action.emit(item.id, "open_image:0")
    [viewer] = window.findChildren(ImageViewer)
    assert viewer.isVisible()
    assert viewer.image == item.images[0]
    viewer.close()
    window.parts.transcript.action.emit(item.id, "open_image:7")  # there is none
    assert not any(v.isVisible() for v in window.findChildren(ImageViewer))


def test_a_picture_is_copied_and_saved_from_its_menu(qtbot, window, tmp_path, monkeypatch, qapp):
    """A menu of the message has nothing of it."""
    use(qtbot, window, sees=True)
    item = send_one(qtbot, window)
    actions = {a.text(): a for a in menu_of(qtbot, window, "open_image:0").actions()}
    assert list(actions) == ["Open image", "Copy image", "Save image as…"]
    actions["Copy image"].trigger()
    assert qapp.clipboard().image().size() == QSize(40, 30)
    path = tmp_path / "out.png"
    asked = []
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *a: asked.append(a[2]) or (str(path), "")
    )
    actions["Save image as…"].trigger()
    qtbot.waitUntil(lambda: said(window) == f"Saved to {path}")
    assert asked == ["Pasted image 1.png"]
    assert path.stat().st_size == len(item.images[0].data) * 3 // 4 - item.images[0].data.count(
        "="
    )
    assert "Copy image" not in [a.text() for a in menu_of(qtbot, window, "").actions()]
    assert window.parts.transcript.menu_part == ""
