"""Conversations in other scripts against a server that cannot count: never over the window.

The backend only reports, after each reply, what the real tokenizer of a model counts of the prompt it
got, as Ollama does. What is sent is decided by the engine's own estimate, anchor and calibration;
the judge is the vocabulary (C26, #70052, #103930).
"""

import os
import random
import re
from functools import cache
from pathlib import Path

import pytest

from engine.backends.base import Finished
from engine.context import ContextSettings
from engine.errors import MessageTooLarge
from engine.testing import ScriptedBackend
from engine.transcript import Usage
from tests.engine.estimator_texts import texts
from tests.engine.talks import Talk
from tests.engine.token_meter import Meter

WINDOW = 16_384
CHATML = ("", "<|im_start|>{role}\n", "<|im_end|>\n")
JUDGES = {
    "SmolLM2": CHATML,
    "qwen2": CHATML,
    "llama-bpe": (
        "<|begin_of_text|>",
        "<|start_header_id|>{role}<|end_header_id|>\n\n",
        "<|eot_id|>",
    ),
    "phi-3": ("<s>", "<|{role}|>\n", "<|end|>\n"),
}
"""Vocabularies, and what their models' templates put first, before and after a message."""

TEXTS = texts()
SENTENCE = re.compile(r"[^。！？.!?\n]+[。！？.!?\n]?")
CODE = ("python_code", "cpp_code", "rust_code", "shell", "sql", "diff", "json_pretty")
KINDS = {
    "chinese": ("chinese", "chinese_traditional"),
    "japanese": ("japanese",),
    "arabic": ("arabic",),
    "code": CODE,
    "mixed": ("chinese", "japanese", "arabic", "english_chat", "mixed_languages", *CODE[:2]),
}
SUMMARIES = {
    "chinese": "他们在谈老街上的早点铺和软件的安装，清单做了一半，下一步是备份数据。",
    "japanese": "二人は灯台の記録と作業の進み具合について話し、次はランプの修理をする。",
    "arabic": "تحدثا عن المنارة وقائمة الأعمال، وأنجزا نصفها، والخطوة التالية إصلاح المصباح.",
    "code": "They wrote a parser and its tests; half of the functions are done, the rest is next.",
    "mixed": "They spoke of the lighthouse, 灯塔, and of code; the list is half done.",
}


@cache
def pieces(kind):
    """Sentences of prose, blocks of code."""
    found = []
    for name in KINDS[kind]:
        if name in CODE:
            lines = TEXTS[name].splitlines(keepends=True)
            found += ["".join(lines[at : at + 6]) for at in range(0, len(lines), 6)]
        else:
            found += [piece for piece in SENTENCE.findall(TEXTS[name]) if piece.strip()]
    return found


def said(kind, number, characters):
    """A message of about so many characters, another one for every number."""
    chance = random.Random(f"{kind}{number}")
    of, text = pieces(kind), f"{number}. "
    while len(text) < characters:
        text += chance.choice(of)
    return text


class Reporting(ScriptedBackend):
    """Cannot count beforehand; reports afterwards what the real tokenizer says.

    `sizes` are the tokens of every request, in order, the reply's header included.
    """

    def judge(self, meter, template):
        self.meter, self.template, self.sizes = meter, template, []

    def size(self, request):
        first, header, end = self.template
        framed = [header.format(role=m.role) + m.content + end for m in request.messages]
        return sum(self.meter.count([first, *framed, header.format(role="assistant")]))

    async def stream(self, request):
        self.sizes.append(self.size(request))
        text = ""
        async for chunk in super().stream(request):
            if isinstance(chunk, Finished):
                usage = Usage(
                    read_tokens=self.sizes[-1], written_tokens=self.meter.count([text])[0]
                )
                chunk = Finished(chunk.stop_reason, usage)
            text += getattr(chunk, "text", "")
            yield chunk


class Judged(Talk):
    """A talk on a reporting backend."""

    def on(self, meter, template):
        self.backend = Reporting(otherwise=self.answer, exact=False, trained_window=1 << 20)
        self.backend.judge(meter, template)
        self.session = self.open()
        return self


@pytest.fixture(scope="module", params=JUDGES)
def judge(request, starter_path):
    """A vocabulary that counts, and its template."""
    folder = os.environ.get("PORTHOLE_TEST_VOCABS", "")
    assert folder, "no vocabularies: run packaging/test, or set PORTHOLE_TEST_VOCABS"
    file = Path(folder) / f"ggml-vocab-{request.param}.gguf"
    meter = Meter(starter_path if request.param == "SmolLM2" else file)
    yield meter, JUDGES[request.param]
    meter.close()


def over_the_window(backend):
    """Requests that, as they really are, leave less room than they ask for."""
    return [
        (number, size, request.max_tokens)
        for number, (size, request) in enumerate(zip(backend.sizes, backend.requests, strict=True))
        if size + request.max_tokens > WINDOW
    ]


SIZES = (60, 900, 400, 1_500, 150)
"""Characters of messages, by turns."""


def talk_of(kind, judge, settings):
    return Judged(
        window=WINDOW,
        exact=False,
        system=said(kind, 0, 200),
        summary=SUMMARIES[kind],
        reply=lambda request: said(kind, len(request.messages), 500),
        settings=settings,
    ).on(*judge)


# a budget of half the window, and one of nearly all of it: what is estimated too low is over then
CASES = [*((kind, 1_000) for kind in KINDS), ("mixed", 20_000)]


@pytest.mark.parametrize(("kind", "reserve"), CASES)
def test_conversation_never_passes_the_window(judge, kind, reserve):
    """Thirty turns and more than its budget: it compacts, goes on, and every request fits."""
    settings = ContextSettings(reserve_tokens=reserve, reserve_floor=reserve)
    factor = 1 if kind in ("chinese", "japanese") else 2
    factor *= 1 if reserve == 20_000 else 2
    with talk_of(kind, judge, settings) as talk:
        for number in range(1, 31):
            talk.say(said(kind, number, factor * SIZES[number % len(SIZES)]))
            assert talk.ended.reason == "stop", talk.ended.error
            assert talk.ended.entry.body.text
        assert over_the_window(talk.backend) == []
        assert len(talk.compactions) >= 1
        assert SUMMARIES[kind] in prompt(talk.chats[-1]) + prompt(talk.chats[-2])


@pytest.mark.parametrize(("first", "then"), [("chinese", "hex"), ("code", "japanese")])
def test_another_script_after_it_was_learned_does_not_pass_the_window(judge, first, then):
    """Twelve turns teach how far estimates are off; the largest message of another kind still fits.

    What it is that is pasted, no ratio of the past can say.
    """
    settings = ContextSettings(reserve_tokens=1_000, reserve_floor=0)
    with talk_of(first, judge, settings) as talk:
        for number in range(1, 13):
            talk.say(said(first, number, 600))
        text = paste(then, 60_000)
        for _ in range(8):
            talk.say(text)
            error = talk.ended.error
            if error is None:
                break
            assert isinstance(error, MessageTooLarge), error  # what is taken is answered
            text = text[: int(0.98 * len(text) * error.room_tokens / error.prompt_tokens)]
        assert talk.ended.reason == "stop"
        assert over_the_window(talk.backend) == []


def paste(kind, characters):
    """One long message of that kind."""
    if kind == "hex":
        return random.Random(kind).randbytes(characters // 2).hex(" ", 8)
    return said(kind, 0, characters)


def prompt(request):
    """Everything a model gets to read, as one text."""
    return "\n".join(message.content for message in request.messages)
