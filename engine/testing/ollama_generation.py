"""One reply of an Ollama double on its way out: pieces, limits, faults, and the last object."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.testing import ollama_rules as rules
from engine.testing import ollama_script as script
from engine.testing.ollama_rules import Cut
from engine.testing.ollama_script import Reply, Seen
from engine.testing.ollama_socket import Request, Wire, go_json
from engine.testing.ollama_state import TOKEN_NS, Runner, State

_REPEATS = 30  # identical tokens in a row after which a runner gives up
Body = Mapping[str, Any]


@dataclass(slots=True)
class Exchange:
    """One request and the way to answer it."""

    state: State
    request: Request
    wire: Wire
    fault: script.Fault | None = None

    @property
    def body(self) -> Body:
        """The request's JSON object."""
        return self.request.body if isinstance(self.request.body, dict) else {}

    @property
    def streams(self) -> bool:
        """Whether the answer is a stream, as it is unless the request says otherwise."""
        return self.body.get("stream") is not False


@dataclass(slots=True)
class Generation:
    """One reply on its way out. `load_ns` is how long the model took to be ready."""

    exchange: Exchange
    runner: Runner
    seen: Seen
    cut: Cut
    field: str
    load_ns: int
    written: int = 0
    thinking: str = ""
    content: str = ""
    before: str = ""
    repeats: int = 0

    @property
    def tokens(self) -> int:
        """Tokens written so far."""
        return self.written * self.runner.model.tokens_per_word

    async def answer(self, reply: Reply, *, think: bool, num_predict: int) -> None:
        """Send the reply, as far as limits, faults and the client let it come."""
        state = self.exchange.state
        await state.script.pass_gate("prompt")
        reused = self._reuse()
        limit = rules.reply_limit(num_predict, len(self.seen.words), self.cut)
        for kind, piece in self._pieces(reply, think=think):
            if await self._broke():
                return
            if self.tokens >= limit:
                break
            await state.script.pass_gate("piece", self.written)
            await self._send(kind, piece)
            if self.repeats > _REPEATS and self.cut.path == "rendered":
                await self._end_without_last()
                return
        if await self._broke(at_end=True):
            return
        await self._finish(reply, "length" if self.tokens >= limit else "stop", reused)

    def _reuse(self) -> int:
        """How many tokens of the prompt are in the runner's cache; never all of them."""
        words, cached = self.seen.words, self.runner.cached
        same = 0
        while same < min(len(words) - 1, len(cached)) and words[same] == cached[same]:
            same += 1
        self.runner.cached = list(words)
        return max(same, 0)

    def _pieces(self, reply: Reply, *, think: bool) -> Iterator[tuple[str, str]]:
        """The reply's pieces; without thinking, only its text.

        Before 0.12.4 a request that does not ask for thinking gets it inside the content.
        """
        thoughts, words = _split(reply.thinking), _split(reply.text)
        asked = self.exchange.body.get("think") is not None
        if think and thoughts and not asked and self.exchange.state.version < (0, 12, 4):
            words = ["<think>", *thoughts, "</think>", *words]
        elif think:
            yield from (("thinking", piece) for piece in thoughts)
        yield from (("content", piece) for piece in words)

    async def _send(self, kind: str, piece: str) -> None:
        self.written += 1
        self.runner.cached += [piece.strip()] * self.runner.model.tokens_per_word
        self.repeats = self.repeats + 1 if piece.strip() == self.before else 1
        self.before = piece.strip()
        if not self.exchange.streams:
            self.thinking += piece if kind == "thinking" else ""
            self.content += piece if kind == "content" else ""
        elif kind == "thinking":
            await self._line(self._message("", thinking=piece))
        else:
            await self._line(self._message(piece))

    async def _finish(self, reply: Reply, reason: str, reused: int) -> None:
        calls = _calls(reply, self.exchange.state) if self.exchange.body.get("tools") else []
        last_calls = calls if reply.calls_last or not self.exchange.streams else []
        if calls and not last_calls:
            await self._line(self._message("", tool_calls=calls))
        last = self._message(self.content, thinking=self.thinking, tool_calls=last_calls)
        last |= {"done": True, "done_reason": reason, **self._metrics(reused)}
        if isinstance(self.exchange.fault, script.NoDone):
            del last["done"]
        if self.exchange.streams:
            await self._line(last)
            await self.exchange.wire.end()
        else:
            await self.exchange.wire.json(200, last)

    def _metrics(self, reused: int) -> dict[str, int]:
        prompt = len(self.seen.words)
        counts = {
            "total_duration": self.load_ns + (prompt - reused + self.tokens) * TOKEN_NS,
            "load_duration": self.load_ns,
            "prompt_eval_count": rules.reported_prompt(
                prompt, reused, self.exchange.state.version
            ),
            "prompt_eval_duration": (prompt - reused) * TOKEN_NS,
            "eval_count": self.tokens,
            "eval_duration": self.tokens * TOKEN_NS,
        }
        return {name: value for name, value in counts.items() if value}

    def _message(self, content: str, **more: Any) -> dict[str, Any]:
        present = {name: value for name, value in more.items() if value}
        base = {
            "model": self.exchange.body["model"],
            "created_at": self.exchange.state.stamp(),
        }
        if self.field == "response":
            return base | {"response": content, **present, "done": False}
        message = {"role": "assistant", "content": content, **present}
        return base | {"message": message, "done": False}

    async def _line(self, value: Any) -> None:
        await self.exchange.wire.line(value)

    # ---- faults ----

    async def _broke(self, *, at_end: bool = False) -> bool:
        """Whether the scripted fault ended the answer here."""
        fault, wire = self.exchange.fault, self.exchange.wire
        after = getattr(fault, "after", None)
        if after is None or (self.written < after if at_end else self.written != after):
            return False
        match fault:
            case script.EndEarly(half_line=half):
                await self._end_without_last(half_line=half)
            case script.Drop(reset=reset):
                await wire.half_chunk(go_json(self._message("never complete"))[:40])
                wire.cut(reset=reset)
            case script.Error(text=text, status=status, key=key):
                await self._fail(text, status, key)
            case script.Silence():
                await never()
        return True

    async def _fail(self, text: str, status: int, key: str) -> None:
        exchange = self.exchange
        early = not exchange.wire.streaming
        if early and (exchange.state.version >= rules.SHIFT_KNOWN or not exchange.streams):
            await exchange.wire.json(status, {key: text})
            return
        await exchange.wire.line({key: text})
        await exchange.wire.end()

    async def _end_without_last(self, *, half_line: bool = False) -> None:
        if half_line:
            await self.exchange.wire.chunk(go_json(self._message("never complete"))[:40])
        if self.exchange.streams:
            await self.exchange.wire.end()
        else:
            whole = self._message(self.content, thinking=self.thinking)
            await self.exchange.wire.json(200, whole)


def _split(pieces: script.Pieces) -> list[str]:
    return rules.tokens_of(pieces) if isinstance(pieces, str) else list(pieces)


def _calls(reply: Reply, state: State) -> list[dict[str, Any]]:
    calls = []
    for index, (name, arguments) in enumerate(reply.tool_calls):
        function: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
        if state.version >= (0, 4, 7):
            function = {"index": index, **function}
        call: dict[str, Any] = {"function": function}
        if state.version >= (0, 12, 10):
            state.ticks += 1
            call = {"id": f"call_{state.ticks:08x}", **call}
        calls.append(call)
    return calls


async def never() -> None:
    """Waits until the client leaves, which cancels the work."""
    await asyncio.Event().wait()
