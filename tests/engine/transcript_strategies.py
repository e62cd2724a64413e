"""Random entries' contents, as a conversation may hold them: any text, any JSON in free fields."""

from hypothesis import strategies as st

from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
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
    Usage,
)

texts = st.one_of(
    st.text(max_size=30),
    st.text(st.characters(), max_size=10),  # half surrogate pairs too
    st.sampled_from(
        ["", "\0", "\ud800", "a\udcffb", "你好，世界", "\N{FIRE}", '"', "\\ud83d", "\r\n"]
    ),
)
names = st.text("abcdefgh0123", min_size=1, max_size=8)
counts = st.integers(0, 2**40)
numbers = st.floats(0, 1e6, allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
unknown_objects = st.dictionaries(
    st.text(max_size=8).filter(lambda key: key not in ("type", "id", "parentId", "timestamp")),
    json_values,
    max_size=3,
)
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts),
    st.builds(ToolCall, texts, texts, objects),
    st.builds(Image, texts, texts),
    st.builds(UnknownPart, unknown_objects),
    st.builds(lambda rest: UnknownPart({**rest, "type": "video"}), unknown_objects),
)
usages = st.builds(Usage, counts, counts, counts, numbers, numbers, numbers, st.booleans())
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool_result"]),
    parts=st.lists(parts, max_size=3).map(tuple),
    tool_call_id=texts,
    tool_name=texts,
    is_error=st.booleans(),
    details=st.none() | objects,
    model=texts,
    stop_reason=st.none()
    | st.sampled_from(["stop", "length", "stopped", "failed", "interrupted", "tool_calls"]),
    usage=st.none() | usages,
    token_ids=st.none() | st.builds(TokenIds, texts, st.lists(counts, max_size=4).map(tuple)),
    error=texts,
)
bodies = st.one_of(
    messages,
    st.builds(CustomMessage, texts, texts, st.booleans(), st.none() | objects),
    st.builds(Custom, texts, objects),
    st.builds(
        Compaction, texts, names, counts, counts, texts, texts, texts, numbers, texts, objects
    ),
    st.builds(BranchSummary, names, texts, st.none() | objects),
    st.builds(ModelChange, texts),
    st.builds(Label, names, texts),
    st.builds(Pin, names, st.booleans()),
    st.builds(Unknown, st.sampled_from(["thinking_level_change", "dream"]), unknown_objects),
)
