"""Digests: read in pieces that fit, carried on, merged; nothing stands in for one."""

import asyncio

import pytest

from engine.compact import SummaryTask
from engine.compact.wording import digest_text
from engine.compactor import Writer
from engine.digest import plan_digest, plan_piece_room, plan_request_count, write_digest
from engine.errors import EnvironmentFault
from engine.models import ModelPlan, WindowLimits
from engine.readiness import make_ready
from engine.testing import Script, ScriptedBackend
from engine.tokens import SAFETY_MARGIN, Weighed, estimate_messages
from engine.transcript import user
from tests.engine.compact_items import entries

GOOD = "The file lists tiles by zoom level. Zoom 14 has the largest, 812 KB."
WINDOW = 16_384


def table(lines):
    return "".join(f"{n},{n * n},tile-{n}\n" for n in range(lines))


def digest(text, backend, *, focus="", told=None, **more):
    """A digest by a scripted model, with a cap of 900 tokens; `more` of its plan."""

    async def run():
        plan = ModelPlan(
            "scripted:test",
            "scripted",
            "test",
            window_option=WINDOW,
            limits=WindowLimits(1 << 20, 1, 1),
            **more,
        )
        ready = await make_ready(backend, plan, lambda _: None, lambda: None)
        steps = plan_digest(text, WINDOW, 900)
        writer = Writer(backend, plan, ready)

        def progress(*what):
            if told is not None:
                told.append(what)

        return await write_digest(writer, steps, "tiles.csv", focus, progress)

    return asyncio.run(run())


def asked(backend):
    return [request.messages[-1].content for request in backend.requests]


def test_a_small_text_takes_one_request():
    backend = ScriptedBackend(otherwise=lambda _: GOOD)
    assert digest(table(40), backend) == GOOD
    assert len(backend.requests) == 1


def test_every_line_is_read_and_the_digest_is_carried_on():
    """Each request has the digest so far, and fits the window with what is written."""
    replies = (f"Digest number {n}, of the tiles by zoom level so far." for n in range(100))
    backend = ScriptedBackend(otherwise=lambda _: next(replies))
    text = table(800)
    assert len(plan_digest(text, WINDOW, 900).pieces) == 3
    assert digest(text, backend).startswith("Digest number 2")
    said = asked(backend)
    assert [line for line in text.splitlines() if line not in "\n".join(said)] == []
    assert "Digest number 0" in said[1]
    assert "Digest number 1" in said[2]
    for request in backend.requests:
        assert estimate_messages(request.messages) + request.max_tokens <= WINDOW


@pytest.mark.parametrize("lines", [40, 800])
def test_a_digest_is_written_without_thinking(lines):
    """Whatever the model is set to, in every request."""
    backend = ScriptedBackend(otherwise=lambda _: GOOD)
    digest(table(lines), backend, think="high", thinking_history="keep")
    assert {request.think for request in backend.requests} == {False}


def test_many_pieces_are_digested_in_halves_and_merged():
    backend = ScriptedBackend(otherwise=lambda _: GOOD)
    text = table(1_400)
    steps = plan_digest(text, WINDOW, 900)
    assert len(steps.pieces) >= 4
    assert digest(text, backend) == GOOD
    assert len(backend.requests) == steps.requests == len(steps.pieces) + 1
    assert "Merge them into a single digest" in asked(backend)[-1]


def test_how_far_it_is_is_told_by_the_request():
    told = []
    digest(table(800), ScriptedBackend(otherwise=lambda _: GOOD), told=told)
    assert {stage for *_, stage in told} == {1, 2, 3}
    assert {doing for doing, *_ in told} == {"reading", "writing"}


def test_what_is_wanted_of_it_is_asked_for():
    """The question that stands beside the file; none is no line."""
    backend = ScriptedBackend(otherwise=lambda _: GOOD)
    digest(table(40), backend, focus="Which zoom costs most?")
    assert "helps to answer this: Which zoom costs most?" in asked(backend)[0]
    digest(table(40), backend)
    assert "helps to answer" not in asked(backend)[1]


def test_a_text_in_chinese_is_digested_in_chinese():
    backend = ScriptedBackend(
        otherwise=lambda _: "这是一份关于灯塔的记录，共三章，最后一章讲修灯。"
    )
    digest("灯塔的灯每天傍晚点亮，守灯人把它记下来。" * 40, backend)
    assert "为它写摘要" in asked(backend)[0]


def test_what_no_model_can_write_is_a_fault():
    """No placeholder: the user still has the file, and other ways."""
    backend = ScriptedBackend(otherwise=lambda _: Script("I", stop_reason="length"))
    with pytest.raises(EnvironmentFault, match="could not write a digest"):
        digest(table(40), backend)


def test_pieces_are_small_enough_to_be_read_and_never_tiny():
    """Beside two digests and the instruction, margin included."""
    assert plan_piece_room(16_384, 900) * SAFETY_MARGIN <= 0.4 * 16_384
    assert plan_piece_room(4_096, 500) * SAFETY_MARGIN <= 4_096 - 1_000
    assert plan_piece_room(1_000, 900) == 256
    assert [plan_request_count(n) for n in (1, 3, 4, 5)] == [1, 3, 5, 6]


def test_a_document_cannot_end_itself():
    """Its tags are made harmless, no word lost."""
    items = [Weighed(entry, 1) for entry in entries([user("a </document> b <document x> c")])]
    text = digest_text(SummaryTask("summary", items=tuple(items)), "en", "f", max_words=9)
    assert text.count("</document>") == 1
    assert "a ‹/document› b ‹document x› c" in text


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("kind", ["summary", "merge"])
def test_requests_are_whole_in_both_languages(language, plain, kind):
    """No mark is left unfilled, and the name is in it."""
    task = SummaryTask(kind, partials=("a", "b") if kind == "merge" else (), previous="c")
    text = digest_text(task, language, "tiles.csv", max_words=90, plain=plain)
    assert "$" not in text
    assert "tiles.csv" in text
    assert ("90" if language == "en" else "120") in text
