"""What the client does with a draft that does not fit: offers, parts, digests, part by part."""

import asyncio

import pytest

from app.client import Digesting, PartsWaiting
from app.client.fit_values import LargerWindow, native_window, plan_larger, plan_subject
from app.client.preferences import Spot
from app.typed import Attachment, join_message, split_message
from engine.backends.base import LoadRequest, ModelInfo
from engine.errors import BackendUnreachable, EnvironmentFault
from engine.fitting import plan_excerpt
from engine.models import ModelPlan, WindowLimits
from engine.readiness import make_ready
from engine.settings import save_setting
from engine.testing import Script, ScriptedBackend, asks_for_summary
from engine.tokens import estimate_text
from engine.transcript import Message
from tests.app.client_room import MODEL, a_room
from tests.engine.talks import GOOD_SUMMARY, words


def in_a_loop(story):
    """A test that is a coroutine, on a loop of its own."""

    def test(tmp_path):
        asyncio.run(story(tmp_path))

    test.__doc__ = story.__doc__
    return test


DIGEST = "A table of tile sizes. Zoom 14 has the largest tile, 812 KB."
QUESTION = "Which zoom levels cost the most?"


def table(lines):
    return "".join(f"{n},{n * n},tile-{n}\n" for n in range(lines))


def draft(lines=800, question=QUESTION, name="tile-sizes.csv"):
    """A draft with a table of some 16 tokens a line."""
    return join_message(question, [Attachment.of(name, table(lines))])


def answers(request):
    """A digest where one is asked for, else a short reply."""
    if "digest" in request.messages[0].content:
        return DIGEST
    return GOOD_SUMMARY if asks_for_summary(request) else "Noted."


async def drafted(room, text, id_=None):
    """A conversation (a new one) that is open, with a draft; its model's window is known."""
    await room.client._models.learn_info(room.workplace.model_name(None))
    await room.client.open(id_)
    await room.client.keep_draft(id_ or "", text)
    return id_ or ""


def of_files(room, id_):
    """The files of a conversation's draft."""
    return split_message(room.client._keeping.drafts.get(id_, ""))[1]


def small(tmp_path):
    """A window of 16,384: the prompt has 8,000."""
    from engine.paths import find_paths

    paths = find_paths(str(tmp_path), {})
    paths.ensure()
    save_setting(paths.settings_file, "context.cap_tokens", 16_384)


# ---- offers -------------------------------------------------------------------------------------


@in_a_loop
async def test_what_fits_is_offered_nothing(tmp_path):
    async with a_room(tmp_path) as room:
        id_ = await drafted(room, draft(20))
        fitting = room.client.fitting
        assert await fitting.offer(id_) is None
        assert await fitting.parts(id_) is None
        assert await fitting.digest(id_) is None
        assert await fitting.ask_parts(id_) == ""
        assert room.of(Digesting) == []


