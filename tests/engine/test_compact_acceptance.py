"""What a model may write as a summary, and what is refused (C12, C14, C21)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.compact.acceptance import (
    SENTENCES,
    SummaryRejected,
    Written,
    check_echo,
    check_size,
    clean_summary,
    is_refusal,
    is_repeating,
)
from engine.errors import PortholeError

GOOD = """## Goal
- Sow the north bed before the frost.

## Progress
- Done: soil turned, 12 kg of compost worked in.
- In progress: choosing between kale and leek.

## Last request
- A table of sowing dates; half of it was written."""

LOOP = "\n".join(["- The user asked for the table of sowing dates again."] * 6)
LONG_APOLOGY = (
    "I'm sorry for the loss of the first draft, the user wrote, and started over. " + GOOD * 3
)


def accepted(text, **changed):
    """The text accepted with room to spare."""
    wanted = {"tokens": 200, "replaced_tokens": 4000, "cap_tokens": 500} | changed
    cleaned = clean_summary(Written(text))
    check_size(**wanted)
    return cleaned


def reason(written, *, salvage=False):
    """Why a text is refused."""
    with pytest.raises(SummaryRejected) as rejected:
        clean_summary(written, salvage=salvage)
    return rejected.value.reason


def test_a_good_summary_is_accepted_as_it_is():
    """Nothing in a summary is rewritten."""
    assert accepted(GOOD) == GOOD


WRAPPED = {
    "space": f"\n\n  {GOOD}\n \n",
    "summary-tags": f"<summary>\n{GOOD}\n</summary>",
    "summary-tag-open": f"<summary>\n{GOOD}",
    "summary-tag-close": f"{GOOD}\n</summary>",
    "analysis-before": f"<analysis>\nFirst the goal.\n</analysis>\n<summary>\n{GOOD}\n</summary>",
    "words-around-tags": f"Sure.\n<summary>\n{GOOD}\n</summary>\nLet me know if it helps.",
    "fence": f"```\n{GOOD}\n```",
    "fence-markdown": f"```markdown\n{GOOD}\n```",
    "think": f"<think>\nWhat did they want?\n</think>\n\n{GOOD}",
    "think-twice": f"<think>a</think>\n<think>b</think>\n{GOOD}",
    "thinking-tag": f"<thinking>Let me see.</thinking>{GOOD}",
    "think-empty": f"<think>\n\n</think>\n\n{GOOD}",
    "think-bracket": f"[THINK]Let me see.[/THINK]{GOOD}",
    "think-end-only": f"What did they want?\nA garden.\n</think>\n\n{GOOD}",
    "here-is": f"Here is the summary:\n\n{GOOD}",
    "heres": f"Here's a concise summary of our conversation so far:\n{GOOD}",
    "sure": f"Sure! Here is a summary of the conversation above:\n\n{GOOD}",
    "sure-alone": f"Okay.\n\n{GOOD}",
    "title": f"**Summary:**\n\n{GOOD}",
    "title-heading": f"# Conversation summary\n\n{GOOD}",
    "farewell": f"{GOOD}\n\nLet me know if you would like more detail!",
    "zh-here": f"好的，以下是对话的摘要：\n\n{GOOD}",
    "zh-title": f"摘要：\n{GOOD}",
    "zh-farewell": f"{GOOD}\n\n如果您需要更多细节，请告诉我。",
    "several": f"<think>x</think>Sure! Here is the summary:\n```\n<summary>\n{GOOD}\n</summary>\n```",
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED.keys())
def test_what_is_around_a_summary_is_taken_off(text):
    """Thinking, tags, a fence, phrases before and after: only the summary is stored."""
    assert accepted(text) == GOOD


KEPT = {
    "inner-fence": f"{GOOD}\n\n```sh\nsow --bed north\n```",
    "two-fences": "```sh\nsow\n```\nThen the user wanted the other one, which is:\n```sh\nreap\n```",
    "tags-in-code": "The user asked how to strip `</think>` and `<think>` out of a reply.",
    "summary-mentioned": "The user wants a summary of chapter 2 by Friday.",
    "heading-goal": "Goal: a garden that feeds four people.",
    "here": "Here the user changed course: no kale, only leek.",
    "sorry-inside": "The user wrote that they are sorry and cannot come on Sunday.",
    "none-everywhere": "\n".join(
        f"## {name}\n- None"
        for name in ("Goal", "Rules", "Progress", "Decisions", "Questions", "Z")
    ),
    "table": "| bed | crop |\n|-----|------|\n| north | kale |\n| south | leek |",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_what_belongs_to_a_summary_stays(text):
    """Code, quoted tags, and words that only look like chatter are content."""
    assert accepted(text) == text


def test_a_fence_around_everything_may_hold_others():
    """Only the outer fence goes."""
    inner = f"{GOOD}\n```sh\nsow --bed north\n```"
    assert accepted(f"```markdown\n{inner}\n```") == inner


REFUSED = {
    "nothing": (Written(""), "empty"),
    "space": (Written(" \n\t\n"), "empty"),
    "signs": (Written("...\n---"), "empty"),
    "empty-tags": (Written("<summary>\n</summary>"), "empty"),
    "closing-tags": (Written("</summary> " * 900), "empty"),
    "empty-fence": (Written("```\n```"), "empty"),
    "thinking-apart": (Written("", thinking="They want a garden."), "thinking"),
    "thinking-in-tags": (Written("<think>They want a garden.</think>"), "thinking"),
    "thinking-open": (Written("<think>They want a garden. So the goal is"), "thinking"),
    "thinking-open-cut": (Written("<think>They want", stop_reason="length"), "thinking"),
    "thinking-cut-before": (Written("", thinking="They", stop_reason="length"), "thinking"),
    "thinking-open-later": (Written(f"{GOOD}\n<think>Or is it"), "thinking"),
    "length": (Written(GOOD, stop_reason="length"), "unfinished"),
    "failed": (Written(GOOD, stop_reason="failed"), "unfinished"),
    "stopped": (Written(GOOD, stop_reason="stopped"), "unfinished"),
    "interrupted": (Written(GOOD, stop_reason="interrupted"), "unfinished"),
    "tool_calls": (Written(GOOD, stop_reason="tool_calls"), "unfinished"),
    "sorry": (Written("I'm sorry, but I can't help with that."), "refused"),
    "curly": (Written("I’m sorry, I can’t do that."), "refused"),
    "cannot": (Written("I cannot summarise this conversation."), "refused"),
    "unable": (Written("I am unable to assist with this request."), "refused"),
    "as-an-ai": (Written("As an AI language model, I have no memory of it."), "refused"),
    "please-provide": (Written("Please provide the conversation to summarise."), "refused"),
    "no-conversation": (Written("There is no conversation to summarise yet."), "refused"),
    "unfortunately": (Written("Unfortunately, I can't see the text."), "refused"),
    "chatter-then-sorry": (Written("Sure!\nI'm sorry, I cannot do it."), "refused"),
    "zh-sorry": (Written("很抱歉，我无法完成这个请求。"), "refused"),
    "zh-cannot": (Written("我不能总结这段对话。"), "refused"),
    "zh-model": (Written("作为一个人工智能语言模型，我没有记忆。"), "refused"),
    "zh-provide": (Written("请提供需要总结的对话内容。"), "refused"),
    "line-loop": (Written(LOOP), "repeating"),
    "word-loop": (Written("The user wants kale. " + "and then and then " * 40), "repeating"),
    "counted-loop": (Written(" ".join(f"{n}. Goal:" for n in range(1, 60))), "repeating"),
    "counted-lines": (
        Written("\n".join(f"{n}. I will send the steps." for n in range(1, 9))),
        "repeating",
    ),
    "tag-loop": (Written("<summary>\n" * 200 + GOOD), "repeating"),
    "paragraph-loop": (Written((GOOD.replace("\n", " ") + " ") * 4), "repeating"),
    "zh-loop": (Written("用户想要在北边的菜地里种羽衣甘蓝，" * 12), "repeating"),
    "word-without-end": (Written("ha" * 2000), "repeating"),
    "marks-without-end": (Written("Goal" + "!" * 400), "repeating"),
}


@pytest.mark.parametrize(("written", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_summary_is_rejected(written, why):
    """C12, C14 and their kinds: the reason is told, nothing of it is stored."""
    assert reason(written) == why


@pytest.mark.parametrize("stop", ["failed", "stopped", "interrupted", "tool_calls"])
def test_only_a_text_that_met_its_limit_is_salvaged(stop):
    """What broke in the middle is not cut back and kept."""
    assert reason(Written(GOOD, stop_reason=stop), salvage=True) == "unfinished"


SALVAGED = {
    "sentence": (
        "The bed is sown. The kale is in. The leek wai",
        "The bed is sown. The kale is in.",
    ),
    "question": ("Is the bed sown? The user said", "Is the bed sown?"),
    "list-item": (
        "- The bed is sown\n- The kale is in\n- The le",
        "- The bed is sown\n- The kale is in",
    ),
    "numbered": (
        "1. The bed is sown\n2. The kale is in\n3.",
        "1. The bed is sown\n2. The kale is in",
    ),
    "heading-left": ("- The bed is sown\n- Kale\n\n## Open ques", "- The bed is sown\n- Kale"),
    "heading-whole": ("- The bed is sown\n- Kale\n\n## Open\n- Wh", "- The bed is sown\n- Kale"),
    "complete": ("The bed is sown. The kale is in.", "The bed is sown. The kale is in."),
    "decimal": ("The bed is sown and it is wet. It took 2.5", "The bed is sown and it is wet."),
    "decimal-cut": ("The bed is sown and it is wet. It took 2.", "The bed is sown and it is wet."),
    "zh": (
        "北边的菜地已经播种。羽衣甘蓝已经种下。韭葱还",
        "北边的菜地已经播种。羽衣甘蓝已经种下。",
    ),
    "quoted": ('The user said "sow it now." And the le', 'The user said "sow it now."'),
}


@pytest.mark.parametrize(("text", "kept"), SALVAGED.values(), ids=SALVAGED.keys())
def test_a_text_that_ran_on_is_cut_back_to_what_is_complete(text, kept):
    """With `salvage`, a summary at its limit ends at its last whole sentence or list item."""
    assert clean_summary(Written(text, stop_reason="length"), salvage=True) == kept


NOT_SALVAGED = {
    "no-sentence": "The bed is being sown by the user who wants kale and leek and",
    "too-little": "Yes. " + "The bed is being sown by the user who wants kale and leek and " * 2,
    "headings-only": "## Goal\n\n## Progress\n\n## Key decis",
    "first-item": "- The bed is being sown by the us",
}


@pytest.mark.parametrize("text", NOT_SALVAGED.values(), ids=NOT_SALVAGED.keys())
def test_a_text_without_enough_complete_is_not_salvaged(text):
    """Less than 30 % of what was written stands for nothing."""
    assert reason(Written(text, stop_reason="length"), salvage=True) == "unfinished"


def test_a_loop_is_not_salvaged():
    """A model that loops until its limit is rejected however often."""
    assert reason(Written(LOOP + "\n- The us", stop_reason="length"), salvage=True) == "repeating"


@pytest.mark.parametrize(
    ("tokens", "replaced", "fits"),
    [
        (900, 1000, True),
        (901, 1000, False),
        (1000, 1000, False),
        (1200, 1000, False),
        (1, 0, False),
    ],
)
def test_a_summary_must_be_smaller_by_a_margin(tokens, replaced, fits):
    """C21: a text as long as what it replaces frees nothing."""
    if fits:
        check_size(tokens, replaced_tokens=replaced)
        return
    with pytest.raises(SummaryRejected, match="not have been smaller"):
        check_size(tokens, replaced_tokens=replaced)


def test_a_summary_over_its_cap_is_rejected():
    """The room kept for the summary is a promise to the next prompt."""
    with pytest.raises(SummaryRejected) as rejected:
        accepted(GOOD, tokens=501)
    assert rejected.value.reason == "too_long"
    assert accepted(GOOD, tokens=501, cap_tokens=0) == GOOD


@pytest.mark.parametrize("why", SENTENCES)
def test_every_reason_has_a_sentence(why):
    """The user reads a plain sentence; the program reads the reason."""
    rejected = SummaryRejected(why)
    assert str(rejected) == rejected.sentence == SENTENCES[why]
    assert rejected.sentence.endswith(".")
    assert isinstance(rejected, PortholeError)


def test_a_reason_of_another_part_has_a_sentence_too():
    """A reason this module does not know is still told."""
    assert str(SummaryRejected("odd")) == "The summary could not be used."


def test_a_long_text_that_begins_with_an_apology_is_no_refusal():
    """Only short texts are taken for refusals: a summary may quote one."""
    assert not is_refusal(LONG_APOLOGY)


def test_a_long_list_is_no_loop():
    """Items that begin alike say different things."""
    items = "\n".join(
        f"- The user moved bed {n} to row {n * 7} on day {n + 3}." for n in range(30)
    )
    assert not is_repeating(items)


@given(st.text(max_size=400), st.sampled_from(["stop", "length", "failed"]), st.booleans())
def test_whatever_is_written_ends_in_a_text_or_a_rejection(text, stop, salvage):
    """No text breaks the check; what is accepted is stripped and has words in it."""
    told = ""
    try:
        clean = clean_summary(Written(text, stop_reason=stop), salvage=salvage)
    except SummaryRejected as rejected:
        told = rejected.reason
    assert told in SENTENCES if told else clean == clean.strip() != ""


@given(st.text(alphabet=" \n`<>/summarythink#*-:.", max_size=300))
def test_cleaning_twice_changes_nothing(text):
    """A cleaned summary is a summary: cleaning it again finds nothing to take off."""
    try:
        clean = clean_summary(Written(text))
    except SummaryRejected:
        return
    assert clean_summary(Written(clean)) == clean


ASKED = "Summarise this.\n- Write only what the conversation says.\n- Use at most 40 words."


@pytest.mark.parametrize(
    "text", ["- Write only what the conversation says.\n- Use at most 40 words", ASKED]
)
def test_an_echo_of_the_instruction_is_refused(text):
    """A small model repeats what it was told to do."""
    with pytest.raises(SummaryRejected) as rejected:
        check_echo(text, ASKED)
    assert rejected.value.reason == "echo"


def test_a_summary_may_share_a_line_with_the_instruction():
    """Headings that were asked for are no echo."""
    check_echo(GOOD, "## Goal\n## Progress\n## Last request")
