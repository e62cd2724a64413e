"""A client's pictures: with drafts, with messages, while they wait, over restarts."""

import asyncio
import json

import pytest

from app.client import ContextFacts, DraftImages, WindowKnown
from app.client.exporting import as_markdown
from app.client.keeping import Keeping
from app.items import UserItem
from app.typed import AttachedImage, Attachment
from engine.errors import EnvironmentFault
from engine.testing import Script
from engine.testing.ollama import MODELS, OllamaDouble
from engine.testing.ollama_rules import Model
from engine.tokens import IMAGE_TOKENS
from engine.transcript import Image, Message
from tests.app.client_room import a_room, an_ollama_room
from tests.app.test_picture_files import a_picture, data_of, encoded

CAT = AttachedImage(Image("image/png", "Y2F0", "cat.png", 64, 48))
DOG = AttachedImage(Image("image/jpeg", "ZG9n", "dog.jpg", 1568, 1045), (4000, 2667))


def run(tmp_path, body, *scripts, **backend):
    async def main():
        async with a_room(tmp_path, *scripts, **backend) as room:
            return await body(room)

    return asyncio.run(main())


def stored(room, id_):
    """The user's messages of a conversation's path."""
    bodies = [entry.body for entry in room.workplace.store.path(id_)]
    return [body for body in bodies if isinstance(body, Message) and body.role == "user"]


def shown(room, id_):
    return [item for item in room.items(id_) if isinstance(item, UserItem)]


async def say(room, text, images, id_=None):
    id_ = await room.client.send(id_, text, "", images)
    await room.rest(id_)
    return id_


# ---- sending ------------------------------------------------------------------------------------


def test_a_message_with_pictures_is_stored_shown_and_sent(tmp_path):
    """As parts of the message, beside the text."""

    async def body(room):
        id_ = await say(room, "Who?", [CAT, DOG])
        assert stored(room, id_)[0].images == (CAT.image, DOG.image)
        assert shown(room, id_)[0].images == (CAT.image, DOG.image)
        assert room.backend.requests[-1].messages[-1].images == ("Y2F0", "ZG9n")

    run(tmp_path, body, sees_images=True)


def test_a_picture_alone_begins_a_conversation_named_after_it(tmp_path):
    async def body(room):
        id_ = await say(room, "", [CAT])
        assert (await room.client.conversations())[0].title == "cat.png"
        assert stored(room, id_)[0].text == ""

    run(tmp_path, body, sees_images=True)


def test_nothing_at_all_is_not_sent(tmp_path):
    async def body(room):
        with pytest.raises(EnvironmentFault, match="it is empty"):
            await room.client.send(None, " ")

    run(tmp_path, body)


def test_a_model_that_sees_none_gets_a_mark_and_the_message_keeps_its_pictures(tmp_path):
    async def body(room):
        id_ = await say(room, "Who?", [CAT])
        last = room.backend.requests[-1].messages[-1]
        assert last.images == ()
        assert last.content == "Who?\n\n[image: cat.png, not shown to this model]"
        assert shown(room, id_)[0].images == (CAT.image,)

    run(tmp_path, body)


def test_answering_again_sends_the_pictures_again(tmp_path):
    async def body(room):
        id_ = await say(room, "Who?", [CAT])
        await room.client.answer(id_)
        await room.rest(id_)
        assert [r.messages[-1].images for r in room.backend.requests] == [("Y2F0",)] * 2

    run(tmp_path, body, sees_images=True)


def test_a_changed_message_keeps_its_pictures(tmp_path):
    """Only its words are written anew; they may be none."""

    async def body(room):
        id_ = await say(room, "Who?", [CAT])
        entry = shown(room, id_)[0].id
        await room.client.edit(id_, entry, "What?")
        await room.rest(id_)
        assert stored(room, id_)[-1].text == "What?"
        assert stored(room, id_)[-1].images == (CAT.image,)
        await room.client.edit(id_, shown(room, id_)[0].id, "")
        await room.rest(id_)
        assert stored(room, id_)[-1].images == (CAT.image,)

    run(tmp_path, body, sees_images=True)


