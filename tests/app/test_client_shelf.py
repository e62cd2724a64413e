"""The list of conversations: searched, pinned, renamed, copied, exported, deleted, drafts."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.client import Failed, RowsChanged
from app.client.exporting import as_markdown
from app.client.keeping import Keeping
from app.client.shelf import TITLE_CHARACTERS, snippet_of, title_of
from app.items import CardItem, DayItem, ReplyItem, UserItem
from engine.errors import EnvironmentFault
from engine.testing import Script, conversation
from tests.app.client_room import a_room
from tests.app.test_client import run


def names(rows):
    return [row.title for row in rows]


# ---- the list -----------------------------------------------------------------------------------


def test_the_last_changed_comes_first(tmp_path):
    """With what the list shows of each."""

    async def body(room):
        for title in ("one", "two", "three"):
            conversation(room.workplace.store, "q", "a", title=title)
        return await room.client.conversations()

    assert names(run(tmp_path, body)) == ["three", "two", "one"]


def test_search_looks_into_titles_and_texts(tmp_path):
    """Titles first; a snippet around the words; each conversation once."""

    async def body(room):
        store = room.workplace.store
        conversation(store, "We measured every contour line of the sheet.", "Contour!", title="A")
        conversation(store, "nothing", title="Contour lines")
        conversation(store, "nothing", title="Other")
        return await room.client.conversations("CONTOUR lin")

    titled, found = run(tmp_path, body)
    assert (titled.title, titled.snippet) == ("Contour lines", "")
    assert (found.title, found.snippet) == ("A", "…every contour line of the sheet.")


def test_blank_search_is_none(tmp_path):
    """All of them."""

    async def body(room):
        conversation(room.workplace.store, "q", title="one")
        return await room.client.conversations("  ")

    assert names(run(tmp_path, body)) == ["one"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello there", "Hello there"),
        ("## A *bold* plan:\nfirst this", "A *bold* plan"),
        ("- one\n- two", "one"),
        ("```python\nprint()\n```", "python"),
        ("\n\n  地图是什么？\n", "地图是什么？"),
        ("???", "???"),
        ("word " * 40, ("word " * 12)[: TITLE_CHARACTERS - 1].rstrip() + "…"),
    ],
)
def test_title_from_the_first_words(text, title):
    """One line, without the marks of headings and lists."""
    assert title_of(text) == title


@given(st.text(min_size=1).filter(str.strip))
def test_every_message_makes_a_title(text):
    """Short, on one line, not blank."""
    title = title_of(text)
    assert title.strip()
    assert len(title) <= TITLE_CHARACTERS
    assert len(title.splitlines()) <= 1


@given(st.text(), st.text("abc", min_size=1, max_size=3))
def test_a_snippet_holds_the_word(around, word):
    """Whatever stands around it."""
    snippet = snippet_of(f"{around} {word} {around}", [word])
    assert word.casefold() in snippet.casefold()
    assert len(snippet) <= 122


def test_a_snippet_of_what_is_found_otherwise():
    """The store may find what this does not (a letter that folds otherwise): then the beginning."""
    assert snippet_of("abc", ["x"]) == "abc"
    assert snippet_of("x" * 300 + "word", ["word"]).startswith("…x")


# ---- changing -----------------------------------------------------------------------------------


def test_rename_and_pin(tmp_path):
    """Told as a change of the list; pins outlast the run; a blank title changes nothing."""

    async def body(room):
        id_, _ = conversation(room.workplace.store, "q", title="old")
        await room.client.rename(id_, "  new\nname ")
        await room.client.rename(id_, "  ")
        await room.client.pin(id_, True)
        with pytest.raises(EnvironmentFault):
            await room.client.pin("nobody", True)
        return id_, room.rows_changed()

    id_, changes = run(tmp_path, body)
    assert changes == 2

    async def again(room):
        pinned = await room.client.conversations()
        opened = await room.client.open(id_)
        await room.client.pin(id_, False)
        return pinned, opened.pinned, await room.client.conversations()

    ((row,), opened, (unpinned,)) = run(tmp_path, again)
    assert (row.title, row.pinned, opened, unpinned.pinned) == ("new name", True, True, False)


def test_duplicate_has_every_branch(tmp_path):
    """A conversation of its own, with another title."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.answer(id_)
        await room.rest(id_)
        copy = await room.client.duplicate(id_)
        await room.send("more", copy)
        opened = await room.client.open(copy)
        return id_, copy, opened, len(room.workplace.store.entries(id_))

    id_, copy, opened, entries = run(tmp_path, body, "1", "2", "3")
    assert copy != id_
    assert opened.title == "q (copy)"
    assert [getattr(item, "text", "") for item in opened.items[1:]] == ["q", "2", "more", "3"]
    assert opened.items[2].versions.of == 2
    assert entries == 3, "the original is as it was"