@in_a_loop
async def test_a_file_that_is_too_large_is_offered_everything(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        id_ = await drafted(room, draft())
        offer = await room.client.fitting.offer(id_)
        assert (offer.name, offer.index) == ("tile-sizes.csv", 0)
        assert offer.tokens > offer.room > 7_000
        assert offer.can_pick
        assert offer.digest_pieces >= 2
        assert offer.part_count >= 2
        assert offer.larger is None, "the cap leaves no larger window"


@in_a_loop
async def test_the_figures_are_those_of_the_context(tmp_path):
    """The draft's size, and the room the engine has, without the question beside it."""
    small(tmp_path)
    async with a_room(tmp_path) as room:
        id_ = await drafted(room, draft(question=""))
        view, tokens = await room.client.context.view(id_)
        offer = await room.client.fitting.offer(id_)
        assert offer.tokens == tokens - 6 or abs(offer.tokens - tokens) < 60
        assert offer.room == view.budget.prompt - view.fixed_tokens


@in_a_loop
async def test_a_larger_window_is_offered_where_it_holds_the_draft(tmp_path):
    """And the setting gives it: afterwards the draft fits."""
    async with a_room(tmp_path) as room:
        await room.client.models()
        await room.client.preferences.set(Spot("context_window", MODEL), 16_384)
        id_ = await drafted(room, draft(650))
        offer = await room.client.fitting.offer(id_)
        larger = offer.larger
        assert larger.model == MODEL
        assert 28_000 < larger.tokens <= 32_768, "below, the reserve takes all that is gained"
        spot = Spot("context_window", larger.model)
        await room.client.preferences.set(spot, larger.tokens, larger.model)
        assert await room.client.fitting.offer(id_) is None


@in_a_loop
async def test_a_window_that_holds_nothing_more_is_not_offered(tmp_path):
    async with a_room(tmp_path) as room:
        await room.client.models()
        await room.client.preferences.set(Spot("context_window", MODEL), 16_384)
        id_ = await drafted(room, draft(3_000))
        assert (await room.client.fitting.offer(id_)).larger is None


@in_a_loop
async def test_what_is_typed_can_be_too_large_itself(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path) as room:
        id_ = await drafted(room, words(9_000))
        offer = await room.client.fitting.offer(id_)
        assert (offer.name, offer.index) == ("", -1)


@in_a_loop
async def test_without_room_beside_the_rest_there_is_nothing_to_choose(tmp_path):
    small(tmp_path)
    files = [Attachment.of(f"{n}.csv", table(450)) for n in range(2)]
    async with a_room(tmp_path) as room:
        id_ = await drafted(room, join_message("", files))
        offer = await room.client.fitting.offer(id_)
        assert offer.room < 2_000
        files = [Attachment.of(f"{n}.csv", table(600)) for n in range(2)]
        id_ = await drafted(room, join_message("", files))
        offer = await room.client.fitting.offer(id_)
        assert not offer.can_pick
        assert (offer.digest_pieces, offer.part_count) == (0, 0)
        assert await room.client.fitting.parts(id_) is None
        assert await room.client.fitting.ask_parts(id_) == ""


@in_a_loop
async def test_the_duration_is_told_when_speeds_are_known(tmp_path):
    """Of a model that has answered here before; a double has no seconds."""
    small(tmp_path)
    async with a_room(tmp_path) as room:
        id_ = await room.send("Hello")
        await drafted(room, draft(), id_)
        assert (await room.client.fitting.offer(id_)).digest_seconds == 0.0


@in_a_loop
async def test_part_by_part_is_not_offered_where_nothing_is_folded(tmp_path):
    """The second part would find the first one still there."""
    small(tmp_path)
    async with a_room(tmp_path) as room:
        await room.client.preferences.set(Spot("compaction.enabled"), value=False)
        id_ = await drafted(room, draft(1_500))
        assert (await room.client.fitting.offer(id_)).part_count == 0


@in_a_loop
async def test_a_model_that_may_not_be_used_is_asked_nothing(tmp_path):
    """Its window is under the limit: neither a digest nor a message would work."""
    small(tmp_path)
    async with a_room(tmp_path) as room:
        await room.client.preferences.set(Spot("context.cap_tokens"), 16_000)
        await room.client.preferences.set(Spot("context.hard_min_tokens"), 15_000)
        await room.client.preferences.set(Spot("context_window", MODEL), 14_000)
        id_ = await drafted(room, draft())
        offer = await room.client.fitting.offer(id_)
        assert offer.can_pick
        assert (offer.digest_pieces, offer.part_count) == (0, 0)


@in_a_loop
async def test_a_window_that_is_stretched_on_demand_needs_more_pieces(tmp_path):
    """The digest is not worth reading everything anew."""
    small(tmp_path)
    pieces = {}
    for stretch in ("auto", "yarn"):
        async with a_room(tmp_path / stretch, trained_window=8_192) as room:
            await room.client._models.learn_info(room.workplace.model_name(None))
            await room.client.preferences.set(Spot("stretch", MODEL), stretch)
            await room.client.preferences.set(Spot("context_window", MODEL), 16_384)
            id_ = await drafted(room, draft(1_200))
            pieces[stretch] = (await room.client.fitting.offer(id_)).digest_pieces
    assert pieces["auto"] > pieces["yarn"] > 0


@in_a_loop
async def test_of_a_model_that_cannot_be_asked_only_parts_are_offered(tmp_path):
    """Its window is known from the last turn; what else would work is not."""
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        id_ = await room.send("Hello")
        await drafted(room, draft(), id_)
        room.client._models._infos.clear()

        async def fails(*_):
            raise BackendUnreachable("It is not there.", "Start it.")

        room.backend.describe = fails
        offer = await room.client.fitting.offer(id_)
        assert offer.can_pick
        assert (offer.digest_pieces, offer.part_count, offer.larger) == (0, 0, None)


# ---- parts --------------------------------------------------------------------------------------


@in_a_loop
async def test_the_parts_are_the_file_and_an_excerpt_of_them_fits(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path) as room:
        id_ = await drafted(room, draft())
        found = await room.client.fitting.parts(id_)
        assert "".join(part.text for part in found.parts) == table(800).rstrip("\n")
        assert len(found.parts) >= 4
        chosen, total = set(), 0
        for index, part in enumerate(found.parts):
            if total + part.tokens <= found.room:
                chosen.add(index)
                total += part.tokens
        text = plan_excerpt(found.parts, chosen)
        await room.client.keep_draft(id_, join_message(QUESTION, [Attachment.of("x", text)]))
        assert await room.client.fitting.offer(id_) is None


# ---- a digest -----------------------------------------------------------------------------------


@in_a_loop
async def test_a_digest_is_written_in_pieces_and_leaves_no_message(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        id_ = await room.send("Hello")
        before = room.workplace.store.path(id_)
        asked = len(room.backend.requests)
        await drafted(room, draft(), id_)
        digest = await room.client.fitting.digest(id_)
        assert digest == Attachment("tile-sizes.csv (digest)", DIGEST, estimate_text(DIGEST))
        requests = room.backend.requests[asked:]
        assert len(requests) >= 2
        assert all(QUESTION in request.messages[-1].content for request in requests)
        read = "".join(request.messages[-1].content for request in requests)
        assert all(line in read for line in table(800).splitlines())
        assert room.workplace.store.path(id_) == before


@in_a_loop
async def test_a_digest_tells_how_far_it_is(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        id_ = await drafted(room, draft())
        await room.client.fitting.digest(id_)
        told = room.of(Digesting)
        assert told[0] == Digesting("", "tile-sizes.csv")
        assert told[-1] == Digesting("", "tile-sizes.csv", over=True)
        steps = [(one.step, one.doing) for one in told if one.step]
        assert steps[0] == (1, "reading")
        assert {1, 2} <= {step for step, _ in steps}
        assert {one.steps for one in told if one.step} == {told[-2].step}


@in_a_loop
async def test_a_digest_that_is_stopped_leaves_nothing_behind(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=lambda _: Script(DIGEST, hold_after=3)) as room:
        id_ = await drafted(room, draft())
        running = asyncio.create_task(room.client.fitting.digest(id_))
        await room.until(lambda: any(one.doing == "writing" for one in room.of(Digesting)))
        await room.client.fitting.stop_digest(id_)
        assert await running is None
        assert room.backend.stopped == 1
        assert room.of(Digesting)[-1].over
        assert of_files(room, id_)[0].name == "tile-sizes.csv", "the draft is as it was"
        room.backend.release.set()
        room.backend.otherwise = answers
        assert (await room.client.fitting.digest(id_)).text == DIGEST


@in_a_loop
async def test_stopping_what_does_not_run_does_nothing(tmp_path):
    async with a_room(tmp_path) as room:
        await room.client.fitting.stop_digest("")
        assert room.of(Digesting) == []


@in_a_loop
async def test_one_digest_at_a_time_in_a_conversation(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=lambda _: Script(DIGEST, hold_after=3)) as room:
        id_ = await drafted(room, draft())
        running = asyncio.create_task(room.client.fitting.digest(id_))
        await room.until(lambda: any(one.step for one in room.of(Digesting)))
        assert await room.client.fitting.digest(id_) is None
        room.backend.release.set()
        assert (await running).text == DIGEST


@in_a_loop
async def test_a_digest_waits_for_the_reply_that_is_written(tmp_path):
    """One at a time on a backend; the reply is not disturbed."""
    small(tmp_path)
    async with a_room(tmp_path, Script("A long reply", hold_after=1), otherwise=answers) as room:
        id_ = await room.client.send(None, "Hello")
        await room.until(lambda: room.last(id_).text)
        await drafted(room, draft(), id_)
        running = asyncio.create_task(room.client.fitting.digest(id_))
        await room.until(lambda: room.of(Digesting))
        assert len(room.backend.requests) == 1
        room.backend.release.set()
        assert (await running).text == DIGEST
        assert room.last(id_).text == "A long reply"


@in_a_loop
async def test_a_digest_nobody_sees_goes_into_the_draft(tmp_path):
    """Another conversation is shown when it is done."""
    small(tmp_path)
    async with a_room(tmp_path, otherwise=lambda _: Script(DIGEST, hold_after=3)) as room:
        id_ = await drafted(room, draft())
        running = asyncio.create_task(room.client.fitting.digest(id_))
        await room.until(lambda: any(one.step for one in room.of(Digesting)))
        other = await room.client.send(None, "Something else")  # takes the draft of the new one
        await room.client.keep_draft("", draft())
        await room.client.open(other)
        room.backend.release.set()
        assert await running is None
        assert [file.name for file in of_files(room, "")] == ["tile-sizes.csv (digest)"]
        assert split_message(room.client._keeping.drafts[""])[0] == QUESTION


@in_a_loop
async def test_a_digest_never_takes_the_place_of_another_draft(tmp_path):
    """What was changed meanwhile is left alone."""
    small(tmp_path)
    async with a_room(tmp_path, otherwise=lambda _: Script(DIGEST, hold_after=3)) as room:
        id_ = await drafted(room, draft())
        running = asyncio.create_task(room.client.fitting.digest(id_))
        await room.until(lambda: any(one.step for one in room.of(Digesting)))
        other = await room.client.send(None, "Something else")
        await room.client.open(other)
        room.backend.release.set()
        assert await running is None
        assert "" not in room.client._keeping.drafts


@in_a_loop
async def test_a_digest_of_what_is_typed_has_no_question(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        id_ = await drafted(room, words(9_000))
        digest = await room.client.fitting.digest(id_)
        assert digest.name == "Your message (digest)"
        assert "helps to answer" not in room.backend.requests[0].messages[-1].content


@in_a_loop
async def test_a_digest_no_model_can_write_is_a_fault(tmp_path):
    """Nothing stands in for it."""
    small(tmp_path)
    async with a_room(tmp_path, otherwise=lambda _: Script("I", stop_reason="length")) as room:
        id_ = await drafted(room, draft())
        with pytest.raises(EnvironmentFault, match="could not write a digest"):
            await room.client.fitting.digest(id_)
        assert room.of(Digesting)[-1].over


@in_a_loop
async def test_a_model_that_cannot_be_loaded_is_a_fault(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path) as room:
        id_ = await drafted(room, draft())

        async def fails(*_):
            raise BackendUnreachable("It is not there.", "Start it.")

        room.backend.load = fails
        with pytest.raises(BackendUnreachable):
            await room.client.fitting.digest(id_)
        assert room.of(Digesting)[-1].over


@in_a_loop
async def test_closing_stops_a_digest(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=lambda _: Script(DIGEST, hold_after=3)) as room:
        id_ = await drafted(room, draft())
        running = asyncio.create_task(room.client.fitting.digest(id_))
        await room.until(lambda: any(one.step for one in room.of(Digesting)))
    assert await running is None


# ---- part by part -------------------------------------------------------------------------------


@in_a_loop
async def test_the_first_part_is_sent_with_the_question_and_the_others_wait(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        await drafted(room, draft())
        id_ = await room.client.fitting.ask_parts("")
        await room.rest(id_)
        typed, files = split_message(room.texts(id_)[0])
        waiting = room.of(PartsWaiting)[-1]
        assert typed == QUESTION
        assert files[0].name == f"tile-sizes.csv (part 1 of {waiting.total})"
        assert (waiting.id, waiting.asked) == (id_, 1)
        assert waiting.next.first_line == len(files[0].text.splitlines()) + 1
        assert await room.client.fitting.waiting(id_) == waiting
        assert "" not in room.client._keeping.drafts


@in_a_loop
async def test_every_part_is_asked_in_its_turn_and_all_are_the_file(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        await drafted(room, draft())
        id_ = await room.client.fitting.ask_parts("")
        await room.rest(id_)
        total = room.of(PartsWaiting)[-1].total
        for _ in range(total - 1):
            await room.client.fitting.next_part(id_)
            await room.rest(id_)
        said = [entry.body for entry in room.workplace.store.path(id_)]
        asked = [body for body in said if isinstance(body, Message) and body.role == "user"]
        replies = [body for body in said if isinstance(body, Message) and body.role != "user"]
        sent = [split_message(body.text) for body in asked]
        assert [typed for typed, _ in sent] == [QUESTION] * total
        assert "\n".join(files[0].text for _, files in sent) == table(800).rstrip("\n")
        assert room.of(PartsWaiting)[-1] == PartsWaiting(id_), "nothing waits any more"
        assert [body.text for body in replies] == ["Noted."] * total
        await room.client.fitting.next_part(id_)
        assert len(room.workplace.store.path(id_)) == len(said)


@in_a_loop
async def test_no_more_parts_are_asked_when_the_user_says_so(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        await drafted(room, draft())
        id_ = await room.client.fitting.ask_parts("")
        await room.rest(id_)
        await room.client.fitting.end_parts(id_)
        assert room.of(PartsWaiting)[-1] == PartsWaiting(id_)
        assert await room.client.fitting.waiting(id_) == PartsWaiting(id_)


@in_a_loop
async def test_other_files_go_with_the_first_part(tmp_path):
    small(tmp_path)
    files = [Attachment.of("notes.txt", "a few notes"), Attachment.of("t.csv", table(800))]
    async with a_room(tmp_path, otherwise=answers) as room:
        await drafted(room, join_message(QUESTION, files))
        id_ = await room.client.fitting.ask_parts("")
        await room.rest(id_)
        names = [file.name for file in split_message(room.texts(id_)[0])[1]]
        assert names[0] == "notes.txt"
        assert names[1].startswith("t.csv (part 1 of ")


@in_a_loop
async def test_a_long_message_is_asked_in_parts_of_itself(tmp_path):
    small(tmp_path)
    async with a_room(tmp_path, otherwise=answers) as room:
        await drafted(room, words(12_000))
        id_ = await room.client.fitting.ask_parts("")
        await room.rest(id_)
        typed, files = split_message(room.texts(id_)[0])
        assert typed == ""
        assert files[0].name.startswith("Your message (part 1 of ")


# ---- plans --------------------------------------------------------------------------------------


def test_the_largest_of_a_draft_is_what_does_not_fit():
    """A file of several; the rest is what stands beside it."""
    files = [Attachment("a.txt", "a b"), Attachment("b.txt", "b " * 50), Attachment("c.txt", "c")]
    text = join_message("Compare", files)
    subject = plan_subject(text)
    assert (subject.index, subject.name, subject.text) == (1, "b.txt", files[1].text)
    assert subject.rest == join_message("Compare", [files[0], files[2]])
    assert subject.others == (files[0], files[2])


def test_typed_words_are_the_largest_where_they_are():
    """The files are the rest then."""
    files = [Attachment("a.txt", "a b")]
    subject = plan_subject(join_message("word " * 40, files))
    assert (subject.index, subject.name) == (-1, "")
    assert subject.rest == join_message("", files)


INFO = ModelInfo("m", trained_window=32_768, weights_bytes=10**8, kv_bytes_per_token=20_000)


def a_plan(**more):
    return ModelPlan("llama.cpp:m", "llama.cpp", "m", window_setting=16_384, **more)


def test_a_larger_window_must_be_had_and_held():
    """By the model, by the settings, by the memory."""
    plan, plenty = a_plan(), 10**11
    assert plan_larger(plan, INFO, 16_384, 32_768, plenty) == LargerWindow(
        plan.label, 32_768, "fits"
    )
    assert plan_larger(plan, INFO, 16_384, 40_960, plenty) is None, "trained on less"
    assert plan_larger(plan, INFO, 16_384, 32_768, 7 * 10**8) is None, "too little memory"
    assert plan_larger(plan, INFO, 16_384, 32_768, 10**6) is None, "not even the weights"
    assert plan_larger(plan, INFO, 8_192, 32_768, plenty) is None, "the server gives less"
    asked = a_plan(window_option=16_384)
    assert plan_larger(asked, INFO, 16_384, 32_768, plenty) is None, "the conversation asks for it"


def test_a_window_stretched_on_demand_is_not_stretched_for_a_digest():
    """The whole conversation would be read again."""
    limits = WindowLimits(65_536, 1, 1)
    backend = ScriptedBackend(trained_window=16_384)
    for stretch, window in (("auto", 16_384), ("yarn", 32_768)):
        plan = ModelPlan(
            "scripted:test", "scripted", "test", window_option=32_768, stretch=stretch,
            limits=limits,
        )  # fmt: skip
        ready = asyncio.run(make_ready(backend, plan, lambda _: None, lambda: None))
        assert isinstance(ready.request, LoadRequest)
        assert native_window(ready) == window
