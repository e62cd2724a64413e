"""`porthole explain`: what fills a context window, and what would be done about it.

Nothing is sent and no model is loaded: of a GGUF file only the vocabulary is, so that the prompt is
counted exactly; an Ollama server is asked what it knows of its model.
"""

import argparse
import asyncio
import json
import shutil
import stat
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.terminal.console import EXIT_OK, Console, columns, counted, lower_first
from app.terminal.modelfacts import is_unfetched
from app.wiring import Workplace, kept_options
from engine.backends.base import ModelInfo
from engine.context import ContextSettings, ContextView
from engine.errors import EnvironmentFault
from engine.explain import Explained, Explanation, plan_explanation
from engine.models import ModelName, ModelPlan, WindowLimits
from engine.readiness import free_memory, plan_ready
from engine.tokens import Weighed
from engine.transcript import (
    BranchSummary,
    CustomMessage,
    Entry,
    Message,
    path_to,
)
from engine.window import ContextWindow, Endpoint, resolve_window, source_words

WIDTH = 80
LISTED = 12
"""Messages listed under what is folded, kept and shortened."""
_LABEL = 17


def run(options: argparse.Namespace, workplace: Workplace, console: Console) -> int:
    """Explain a conversation or a file."""
    for problem in workplace.settings.problems:
        console.say(str(problem))
    if options.file is not None:
        explanation, notes = _explain_file(options, workplace)
    else:
        explanation, notes = asyncio.run(_explain_session(options, workplace, console))
    if options.json:
        console.result(json.dumps(explanation.to_json(), ensure_ascii=False, indent=2))
        for note in notes:
            console.say(note)
    else:
        width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
        for line in lines_of(explanation, notes, width=max(width, 40), spec=options.spec):
            console.result(line)
    return EXIT_OK


# ---- what is explained --------------------------------------------------------------------------


def _explain_file(
    options: argparse.Namespace, workplace: Workplace
) -> tuple[Explanation, tuple[str, ...]]:
    path = read_path(Path(options.file).expanduser())
    settings = workplace.settings
    limits = WindowLimits(
        settings["context.cap_tokens"],
        settings["context.hard_min_tokens"],
        settings["context.warn_below_tokens"],
    )
    window = _asked(options) or resolve_window(cap_tokens=limits.cap_tokens)
    system = kept_options(path).system_prompt or ""
    model = Explained(system_prompt=system, limits=limits)
    return _planned(options, workplace, path, window, model), ()


async def _explain_session(
    options: argparse.Namespace, workplace: Workplace, console: Console
) -> tuple[Explanation, tuple[str, ...]]:
    try:
        for notice in workplace.store.notices:
            console.say(notice)
        row = workplace.store.find_session(options.session)
        path = workplace.store.path(row.id)
        if not path:
            raise EnvironmentFault("There is nothing in this conversation yet.")
        name = workplace.model_name(workplace.session_model(row) or None)
        plan = workplace.plan(name, (kept_options(path),))
        notes: tuple[str, ...] = ()
        window = _asked(options)
        if window is None:
            window, notes = await _planned_window(workplace, name, plan)
        model = Explained(
            plan.label,
            plan.system_prompt,
            workplace.calibrations.of(plan.label),
            plan.limits,
            Endpoint(plan.self_hosted, can_stretch=plan.backend == "llama.cpp"),
            plan.thinking_history,
            sees_images=await _sees_images(workplace, plan, path),
        )
        counted = None
        if not (options.spec or is_unfetched(workplace, name)):
            counted = await workplace.counted(row.id, plan)
        return _planned(options, workplace, path, window, model, counted), notes
    finally:
        await workplace.close()


async def _sees_images(workplace: Workplace, plan: ModelPlan, path: Sequence[Entry]) -> bool:
    """Whether the model gets the pictures of a path; it is asked only where there are some."""
    if not any(isinstance(entry.body, Message) and entry.body.images for entry in path):
        return False
    try:
        return (await workplace.backend(plan.backend).describe(plan.name)).sees_images
    except EnvironmentFault:
        return False


def _planned(
    options: argparse.Namespace,
    workplace: Workplace,
    path: Sequence[Entry],
    window: ContextWindow,
    model: Explained,
    counted: ContextView | None = None,
) -> Explanation:
    settings = _settings(options, workplace.context_settings())
    explanation = plan_explanation(
        path, window, settings, model, spec=options.spec, counted=counted
    )
    if not (explanation.segments or explanation.fold.kept or explanation.spec_estimate):
        raise EnvironmentFault("There is nothing in this conversation that a model would get.")
    return explanation


def _asked(options: argparse.Namespace) -> ContextWindow | None:
    """The window of the option, taken as it is."""
    return None if options.window is None else ContextWindow(options.window, "option")