def test_whether_the_model_sees_is_told(tmp_path):
    """When the conversation opens, and when its model is another one."""

    async def body(room):
        await room.client.open(None)
        await room.until(lambda: any(w.sees_images for w in room.of(WindowKnown)))
        id_ = await say(room, "Hi", [])
        assert (await room.client.open(id_)).sees_images is True
        room.backend.sees_images = False
        room.backend.models = ("test", "blind")
        room.told.clear()
        await room.client.use_model(id_, "scripted:blind")
        await room.until(lambda: any(w.sees_images is False for w in room.of(WindowKnown)))

    run(tmp_path, body, sees_images=True)


# ---- waiting ------------------------------------------------------------------------------------


def test_a_message_that_waits_shows_its_pictures_and_is_sent_with_them(tmp_path):
    async def body(room):
        id_ = await room.client.send(None, "first")
        await room.until(lambda: room.backend.requests)
        await room.client.send(id_, "second", "", [CAT])
        assert shown(room, id_)[-1].images == (CAT.image,)
        assert shown(room, id_)[-1].queued
        room.backend.release.set()
        await room.rest(id_)
        assert stored(room, id_)[-1].images == (CAT.image,)

    run(tmp_path, body, Script("One two", hold_after=1), sees_images=True)


def test_a_stop_hands_the_pictures_that_waited_back_to_the_draft(tmp_path):
    async def body(room):
        id_ = await room.client.send(None, "first")
        await room.until(lambda: room.backend.requests)
        await room.client.images.keep(id_, [DOG])
        await room.client.send(id_, "second", "", [CAT])
        assert await room.client.stop(id_) == "second"
        await room.rest(id_)
        [told] = room.of(DraftImages)
        assert [one.image.name for one in told.images] == ["dog.jpg", "cat.png"]
        assert (await room.client.open(id_)).images == told.images

    run(tmp_path, body, Script("One two", hold_after=1), sees_images=True)


def test_a_waiting_message_that_is_taken_away_hands_them_back_too(tmp_path):
    async def body(room):
        id_ = await room.client.send(None, "first")
        await room.until(lambda: room.backend.requests)
        await room.client.send(id_, "second", "", [CAT])
        waiting = shown(room, id_)[-1].id
        assert await room.client.delete_message(id_, waiting) == "second"
        assert (await room.client.open(id_)).images == (AttachedImage(CAT.image),)
        room.backend.release.set()
        await room.rest(id_)

    run(tmp_path, body, Script("One two", hold_after=1), sees_images=True)


def test_a_waiting_message_that_is_changed_keeps_them(tmp_path):
    async def body(room):
        id_ = await room.client.send(None, "first")
        await room.until(lambda: room.backend.requests)
        await room.client.send(id_, "second", "", [CAT])
        await room.client.edit(id_, shown(room, id_)[-1].id, "third")
        room.backend.release.set()
        await room.rest(id_)
        assert stored(room, id_)[-1].text == "third"
        assert stored(room, id_)[-1].images == (CAT.image,)
        assert (await room.client.open(id_)).images == ()

    run(tmp_path, body, Script("One two", hold_after=1), sees_images=True)


def test_a_message_that_is_stopped_before_it_is_sent_keeps_them(tmp_path):
    async def body(room):
        id_ = await room.client.send(None, "Who?", "", [CAT])
        await room.until(lambda: room.client._talks.talk(id_).preparing is not None)
        assert await room.client.stop(id_) == ""
        await room.rest(id_)
        assert stored(room, id_)[-1].images == (CAT.image,)

    run(tmp_path, body, sees_images=True)


def test_pictures_of_a_message_that_is_too_large_come_back_to_the_draft(tmp_path):
    many = [AttachedImage(Image("image/png", f"Y2F0{n:04}", f"{n}.png", 9, 9)) for n in range(30)]

    async def body(room):
        id_ = await say(room, "look", many)
        assert not room.backend.requests
        assert (await room.client.open(id_)).images == tuple(many)
        assert [kept.images for kept in room.of(DraftImages)] == [tuple(many)]

    run(tmp_path, body, sees_images=True)


# ---- drafts -------------------------------------------------------------------------------------


