"""The figures of a context in words and parts, for the meter and the panel. Qt-free."""

from app.client import ContextFacts
from app.meter_plan import MeterValues, Part
from app.words import short_tokens, translate
from engine.budget import Budget
from engine.segments import LedgerLine, SegmentName

_PARTS: dict[SegmentName, Part] = {
    "system prompt": "system",
    "summary": "summary",
    "pinned": "pins",
    "your messages": "recent",
    "replies": "recent",
    "files": "files",
    "tool results": "files",
    "thinking": "thinking",
    "other": "recent",
}


def plan_meter(facts: ContextFacts) -> MeterValues:
    """What the meter shows: the engine's segments, several of them as one part."""
    tokens: dict[str, int] = {}
    for segment in facts.segments:
        part = _PARTS[segment.name]
        tokens[part] = tokens.get(part, 0) + segment.tokens
    budget = facts.budget
    return MeterValues(
        **tokens,
        draft=facts.draft,
        budget=budget.prompt if budget is not None else 0,
        window=budget.window if budget is not None else 0,
        exact=facts.kind == "exact",
    )


def refusal_words(facts: ContextFacts) -> str:
    """Why the draft cannot be sent; "" when it can."""
    fit = facts.fit
    if fit is None or fit.state != "too_large":
        return ""
    said = translate(
        "Context", "This message does not fit: {size} tokens, and there is room for {room}."
    )
    return said.format(size=f"{facts.draft:,}", room=f"{fit.room:,}")


def fit_words(facts: ContextFacts) -> tuple[str, str]:
    """What is near, in a sentence, and its tone ("amber" or "red"); empty while all is well."""
    fit = facts.fit
    if fit is None or fit.state == "fits":
        return "", ""
    if fit.state == "near":
        return translate("Context", "Nearly full: older messages are folded soon."), "amber"
    if fit.state == "too_large":
        return refusal_words(facts), "red"
    over = f"{fit.over:,}"
    if fit.state == "folds":
        said = translate(
            "Context",
            "{over} tokens over the budget: older messages are folded before it is sent.",
        )
    else:
        said = translate("Context", "{over} tokens over the budget: it is sent whole.")
    return said.format(over=over), "red"


def reserve_words(budget: Budget) -> str:
    """Why the reserve is not what was asked for; "" when it is."""
    raised = max(budget.requested, budget.floor)
    steps = []
    if raised > budget.requested:
        steps.append(
            translate("Context", "raised to the floor {tokens}").format(tokens=f"{raised:,}")
        )
    if budget.reserve < raised:
        capped = translate("Context", "capped at {tokens} so that {prompt} remain for the prompt")
        steps.append(capped.format(tokens=f"{budget.reserve:,}", prompt=f"{budget.prompt:,}"))
    if not steps:
        return ""
    asked = translate("Context", "{tokens} asked for").format(tokens=f"{budget.requested:,}")
    return translate("Context", ", ").join([asked, *steps])


def ledger_words(line: LedgerLine) -> tuple[str, str]:
    """A compaction in two lines: before and after; what was folded, how, in how long."""
    if line.before and line.after:
        title = translate("Context", "{before} → {after}").format(
            before=short_tokens(line.before), after=short_tokens(line.after)
        )
    else:
        title = translate("Context", "Compacted")
    ways = {
        "in_place": translate("Context", "in place"),
        "staged": translate("Context", "in stages"),
        "partial": translate("Context", "in stages, in part"),
        "placeholder": translate("Context", "a placeholder"),
    }
    facts = []
    if line.undone:
        facts.append(translate("Context", "undone"))
    if line.folded:
        facts.append(translate("Context", "%n message(s) folded", "", line.folded))
    how = [ways.get(line.way, line.way)] if line.way else []
    if line.seconds:
        seconds = max(1, round(line.seconds))
        how.append(translate("Context", "%n s", "", seconds))
    if how:
        facts.append(translate("Context", ", ").join(how))
    return title, " · ".join(facts)
