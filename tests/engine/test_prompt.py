"""From entries to a request: what a model sees, in which order, and what it never sees."""

from hypothesis import given
from hypothesis import strategies as st

from engine.backends.base import PromptMessage, Sampling
from engine.prompt import plan_max_tokens, plan_messages, plan_request
from engine.testing import reply
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Image,
    Label,
    Message,
    ModelChange,
    Pin,
    Text,
    Thinking,
    TokenIds,
    ToolCall,
    Unknown,
    UnknownPart,
    user,
)


def entries(*bodies):
    return [
        Entry(str(n), "s", str(n - 1) if n else None, n, body) for n, body in enumerate(bodies)
    ]


def test_system_prompt_is_first_and_verbatim():
    """Whatever is in the conversation, the system prompt leads it."""
    planned = plan_messages(entries(user("Hi")), "  Be brief.\n")
    assert planned[0] == PromptMessage("system", "  Be brief.\n")


def test_blank_system_prompt_is_no_message():
    """An empty system prompt costs no tokens."""
    assert plan_messages(entries(user("Hi")), " \n") == (PromptMessage("user", "Hi"),)


@given(st.lists(st.sampled_from(["user", "assistant", "tool_result"]), max_size=8), st.text())
def test_last_user_text_is_in_the_request_verbatim(roles, text):
    """Random histories: what was just typed is sent letter for letter."""
    history = [Message(role, (Text("x"),)) for role in roles]
    planned = plan_messages(entries(*history, user(text)), "System.")
    assert planned[-1] == PromptMessage("user", text)
    assert planned[0].role == "system"


def test_what_is_for_the_program_never_reaches_a_model():
    """Details, custom data, labels, pins, unknown things: SPEC1 12.3.1."""
    secret = {"secret": "secret"}
    planned = plan_messages(
        entries(
            Custom("state", secret),
            ModelChange("secret"),
            Label("0", "secret"),
            Pin("0"),
            Unknown("secret", secret),
            Message("user", (Text("Hi"), UnknownPart(secret), Image("image/png", "secret"))),
            CustomMessage("note", "A note.", details=secret),
            Message("tool_result", (Text("12:00"),), "c1", "clock", details=secret),
        ),
        "",
    )
    assert "secret" not in repr(planned)
    assert [message.content for message in planned] == [
        "Hi\n\n[image, not shown to this model]",
        "A note.",
        "12:00",
    ]


def test_reply_carries_its_token_ids_and_thinking():
    """The ids a model generated go back to it, named by their vocabulary."""
    body = Message(
        "assistant", (Thinking("hm"), Text("Paris")), token_ids=TokenIds("smollm", (1, 2))
    )
    [planned] = plan_messages(entries(body), "", "keep")
    assert planned == PromptMessage(
        "assistant", "Paris", thinking="hm", token_ids=(1, 2), vocabulary="smollm"
    )


def test_tool_calls_and_results_keep_their_pairing():
    """A call and its result go by the same id."""
    call = ToolCall("c1", "clock", {"zone": "UTC"})
    planned = plan_messages(
        entries(
            Message("assistant", (call,)), Message("tool_result", (Text("12"),), "c1", "clock")
        ),
        "",
    )
    assert planned[0].tool_calls == (call,)
    assert (planned[1].role, planned[1].tool_call_id, planned[1].tool_name) == (
        "tool",
        "c1",
        "clock",
    )


def test_reply_in_which_nothing_was_written_is_left_out():
    """A failure before the first word was never said by the model."""
    failed = Message("assistant", (), stop_reason="failed", error="No server.")
    thought = Message("assistant", (Thinking("hm"),), stop_reason="stopped")
    assert plan_messages(entries(failed, thought), "") == ()


def test_cut_reply_is_sent_as_far_as_it_came():
    """What was written before a stop or a crash is part of the conversation."""
    [planned] = plan_messages(entries(reply("Once upon", stop_reason="interrupted")), "")
    assert planned.content == "Once upon"


def test_summaries_are_framed_as_past_context():
    """A summary is a user message with an introduction and tags (SPEC2 2.2)."""
    planned = plan_messages(
        entries(Compaction("They met.", "9"), BranchSummary("3", "They left.")), ""
    )
    for message, words in zip(planned, ("They met.", "They left."), strict=True):
        assert message.role == "user"
        assert f"<summary>\n{words}\n</summary>" in message.content
        assert "not a" in message.content


@given(
    st.one_of(st.none(), st.integers(-10, 10**7)),
    st.integers(1, 2**20),
    st.integers(0, 2**21),
)
def test_reply_room_is_never_more_than_the_window_has(wanted, window, prompt):
    """At least one token, at most what is wanted, and what the prompt leaves."""
    allowed = plan_max_tokens(wanted, window, prompt)
    assert allowed >= 1
    assert allowed <= max(1, window - prompt)
    if wanted is not None:
        assert allowed <= max(1, wanted)


def test_request_carries_what_it_is_given():
    """Nothing is added on the way."""
    messages = (PromptMessage("user", "Hi"),)
    request = plan_request(
        messages,
        model="m",
        window_tokens=16_384,
        max_tokens=9,
        sampling=Sampling(temperature=0),
        think=False,
    )
    assert (request.messages, request.model, request.window_tokens) == (messages, "m", 16_384)
    assert (request.max_tokens, request.sampling.temperature, request.think) == (9, 0, False)