def test_pictures_of_a_draft_are_there_when_the_conversation_is_opened_again(tmp_path):
    """Each conversation has its own, a new one too; what is sent is none any more."""

    async def body(room):
        id_ = await say(room, "Hi", [])
        await room.client.images.keep(id_, [CAT])
        await room.client.images.keep("", [DOG])
        assert (await room.client.open(id_)).images == (CAT,)
        assert (await room.client.open(None)).images == (DOG,)
        await say(room, "Who?", [CAT], id_)
        assert (await room.client.open(id_)).images == ()
        other = await say(room, "And?", [DOG])
        assert (await room.client.open(other)).images == ()
        assert (await room.client.open(None)).images == ()

    run(tmp_path, body, sees_images=True)


def test_pictures_of_a_draft_survive_the_end_of_the_program(tmp_path):
    """With what was told of them; sent ones leave no file behind."""

    async def first(room):
        id_ = await say(room, "Hi", [])
        await room.client.images.keep(id_, [CAT, DOG])
        return id_

    async def second(room, id_):
        assert (await room.client.open(id_)).images == (CAT, DOG)
        await say(room, "Who?", [CAT, DOG], id_)

    id_ = run(tmp_path, first, sees_images=True)
    [folder] = tmp_path.rglob("window-images")
    assert len(list(folder.iterdir())) == 2
    run(tmp_path, lambda room: second(room, id_), sees_images=True)
    assert list(folder.iterdir()) == []


def test_pictures_that_waited_when_the_program_ended_are_in_the_draft(tmp_path):
    file = tmp_path / "window.json"
    keeping = Keeping(file)
    keeping.keep_images("c", [DOG])
    assert keeping.keep_waiting("c", ["Who?"], [CAT.image])
    assert not keeping.keep_waiting("c", ["Who?"], [CAT.image])
    keeping.save()
    again = Keeping(file)
    assert again.drafts["c"] == "Who?"
    assert [one.image for one in again.images["c"]] == [CAT.image, DOG.image]
    again.forget("c")
    again.save()
    assert list(tmp_path.glob("window-images/*")) == []


def test_what_cannot_be_understood_of_kept_pictures_is_left_out(tmp_path):
    """A file that is gone, another name, another kind."""
    file = tmp_path / "window.json"
    keeping = Keeping(file)
    keeping.keep_images("c", [CAT, DOG])
    keeping.save()
    content = json.loads(file.read_text())
    content["images"]["c"][0]["file"] = "../window.json"
    content["images"]["c"].append(3)
    content["images"]["d"] = {"a": 1}
    file.write_text(json.dumps(content))
    assert Keeping(file).images == {"c": (DOG,)}
    for left in tmp_path.glob("window-images/*"):
        left.unlink()
    assert Keeping(file).images == {}


def test_a_draft_counts_its_pictures(tmp_path):
    """In the meter and in what is said of its fit; nothing where they are not sent."""

    async def drafted(room):
        id_ = await say(room, "Hi", [])
        await room.client.open(id_)
        await room.client.images.keep(id_, [CAT])
        await room.until(lambda: room.of(ContextFacts) and room.of(ContextFacts)[-1].draft)
        return (await room.facts(id_)).draft

    assert IMAGE_TOKENS <= run(tmp_path / "a", drafted, sees_images=True) < 2 * IMAGE_TOKENS
    assert 0 < run(tmp_path / "b", drafted) < 60


def test_too_many_pictures_do_not_fit_and_nothing_is_offered_for_words(tmp_path):
    many = [AttachedImage(Image("image/png", f"Y2F0{n:04}", f"{n}", 9, 9)) for n in range(30)]

    async def body(room):
        id_ = await say(room, "Hi", [])
        await room.client.open(id_)
        await room.client.images.keep(id_, many)
        await room.until(
            lambda: (
                room.of(ContextFacts)
                and room.of(ContextFacts)[-1].fit is not None
                and room.of(ContextFacts)[-1].fit.state == "too_large"
            )
        )
        assert await room.client.fitting.offer(id_) is None

    run(tmp_path, body, sees_images=True)


# ---- files --------------------------------------------------------------------------------------