async def _planned_window(
    workplace: Workplace, name: ModelName, plan: ModelPlan
) -> tuple[ContextWindow, tuple[str, ...]]:
    """The window a turn would request, and what there is to say of it.

    Where the model cannot be asked, what settings and conversation say must do.
    """
    try:
        if is_unfetched(workplace, name):
            info = workplace.starter_info()
        else:
            info = await workplace.backend(plan.backend).describe(plan.name)
        asked, _ = plan_ready(plan, info, free_memory() if plan.backend == "llama.cpp" else None)
        return asked.window, asked.notes
    except EnvironmentFault as fault:
        asked, _ = plan_ready(plan, ModelInfo(plan.name), None)
        window = asked.window
        figure = f"{window.tokens:,} tokens ({source_words(window.source, plan.label)})"
        return window, (f"{fault} So the window is taken to be {figure}.", *asked.notes)


def _settings(options: argparse.Namespace, settings: ContextSettings) -> ContextSettings:
    """The user's settings with this run's figures.

    The specification's vectors name the reserve as it counts: with `--spec` no floor raises it.
    """
    reserve, floor, keep = options.reserve, options.floor, options.keep_recent
    if options.spec and reserve is not None and floor is None:
        floor = 0
    return replace(
        settings,
        reserve_tokens=settings.reserve_tokens if reserve is None else reserve,
        reserve_floor=settings.reserve_floor if floor is None else floor,
        keep_recent=settings.keep_recent if keep is None else keep,
    )


