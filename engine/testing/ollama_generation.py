"""One reply of an Ollama double on its way out: pieces, limits, faults, and the last object."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.testing import ollama_faults as faults
from engine.testing import ollama_rules as rules
from engine.testing.ollama_exchange import Exchange, never
from engine.testing.ollama_log import Lingering, Shift
from engine.testing.ollama_rules import Cut
from engine.testing.ollama_scheduler import GaveUp, Lease
from engine.testing.ollama_script import Gate, Pieces, Reply, Seen
from engine.testing.ollama_socket import go_json
from engine.testing.ollama_state import TOKEN_NS, State
from engine.testing.ollama_switches import AfterLeaving

_REPEATS = 30  # identical tokens in a row after which a runner gives up


@dataclass(slots=True)
class Generation:
    """One reply on its way out. `field` holds the text of each object."""

    exchange: Exchange
    lease: Lease
    seen: Seen
    cut: Cut
    field: str
    written: int = 0
    thinking: str = ""
    content: str = ""
    before: str = ""
    repeats: int = 0
    filled: int = 0
    was_huge: bool = False

    @property
    def tokens(self) -> int:
        """Tokens written so far."""
        return self.written * self.lease.model.tokens_per_word

    async def answer(self, reply: Reply, *, think: bool, num_predict: int) -> None:
        """Send the reply, as far as limits, faults and the client let it come."""
        exchange = self.exchange
        if isinstance(exchange.fault, faults.Impatient):
            raise GaveUp
        if isinstance(exchange.fault, faults.Chunked):
            exchange.wire.chunking = exchange.fault.how
        stops = (exchange.body.get("options") or {}).get("stop") or ()
        pieces = rules.until_stop(list(self._pieces(reply, think=think)), stops)
        limit = rules.reply_limit(num_predict, len(self.seen.words), self.cut)
        reused = await self._read(min(len(pieces), limit))
        for kind, piece in pieces:
            if await self._broke():
                return
            if self.tokens >= limit:
                break
            await self._gate(piece=self.written)
            await self._send(kind, piece)
            if self.repeats > _REPEATS and self.cut.path == "rendered":
                await self._end_without_last()
                return
        if await self._broke(at_end=True):
            return
        await self._finish(reply, "length" if self.tokens >= limit else "stop", reused)

    async def _gate(self, *, piece: int) -> None:
        script, name = self.exchange.state.script, self.lease.model.full_name
        await script.pass_gate("piece", piece, name)

    async def _read(self, reply_pieces: int) -> int:
        """Read the prompt; how many of its tokens were in the cache."""
        reused = self._reuse()
        self.filled = len(self.seen.words)
        script, state = self.exchange.state.script, self.exchange.state
        gate = script.next_gate("prompt", model=self.lease.model.full_name)
        if gate is not None:
            try:
                await gate.passed()
            except asyncio.CancelledError:
                habit = state.switches.habit_after_leaving(state.version)
                if habit != "stop":
                    self.lease.work_on(self._work_on(gate, habit, reused, reply_pieces))
                raise
        return reused

    async def _work_on(
        self, gate: Gate, habit: AfterLeaving, reused: int, reply_pieces: int
    ) -> None:
        """What the runner still does when its client has left while it read."""
        await gate.passed()
        model, tokens = self.lease.model, len(self.seen.words) - reused
        if habit == "reply":
            tokens += reply_pieces * model.tokens_per_word
        log = self.exchange.state.log
        log.lingering.append(Lingering(self.exchange.number, model.name, tokens))

    def _reuse(self) -> int:
        """How many tokens of the prompt are in the runner's cache; never all of them."""
        words, cached = self.seen.words, self.lease.runner.cached
        same = 0
        while same < min(len(words) - 1, len(cached)) and words[same] == cached[same]:
            same += 1
        self.lease.runner.cached = list(words)
        return max(same, 0)

    def _pieces(self, reply: Reply, *, think: bool) -> Iterator[tuple[str, str]]:
        """The reply's pieces; without thinking, only its text.

        Before 0.12.4 a request that does not ask for thinking gets it inside the content, before
        0.9 every request does.
        """
        thoughts, words = _split(reply.thinking), _split(reply.text)
        version = self.exchange.state.version
        asked = self.exchange.body.get("think") is not None and version >= rules.THINKING
        if think and thoughts and not asked and version < (0, 12, 4):
            words = ["<think>", *thoughts, "</think>", *words]
        elif think:
            yield from (("thinking", piece) for piece in thoughts)
        yield from (("content", piece) for piece in words)

    async def _send(self, kind: str, piece: str) -> None:
        self.exchange.enter("writing")
        self._make_room()
        self.written += 1
        size = self.lease.model.tokens_per_word
        self.filled += size
        self.lease.runner.cached += [piece.strip()] * size
        self.repeats = self.repeats + 1 if piece.strip() == self.before else 1
        self.before = piece.strip()
        if self._withholds():
            self.thinking += piece if kind == "thinking" else ""
            self.content += piece if kind == "content" else ""
        elif kind == "thinking":
            await self._line(self._message("", thinking=piece))
        else:
            await self._line(self._message(piece))

    def _withholds(self) -> bool:
        """Whether everything comes at the end: no stream, or an old one that may call tools."""
        waits = bool(self.exchange.body.get("tools")) and self.exchange.state.version < (0, 8, 0)
        return waits or not self.exchange.streams

    def _make_room(self) -> None:
        """Stage 3: a full window forgets half of itself, from `num_keep` on."""
        if self.filled < self.cut.window or not self.cut.shifts:
            return
        lost, runner = rules.shifted(self.filled, self.cut), self.lease.runner
        keep = self.filled - 2 * lost if self.cut.keep < 0 else self.cut.keep
        self.filled -= lost
        runner.cached = runner.cached[:keep] + runner.cached[keep + lost :]
        shift = Shift(self.exchange.number, self.lease.model.name, lost)
        self.exchange.state.log.shifts.append(shift)

    # ---- the end ----

    async def _finish(self, reply: Reply, reason: str, reused: int) -> None:
        exchange = self.exchange
        calls = _calls(reply, exchange.state) if exchange.body.get("tools") else []
        native = self.cut.path == "native" and self.cut.version >= rules.LLAMA_SERVER
        last_calls = calls if reply.calls_last or native or not exchange.streams else []
        if calls and not last_calls:
            await self._line(self._message("", tool_calls=calls))
        content = "" if calls and exchange.streams else self.content
        last = self._message(content, thinking=self.thinking, tool_calls=last_calls)
        last |= {"done": True, **self._metrics(reused)}
        if exchange.state.version >= (0, 1, 35):
            last["done_reason"] = reason
        if isinstance(exchange.fault, faults.NoDone):
            last["done"] = False
            if not exchange.fault.false:
                del last["done"]
        if not exchange.streams:
            await exchange.wire.json(200, last)
            return
        await self._line(last)
        if isinstance(exchange.fault, faults.AfterDone):
            again = exchange.fault.what == "again"
            await self._line(last if again else self._message(" and more"))
        await exchange.wire.end()

    def _metrics(self, reused: int) -> dict[str, int]:
        prompt, load_ns = len(self.seen.words), self.lease.load_ns
        lies, version = self.exchange.state.switches, self.exchange.state.version
        durations = {
            "total_duration": load_ns + (prompt - reused + self.tokens) * TOKEN_NS,
            "load_duration": load_ns,
            "prompt_eval_duration": (prompt - reused) * TOKEN_NS,
            "eval_duration": self.tokens * TOKEN_NS,
        }
        if lies.durations is not None:
            durations = {name: lies.durations(value) for name, value in durations.items()}
        told = rules.reported_prompt(prompt, reused, version)
        counts = {
            "prompt_eval_count": lies.prompt_count(told) if lies.prompt_count else told or None,
            "eval_count": lies.reply_count(self.tokens)
            if lies.reply_count
            else self.tokens or None,
        }
        present = {name: value for name, value in durations.items() if value}
        return present | {name: value for name, value in counts.items() if value is not None}

    def _message(self, content: str, **more: Any) -> dict[str, Any]:
        present = {name: value for name, value in more.items() if value}
        model = self.lease.model
        base: dict[str, Any] = {
            "model": self.exchange.body["model"],
            "created_at": self.exchange.state.stamp(),
        }
        if model.remote_host:
            base |= {"remote_model": model.name, "remote_host": model.remote_host}
        if self.field == "response":
            return base | {"response": content, **present, "done": False}
        message = {"role": "assistant", "content": content, **present}
        return base | {"message": message, "done": False}

    async def _line(self, value: Any) -> None:
        await self.exchange.wire.line(value)

    # ---- faults ----

    async def _broke(self, *, at_end: bool = False) -> bool:
        """Whether the scripted fault ended the answer here, at the latest before its last object."""
        fault, exchange = self.exchange.fault, self.exchange
        after = getattr(fault, "after", None)
        if after is None or not (at_end or self.written == after):
            return False
        if isinstance(fault, faults.Huge):
            await self._be_huge(fault)
            return False
        exchange.how = "broken"
        match fault:
            case faults.EndEarly(half_line=half, half_character=broken):
                await self._end_without_last(
                    self._half(character=broken) if half or broken else b""
                )
            case faults.Drop(reset=reset, half_character=broken):
                await exchange.wire.half_chunk(self._half(character=broken))
                exchange.wire.cut(reset=reset)
            case faults.Error():
                await self._fail(fault)
            case faults.Silence():
                await never()
        return True

    def _half(self, *, character: bool) -> bytes:
        """The beginning of a line; with `character` up to the first half of one."""
        line = go_json(self._message("never ççmplete"))
        return line[: line.index("ç".encode()) + 1] if character else line[:40]

    async def _be_huge(self, fault: faults.Huge) -> None:
        """One object far larger than any other, once."""
        if self.was_huge or not self.exchange.streams:
            return
        self.was_huge = True
        filling = " " * fault.size
        if fault.field == "content":
            await self._line(self._message(filling))
        else:
            await self._line(self._message("") | {"padding": filling})

    async def _fail(self, fault: faults.Error) -> None:
        exchange, error = self.exchange, {fault.key: fault.text}
        exchange.how = "refused"
        if fault.dies:
            exchange.scheduler.drop(self.lease.runner, "died")
        early = not exchange.wire.streaming
        if early and (exchange.state.version >= rules.SHIFT_KNOWN or not exchange.streams):
            await exchange.wire.json(fault.status, error, "application/json")
            return
        await exchange.wire.line(error)
        await exchange.wire.end()

    async def _end_without_last(self, tail: bytes = b"") -> None:
        if tail:
            await self.exchange.wire.chunk(tail)
        if self.exchange.streams:
            await self.exchange.wire.end()
        elif self.written:
            whole = self._message(self.content, thinking=self.thinking)
            await self.exchange.wire.json(200, whole)
        else:
            await self.exchange.wire.json(200, self._nothing())

    def _nothing(self) -> dict[str, Any]:
        """What a server writes of a reply that never began."""
        empty: Any = {"role": "", "content": ""} if self.field == "message" else ""
        moment = "0001-01-01T00:00:00Z"
        return {"model": "", "created_at": moment, self.field: empty, "done": False}


def _split(pieces: Pieces) -> list[str]:
    return rules.tokens_of(pieces) if isinstance(pieces, str) else list(pieces)


def _calls(reply: Reply, state: State) -> list[dict[str, Any]]:
    calls = []
    for index, (name, arguments) in enumerate(reply.tool_calls):
        function: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
        if state.version >= (0, 4, 7):
            function = {"index": index, **function}
        call: dict[str, Any] = {"function": function}
        if state.version >= (0, 12, 10):
            state.clock.looks += 1
            call = {"id": f"call_{state.clock.looks:08x}", **call}
        calls.append(call)
    return calls