# ---- files --------------------------------------------------------------------------------------


def test_export_as_markdown(tmp_path):
    """What was said, by whom."""

    async def body(room):
        id_ = await room.send("What is **up**?")
        await room.client.export(id_, str(tmp_path / "a.md"), "markdown")
        await room.client.export(id_, str(tmp_path / "a.jsonl"), "jsonl")

    run(tmp_path, body, "The \ud800 *sky*.")
    lines = (tmp_path / "a.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# What is **up**?"
    assert lines[4].startswith("**You** · ")
    assert lines[6] == "What is **up**?"
    assert lines[8].startswith("**scripted:test** · ")
    assert lines[10] == "The ? *sky*."
    first, *rest = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["type"] == "session"
    assert len(rest) == 2


def test_export_to_where_nothing_can_be_written(tmp_path):
    """A fault, with the reason."""

    async def body(room):
        id_ = await room.send("q")
        with pytest.raises(EnvironmentFault, match="cannot be written"):
            await room.client.export(id_, str(tmp_path / "no" / "folder" / "a.md"), "markdown")

    run(tmp_path, body, "a")


def test_markdown_of_everything():
    """Cards, failures, days, empty replies, a time no calendar has."""
    text = as_markdown(
        "",
        [
            DayItem("day:1", 0),
            UserItem("1", " hi ", 2**62),
            ReplyItem("2", "", model="", error="It broke.\nBadly.", when_ms=0),
            ReplyItem("3", "half", error="Cut.", when_ms=0),
            ReplyItem("4", ""),
            CardItem("5", "compaction", "Compacted", "3 folded", "What was said."),
            CardItem("6", "local", "Note"),
        ],
    )
    assert "hi\n" in text
    assert "**Model** · " in text
    assert "> It broke. Badly." in text
    assert "half\n\n> Cut." in text
    assert "> **Compacted** 3 folded\n\nWhat was said." in text
    assert text.endswith("> **Note**\n")


# ---- deleting -----------------------------------------------------------------------------------


def test_delete_and_have_it_back(tmp_path):
    """Out of the list at once, whole when it comes back."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.delete(id_)
        await room.client.delete(id_)
        gone = await room.client.conversations()
        found = await room.client.conversations("q")
        await room.client.undelete(id_)
        return gone, found, await room.client.conversations(), room.texts(id_)

    gone, found, (row,), texts = run(tmp_path, body, "a")
    assert gone == found == ()
    assert row.title == "q"
    assert texts == ["q", "a"]


def test_after_the_time_it_is_gone(tmp_path):
    """From the store, with its draft and its prefix cache."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.keep_draft(id_, "half")
        prefix = room.workplace.prefixes.file(id_)
        prefix.parent.mkdir(parents=True)
        prefix.write_bytes(b"cache")
        await room.client.delete(id_)
        store = room.workplace.store
        await room.until(lambda: not store.sessions())
        with pytest.raises(EnvironmentFault):
            await room.client.undelete(id_)
        return prefix.exists(), room.client._keeping.drafts

    assert run(tmp_path, body, "a", undo_seconds=0.0) == (False, {})


def test_what_is_being_deleted_goes_at_the_next_start(tmp_path):
    """Leaving within the time to undo it does not bring it back."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.delete(id_)
        return id_

    id_ = run(tmp_path, body, "a")

    async def again(room):
        return room.workplace.store.sessions(), room.client._keeping.going

    assert run(tmp_path, again) == ((), set())
    assert id_ not in (tmp_path / "data" / "window.json").read_text()


def test_deleting_a_running_conversation_stops_it(tmp_path):
    """Nothing is written to what is gone; other turns go on."""

    async def body(room):
        one = await room.client.send(None, "first")
        await room.until(lambda: room.texts(one)[-1:] == ["1"])
        await room.client.send(one, "waiting")
        await room.client.delete(one)
        store = room.workplace.store
        await room.until(lambda: not store.sessions())
        two = await room.send("second")
        return room.texts(two), room.of(Failed)

    texts, failed = run(tmp_path, body, Script("1 a", hold_after=1), "2", undo_seconds=0.0)
    assert texts == ["second", "2"]
    assert failed == []


def test_a_conversation_that_is_gone(tmp_path):
    """Asking for it is a fault, with a sentence."""

    async def body(room):
        for doing in (
            room.client.open("nobody"),
            room.client.send("nobody", "hi"),
            room.client.stop("nobody"),
            room.client.delete("nobody"),
            room.client.duplicate("nobody"),
        ):
            with pytest.raises(EnvironmentFault):
                await doing

    run(tmp_path, body)


# ---- drafts and what is unread ------------------------------------------------------------------


def test_drafts_outlast_the_run(tmp_path):
    """Of a conversation, and of the new one; sending uses them up."""

    async def body(room):
        id_ = await room.send("q")
        await room.client.keep_draft(id_, "half a thought \ud83d")
        await room.client.keep_draft("", "another")
        await room.client.keep_draft("", "another")
        return id_

    id_ = run(tmp_path, body, "a")

    async def again(room):
        drafts = (await room.client.open(id_)).draft, (await room.client.open(None)).draft
        await room.client.send(id_, "whole")
        await room.client.send(None, "begun")
        await room.rest(id_)
        return drafts, (await room.client.open(id_)).draft, (await room.client.open("")).draft

    assert run(tmp_path, again) == (("half a thought \ud83d", "another"), "", "")


def test_a_draft_is_written_soon(tmp_path, monkeypatch):
    """Without waiting for the end of the program, and not at every letter."""
    monkeypatch.setattr("app.client.client._DRAFT_SECONDS", 0.0)
    file = tmp_path / "data" / "window.json"

    async def body(room):
        for text in ("a", "ab", "abc"):
            await room.client.keep_draft("", text)
        early = file.exists()
        async with asyncio.timeout(60):
            while not file.exists():  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)
        return early, json.loads(file.read_text())["drafts"]

    assert run(tmp_path, body) == (False, {"": "abc"})


def test_opening_counts_as_reading(tmp_path):
    """The mark goes, and the list hears of it."""

    async def body(room):
        id_ = await room.client.send(None, "q")
        await room.client.open(None)
        await room.rest(id_)
        (unread,) = await room.client.conversations()
        before = room.rows_changed()
        await room.client.open(id_)
        (read,) = await room.client.conversations()
        return unread.unread, read.unread, room.rows_changed() - before

    assert run(tmp_path, body, "a") == (True, False, 1)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"drafts": 3, "pinned": {}, "waiting": [], "model": 1}',
        '{"drafts": {"a": 1, "b": "", "c": "x"}, "pinned": [1, "p"], "waiting": {"w": 1, "v": []}}',
        "[" * 100_000,
    ],
)
def test_a_kept_file_that_cannot_be_understood(tmp_path, content):
    """What can be understood is taken, the rest left out."""
    file = tmp_path / "window.json"
    file.write_text(content)
    keeping = Keeping(file)
    assert set(keeping.drafts) <= {"c"}
    assert keeping.pinned <= {"p"}
    assert keeping.waiting == {}
    assert keeping.model == ""


def test_a_disk_that_cannot_be_written(tmp_path):
    """The kept file is a convenience: it is tried again at the next change."""
    keeping = Keeping(tmp_path / "no" / "window.json")
    keeping.keep_draft("a", "x")
    keeping.save()
    (tmp_path / "no").mkdir()
    keeping.save()
    assert Keeping(tmp_path / "no" / "window.json").drafts == {"a": "x"}


def test_notices_of_the_start(tmp_path):
    """What is wrong with the settings is told once, when the window opens."""

    async def main():
        (tmp_path / "config").mkdir(parents=True)
        (tmp_path / "config" / "settings.toml").write_text("nonsense = 1\n")
        async with a_room(tmp_path) as room:
            return [value for value in room.told if not isinstance(value, RowsChanged)]

    (notice,) = asyncio.run(main())
    assert (notice.id, notice.level) == ("", "warning")
    assert "nonsense" in notice.text