def read_path(file: Path) -> tuple[Entry, ...]:
    """The path of the conversation in a JSONL file. Raises EnvironmentFault, one sentence."""
    from engine.store.jsonl import read_lines

    try:
        kind = file.stat().st_mode
        if stat.S_ISDIR(kind):
            raise EnvironmentFault(f"{file} is a folder, not a file.")
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise EnvironmentFault(f"{file} is a device, not a file.")
        with file.open("rb") as lines:
            read = read_lines(lines, 0)
    except FileNotFoundError:
        raise EnvironmentFault(f"There is no file {file}.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise EnvironmentFault(f"{file} cannot be read: {lower_first(str(reason))}.") from error
    if read.session is None:
        raise EnvironmentFault(
            f"There is no conversation in {file}: its first line is not a JSON object of type "
            '"session" with an id.'
        )
    path = path_to(read.entries, read.session.leaf)
    if not path:
        raise EnvironmentFault(f"The conversation in {file} is empty.")
    return path


# ---- what is said of it -------------------------------------------------------------------------

ROUTES = {
    "fits": "fits: it is sent as it is",
    "truncate_tool_results_only": "truncate_tool_results_only: tool results are shortened, then "
    "it is sent",
    "compact_only": "compact_only: older messages are folded into a summary, then it is sent",
    "compact_then_truncate": "compact_then_truncate: older messages are folded into a summary, "
    "then tool results are shortened if need be",
}
KINDS = {
    "exact": "counted",
    "anchored": "from what the model reported for its last reply; what came after is estimated, "
    "and the parts below are shares",
    "estimated": "estimated, with a margin",
}


def lines_of(
    explanation: Explanation, notes: Iterable[str] = (), *, width: int = WIDTH, spec: bool = False
) -> list[str]:
    """An explanation as lines for people, none wider than `width` columns."""
    rows = [*_window_rows(explanation, notes), *_budget_rows(explanation, spec=spec)]
    lines = [line for label, text in rows for line in _wrapped(label, text, width)]
    lines += ["", *_segment_lines(explanation, width), ""]
    for label, text in _action_rows(explanation):
        lines += _wrapped(label, text, width)
    return [*lines, *_message_lines(explanation, width)]


def _window_rows(explanation: Explanation, notes: Iterable[str]) -> Iterator[tuple[str, str]]:
    window, guard = explanation.window, explanation.guard
    yield (
        "Context window",
        f"{window.tokens:,} tokens ({source_words(window.source, 'the model')})",
    )
    for note in notes:
        yield "", note
    verdict = "refused:" if guard.block else "a warning:" if guard.warn else "no objection"
    yield "Guard", " ".join((verdict, *explanation.messages))


def _budget_rows(explanation: Explanation, *, spec: bool) -> Iterator[tuple[str, str]]:
    budget, count = explanation.view.budget, explanation.view.count
    asked = f"{budget.requested:,} asked for"
    why = f": {asked}, {budget.explanation}" if budget.explanation else ", as asked for"
    yield "Reserve", f"{budget.reserve:,} tokens{why}"
    yield "Prompt budget", f"{budget.prompt:,} tokens"
    how = "as the specification estimates, margin included" if spec else KINDS[count.kind]
    yield "Count", f"{count.tokens:,} tokens, {how}"
    if not spec:
        yield "", f"the specification's own estimate: {explanation.spec_estimate:,}"


def _segment_lines(explanation: Explanation, width: int) -> list[str]:
    """The window as a table with bars: what fills it, what is free, what is kept free."""
    view = explanation.view
    budget, count = view.budget, view.count.tokens
    rows: list[tuple[str, int, str]] = [
        (s.name, s.tokens, _entries(s.entries)) for s in explanation.segments
    ]
    over = max(0, count - budget.prompt)
    rows.append(("over the budget" if over else "free", over or budget.prompt - count, ""))
    rows.append(("reserve", budget.reserve, ""))
    most = max(budget.window, count, 1)
    space = max(0, width - _LABEL - 26)
    lines = []
    for name, tokens, about in rows:
        mark = "·" if name in ("free", "reserve") else "█"
        bar = mark * round(space * tokens / most)
        lines.append(f"  {name:<{_LABEL - 2}}{tokens:>10,}  {about:<12}  {bar}".rstrip())
    return lines


def _entries(number: int) -> str:
    return counted(number, "message") if number else ""


def _action_rows(explanation: Explanation) -> Iterator[tuple[str, str]]:
    view, route, fold = explanation.view, explanation.view.route, explanation.fold
    words = ROUTES[route.route]
    if route.must_compact and not view.settings.enabled:
        words += " (but compaction.enabled is off: it is sent whole for as long as it fits)"
    yield "Route", words
    yield "Overflow", f"{route.overflow:,} tokens" if route.overflow else "none"
    yield "Reducible", _reducible_words(explanation)
    yield "Aim", f"{view.targets.target:,} tokens after a compaction"
    if fold.why_not:
        yield "Compaction", f"would fold nothing. {fold.why_not}"
        return
    yield "Compaction", f"would fold {_sum_words(fold.folded)} and keep {_sum_words(fold.kept)}"
    if fold.after_tokens:
        yield "", f"at most {fold.after_tokens:,} tokens would be left"
    if fold.pinned:
        yield "", f"{counted(len(fold.pinned), 'folded message')} would stay word for word"
    yield "Cut", f"before “{columns(_words(fold.kept[0].entry), 40)}”"
    if fold.split_turn:
        yield "", "in the middle of a turn, whose beginning gets a summary of its own"
    sizes = " + ".join(f"{tokens:,}" for tokens in explanation.chunks[:LISTED])
    more = len(explanation.chunks) - LISTED
    yield (
        "Chunks",
        f"{counted(len(explanation.chunks), 'request')} if the summary is written in stages, of "
        f"{sizes} tokens" + (f" and {more} more" if more > 0 else ""),
    )


def _reducible_words(explanation: Explanation) -> str:
    route = explanation.view.route
    text = f"{route.reducible_chars:,} characters of tool results"
    if route.threshold_chars:
        text += f"; shortening alone would do from {route.threshold_chars:,}"
    return text


def _sum_words(items: Sequence[Weighed]) -> str:
    tokens = sum(item.tokens for item in items)
    return f"{counted(len(items), 'message')} ({tokens:,} tokens)"


def _message_lines(explanation: Explanation, width: int) -> list[str]:
    """What would be folded, kept and shortened, a line each."""
    fold = explanation.fold
    stay = fold.pinned
    groups = (
        (
            "Folded",
            [
                (item.entry, f"{item.tokens:,}" + (" stays" if item.entry.id in stay else ""))
                for item in fold.folded
            ],
        ),
        ("Kept", [(item.entry, f"{item.tokens:,}") for item in fold.kept]),
        (
            "Shortened",
            [
                (change.entry, f"{change.before_chars:,} → {change.after_chars:,} characters")
                for change in explanation.shortened
            ],
        ),
    )
    lines: list[str] = []
    for label, rows in groups:
        if rows:
            lines += ["", f"{label} (tokens)" if label != "Shortened" else label]
            lines += [_message_line(entry, figures, width) for entry, figures in rows[:LISTED]]
            if len(rows) > LISTED:
                lines.append(f"  and {len(rows) - LISTED:,} more")
    return lines


def _message_line(entry: Entry, figures: str, width: int) -> str:
    head = f"  {_who(entry):<12} {figures:>8}  "
    return head + columns(_words(entry), max(10, width - len(head)))


def _who(entry: Entry) -> str:
    match entry.body:
        case Message(role="user"):
            return "you"
        case Message(role="assistant"):
            return "reply"
        case Message(role="tool_result"):
            return "tool result"
        case Message():
            return "system"
        case BranchSummary():
            return "other branch"
        case _:
            return "note"


def _words(entry: Entry) -> str:
    match entry.body:
        case Message() as message:
            calls = ", ".join(call.name for call in message.tool_calls)
            said = f"(calls {calls})" if calls else "(no text)"
            return message.text or ("(image)" if message.images else said)
        case CustomMessage(content=text) | BranchSummary(summary=text):
            return text
        case _:
            return ""


def _wrapped(label: str, text: str, width: int) -> list[str]:
    """A label and a text beside it."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=f"{label:<{_LABEL}}",
        subsequent_indent=" " * _LABEL,
        break_on_hyphens=False,
    )