def test_files_are_read_as_what_they_are_in_the_order_they_were_asked_for(tmp_path):
    (tmp_path / "a.png").write_bytes(encoded(a_picture(1500, 1500), "PNG"))
    (tmp_path / "b.txt").write_text("words")
    (tmp_path / "c.zip").write_bytes(b"PK\x03\x04\x00\x00\x00\x01\xff\xfe\x00")

    async def body(room):
        order = []

        async def read(name):
            made = await room.client.read_file(str(tmp_path / name))
            order.append(name)
            return made

        picture, text = await asyncio.gather(read("a.png"), read("b.txt"))
        assert order == ["a.png", "b.txt"]
        assert isinstance(picture, AttachedImage)
        assert isinstance(text, Attachment)
        with pytest.raises(EnvironmentFault, match=r"c\.zip is not a text file\. Text and images"):
            await room.client.read_file(str(tmp_path / "c.zip"))

    run(tmp_path / "p", body)


def test_a_picture_of_the_clipboard_is_prepared(tmp_path):
    async def body(room):
        made = await room.client.images.prepare(a_picture(3000, 10), "Pasted image 1.png")
        assert made.was == (3000, 10)

    run(tmp_path, body)


def test_a_picture_is_saved_as_it_is(tmp_path):
    data = encoded(a_picture(), "PNG")
    (tmp_path / "a.png").write_bytes(data)

    async def body(room):
        picture = await room.client.read_file(str(tmp_path / "a.png"))
        await room.client.images.save(picture.image, str(tmp_path / "out.png"))
        assert (tmp_path / "out.png").read_bytes() == data == data_of(picture.image)
        with pytest.raises(EnvironmentFault, match="cannot be written"):
            await room.client.images.save(picture.image, str(tmp_path / "no" / "out.png"))

    run(tmp_path / "p", body)


def test_a_duplicate_has_the_pictures_and_markdown_names_them(tmp_path):
    async def body(room):
        id_ = await say(room, "Who?", [CAT])
        copy = await room.client.duplicate(id_)
        await room.client.open(copy)
        assert stored(room, copy)[0].images == (CAT.image,)
        text = as_markdown("", shown(room, id_))
        assert text.endswith("Who?\n\n*[Image: cat.png]*\n")
        await room.client.export(id_, str(tmp_path / "a.md"), "markdown")
        assert "cat.png" in (tmp_path / "a.md").read_text()

    run(tmp_path / "p", body, sees_images=True)


# ---- on a server --------------------------------------------------------------------------------

EYES = Model("eyes", capabilities=("completion", "vision"), image_tokens=700)


def on_a_server(tmp_path, body, model):
    with OllamaDouble(models=(*MODELS, EYES)) as server:
        server.always("A cat.")

        async def main():
            async with an_ollama_room(tmp_path, server, model=model) as room:
                await body(room)

        asyncio.run(main())
        return [body for body in server.bodies() if body["messages"]]


def test_a_server_gets_pictures_for_a_model_that_sees(tmp_path):
    """Turn after turn, counted, and no false alarm."""

    async def body(room):
        id_ = await say(room, "Who?", [CAT])
        await say(room, "Sure?", [], id_)
        await say(room, "And this?", [DOG], id_)
        receipts = [item.receipt for item in room.items(id_) if not isinstance(item, UserItem)]
        assert [receipt.mismatch for receipt in receipts] == ["", "", ""]
        assert receipts[0].read > 700

    chats = on_a_server(tmp_path, body, "ollama:eyes")
    assert [[m.get("images") for m in chat["messages"]] for chat in chats] == [
        [["Y2F0"]],
        [["Y2F0"], None, None],
        [["Y2F0"], None, None, None, ["ZG9n"]],
    ]


def test_a_server_gets_none_for_a_model_that_sees_none(tmp_path):
    """The server itself would refuse them; the words are answered."""

    async def body(room):
        id_ = await say(room, "Who?", [CAT])
        assert room.last(id_).text == "A cat."
        assert (await room.client.open(id_)).sees_images is False

    [chat] = on_a_server(tmp_path, body, "ollama:plain")
    assert "images" not in chat["messages"][0]
    assert chat["messages"][0]["content"].endswith("[image: cat.png, not shown to this model]")
