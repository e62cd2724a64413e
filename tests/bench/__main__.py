"""Speed, measured against a named baseline in the same run: `poe bench [ID…]`.

One line a figure: `ID value unit | baseline | ratio | goal | ok or SHORT`. Needs the starter model
(the one that packaging/test keeps, or that of the user's profile; PORTHOLE_TEST_MODEL names another).
"""

import sys
from collections.abc import Callable

from tests.bench import context, measures, server, soak
from tests.bench.figure import Figure
from tests.bench.window.figures import FIGURES as WINDOW


def reply_speed() -> Figure:
    ours, raw = measures.reply_speed()
    return Figure(ours, "tokens/s", raw, "raw loop", ">= 0.97", ours / raw >= 0.97)


def ttft_turn10() -> Figure:
    ours, raw = measures.first_token_on_turn_ten()
    return Figure(ours, "ms", raw, "raw loop", "<= 1.05", ours / raw <= 1.05)


def append_full() -> Figure:
    ours, raw = measures.durable_append()
    return Figure(ours, "ms", raw, "bare INSERT, FULL", "value <= 10", ours <= 10)


def status_start() -> Figure:
    ours, raw = measures.status_start()
    return Figure(ours, "s", raw, "bare python", "value <= 0.4", ours <= 0.4)


def plan_10k() -> Figure:
    ours, walk = context.planning()
    return Figure(ours, "ms", walk, "one walk over 10,000", "value <= 10", ours <= 10)


def compact_in_place() -> Figure:
    ours, staged = context.in_place_and_staged()
    goal = "staged / in place >= 4"
    return Figure(ours, "s", staged, "staged", goal, staged / ours >= 4)


def talk60() -> Figure:
    compactions, wrong = context.sixty_turns()
    for complaint in wrong:
        print(f"# {complaint}", file=sys.stderr)
    return Figure(compactions, "compactions", 60, "turns", "2 to 5, nothing wrong", not wrong)


def stop_in(phase: str) -> Callable[[], Figure]:
    def measure() -> Figure:
        ours, bare = server.stop_ms(phase)
        return Figure(ours, "ms", bare, "a bare connection closed", "value <= 250", ours <= 250)

    return measure


def ollama_soak() -> Figure:
    found, wrong = soak.soaked()
    for complaint in wrong:
        print(f"# {complaint}", file=sys.stderr)
    grown = soak.growth(found)
    goal = f"memory <= 1.10, nothing wrong in {found.turns} turns"
    return Figure(grown, "times", found.failed, "failed turns", goal, not wrong and grown <= 1.1)


STOPS = ("queue", "load", "read", "think", "write", "compact")

FIGURES: dict[str, Callable[[], Figure]] = {
    "reply_speed": reply_speed,
    "ttft_turn10": ttft_turn10,
    "append_full": append_full,
    "status_start": status_start,
    "plan_10k": plan_10k,
    "compact_in_place": compact_in_place,
    "talk60": talk60,
    **{f"ollama_stop_{phase}": stop_in(phase) for phase in STOPS},
    "ollama_soak": ollama_soak,
    **WINDOW,
}


def main(names: list[str]) -> int:
    """Measure what was named, or everything; 1 when a goal is missed."""
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(FIGURES)}", file=sys.stderr)
        return 2
    short = False
    for name in names or FIGURES:
        figure = FIGURES[name]()
        print(figure.line(name), flush=True)
        short = short or not figure.is_met
    return int(short)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
