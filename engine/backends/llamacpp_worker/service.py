"""What the worker does for each command; one after the other, counts also between two tokens."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from engine.backends.base import LoadRequest
from engine.backends.gguf import GgufHeader, read_header
from engine.backends.llamacpp_worker.chat import Chat
from engine.backends.llamacpp_worker.link import Link
from engine.backends.llamacpp_worker.memory import Q8_SHARE, memory_short, plan_memory
from engine.backends.llamacpp_worker.native import ContextShape, Interrupt, Model
from engine.backends.llamacpp_worker.prefix_file import model_mark
from engine.backends.llamacpp_worker.protocol import (
    Wire,
    chunk_to_wire,
    fault_to_wire,
    load_from_wire,
    loaded_to_wire,
    request_from_wire,
)
from engine.backends.llamacpp_worker.stretch import StretchPlan, plan_stretch
from engine.backends.llamacpp_worker.templates import (
    ChatTemplate,
    TemplateLimits,
    probe_template,
)
from engine.errors import EnvironmentFault, ModelMissing, Stopped

_PROGRESS_STEP = 0.01


class Service:
    """Serves the commands of a link with at most one model.

    Args:
        link: where commands come from and answers go.
        interrupt: the user's stop.
    """

    def __init__(self, link: Link, interrupt: Interrupt) -> None:
        self._link = link
        self._interrupt = interrupt
        self._model: Model | None = None
        self._identity = ("", "", False)
        self._chat: Chat | None = None
        self._job = 0
        self._reported = 0.0

    def run(self) -> None:
        """Serve until the application is gone, then free everything."""
        for command in self._link.commands():
            self._serve(command)
        self._unload()

    def _serve(self, command: Wire) -> None:
        """One job: its messages, of which exactly one ends it."""
        job = self._job = command["job"]
        with self._link.working(job):
            try:
                for message in self._answers(command):
                    self._link.say(job, message)
                    for count in self._link.waiting_counts():
                        self._count_between(count)
                    self._job = job
            except Stopped:
                self._link.say(job, {"say": "stopped"})
            except EnvironmentFault as fault:
                self._link.say(job, fault_to_wire(fault))

    def _count_between(self, command: Wire) -> None:
        """Answer a count while a reply is being written."""
        job = self._job = command["job"]
        try:
            for message in self._answers(command):
                self._link.say(job, message)
        except EnvironmentFault as fault:
            self._link.say(job, fault_to_wire(fault))

    def _answers(self, command: Wire) -> Iterator[Wire]:
        match command["do"]:
            case "load":
                yield self._load(*load_from_wire(command))
            case "count":
                tokens = self._ready().count(request_from_wire(command["request"]))
                yield {"say": "counted", "tokens": tokens}
            case "measure":
                yield {"say": "measured", "tokens": self._ready().measure(command["texts"])}
            case "stream":
                request = request_from_wire(command["request"])
                yield from map(chunk_to_wire, self._ready().reply(request))
            case "probe":
                yield {"say": "probed", **asdict(_template_limits(Path(command["model"])))}
            case "save":
                yield {"say": "moved", "done": self._ready().save(Path(command["file"]))}
            case "restore":
                yield {"say": "moved", "done": self._ready().restore(Path(command["file"]))}

    def _ready(self) -> Chat:
        if self._chat is None:
            raise ModelMissing("No model is loaded in the worker.", "Load one first.")
        return self._chat

    # ---- loading --------------------------------------------------------------------------------

    def _load(self, request: LoadRequest, threads: int) -> Wire:
        """Make a model ready: its header first, then the memory, then native code."""
        header = read_header(Path(request.model))
        plan = plan_stretch(request.stretch, header.trained_window, request.window_tokens)
        template = ChatTemplate(header.template, header.bos, header.eos)
        words_only = request.words_only
        identity = (request.model, model_mark(Path(request.model)), words_only)
        self._unload(keep_model=identity == self._identity)
        shape = None
        if not words_only:
            self._require_memory(header, plan, request)
            shape = ContextShape(plan.window_tokens, threads, request.kv_type)
        if self._model is None:
            self._model = Model(request.model, self._report_progress, words_only=words_only)
            self._identity = identity
        self._chat = Chat(
            self._model,
            template,
            plan,
            shape,
            mark=identity[1],
            interrupt=self._interrupt,
            on_rendering=self._report_rendering,
        )
        return loaded_to_wire(self._chat.loaded)

    def _unload(self, *, keep_model: bool = False) -> None:
        """Free the context, and the weights if another model comes; in this order."""
        if self._chat is not None:
            self._chat.close()
            self._chat = None
        if self._model is not None and not keep_model:
            self._model.close()
            self._model = None

    def _require_memory(self, header: GgufHeader, plan: StretchPlan, request: LoadRequest) -> None:
        """Raise MemoryShort unless weights (if not there yet) and cache fit what is free."""
        import psutil  # late: it is only needed here

        share = Q8_SHARE if request.kv_type == "q8_0" else 1.0
        memory = plan_memory(
            available_bytes=psutil.virtual_memory().available,
            weights_bytes=header.file_bytes if self._model is None else 0,
            kv_bytes_per_token=int(header.kv_bytes_per_token * share),
            window_tokens=plan.window_tokens,
        )
        if not memory.fits:
            raise memory_short(memory, plan.window_tokens)

    def _report_progress(self, fraction: float) -> bool:
        """Tell how far the weights are read; False once the user stopped."""
        if fraction == 0.0 or abs(fraction - self._reported) >= _PROGRESS_STEP:
            self._reported = fraction
            self._link.say(self._job, {"say": "loading", "fraction": round(fraction, 3)})
        return not self._interrupt.raised

    def _report_rendering(self, begins: bool) -> None:  # noqa: FBT001  # a callback's one value
        self._link.say(self._job, {"say": "rendering" if begins else "rendered"})


def _template_limits(path: Path) -> TemplateLimits:
    header = read_header(path)
    return probe_template(header.template, header.bos, header.eos)
