"""A conversation as items: every message of the path once, versions, days, cards."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.items import (
    REMOVED,
    UNANSWERED,
    CardItem,
    DayItem,
    PathPlan,
    Receipt,
    ReplyItem,
    Tree,
    UserItem,
    Versions,
    plan_items,
    removed_ids,
)
from app.items.compactions import LAST_OFFERS, OLDER_OFFERS, UNDONE_OFFERS
from engine.testing import conversation, memory_store, reply
from engine.transcript import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    Message,
    ModelChange,
    Text,
    Thinking,
    ToolCall,
    Usage,
    user,
)
from engine.undoing import undoing_entry
from engine.view import SHORTENED, UNSENT
from tests.engine.transcript_strategies import bodies

NOON = 1_700_000_000_000 // 86_400_000 * 86_400_000 + 43_200_000
"""Some noon, UTC, in milliseconds."""
HOUR = 3_600_000


def entry(id_, parent, body, when=NOON):
    return Entry(id_, "s", parent, when, body)


def chain(*said):
    """Entries e1, e2, … each under the one before it."""
    return tuple(
        entry(f"e{i}", f"e{i - 1}" if i > 1 else None, body) for i, body in enumerate(said, 1)
    )


def items_of(entries, leaf, **more):
    return plan_items(entries, leaf, zone=UTC, **more)


def opened(entries, leaf):
    """The items with the originals of the last fold shown, and without the folds' cards."""
    plan = PathPlan(entries, leaf, zone=UTC)
    if plan.last_fold:
        plan.toggle_originals(plan.last_fold)
    items = plan.items(running=False)
    return [i for i in items if not (isinstance(i, CardItem) and i.kind == "compaction")]


def without_days(items):
    return [item for item in items if not isinstance(item, DayItem)]


# ---- properties ---------------------------------------------------------------------------------


@st.composite
def trees(draw):
    """A conversation with branches: any bodies, parents among what came before; marks of removal."""
    count = draw(st.integers(0, 14))
    entries = []
    for number in range(count):
        above = draw(st.none() | st.sampled_from([e.id for e in entries])) if entries else None
        body = draw(bodies | st.builds(user, st.text(max_size=5)) | st.builds(reply, st.text()))
        if entries and draw(st.integers(0, 9)) == 0:
            target = draw(st.sampled_from([e.id for e in entries]))
            body = Custom(REMOVED, {"target": target, "removed": draw(st.booleans())})
        when = draw(st.integers(0, 2**45) | st.integers(0, 2**62))
        entries.append(entry(f"n{number}", above, body, when))
    leaf = draw(st.none() | st.sampled_from([e.id for e in entries])) if entries else None
    return tuple(entries), leaf


@settings(deadline=None)  # the machine may be busy
@given(trees())
def test_every_message_of_the_path_is_there_once_and_in_order(tree):
    """Whatever the tree: nothing of the path is lost, nothing doubled, nothing else is a message."""
    entries, leaf = tree
    shown = [
        item.id
        for item in opened(entries, leaf)
        if isinstance(item, UserItem | ReplyItem) and not item.id.startswith(UNANSWERED)
    ]
    path = [e for e in Tree(entries).path(leaf) if isinstance(e.body, Message)]
    assert shown == [e.id for e in path if e.body.role in ("user", "assistant")]
    ids = [item.id for item in opened(entries, leaf)]
    assert len(ids) == len(set(ids))
    assert {e.id for e in path} <= set(ids)


@settings(deadline=None)  # the machine may be busy
@given(trees())
def test_versions_lead_to_each_other(tree):
    """Later and earlier are each other's way back; all versions of a message agree on how many."""
    entries, _ = tree
    known = {e.id: e for e in entries}
    whole = Tree(entries)
    for one in entries:
        versions = whole.versions(one)
        if versions is None or one.id in whole.removed:
            continue
        assert 1 <= versions.number <= versions.of
        assert (versions.earlier == "") == (versions.number == 1)
        assert (versions.later == "") == (versions.number == versions.of)
        if versions.later:
            back = whole.versions(known[versions.later])
            assert (back.number, back.of, back.earlier) == (
                versions.number + 1,
                versions.of,
                one.id,
            )


@settings(deadline=None)  # the machine may be busy
@given(trees())
def test_the_newest_leaf_is_below(tree):
    """Going to a version ends somewhere in its branch, at its last entry that counts."""
    entries, _ = tree
    whole = Tree(entries)
    for one in entries:
        newest = whole.newest_leaf(one.id)
        assert one.id in [e.id for e in whole.path(newest)]


@settings(deadline=None)  # the machine may be busy
@given(trees())
def test_days_come_before_what_was_said_on_them(tree):
    """No day without something on it, and the first thing that was said has one."""
    entries, leaf = tree
    items = opened(entries, leaf)
    for index, item in enumerate(items):
        if isinstance(item, DayItem):
            assert items[index + 1].when_ms == item.when_ms
    if items:
        assert isinstance(items[0], DayItem)


@settings(deadline=None)
@given(trees(), st.lists(bodies | st.builds(user, st.text(max_size=3)), max_size=5))
def test_extending_is_planning_anew(tree, more):
    """What is added below the leaf changes nothing above it, or is refused."""
    entries, leaf = tree
    plan = PathPlan(entries, leaf, zone=UTC)
    newer, above = [], plan.leaf
    for number, body in enumerate(more):
        newer.append(entry(f"x{number}", above, body))
        above = newer[-1].id
    before = plan.items(running=False)
    if plan.extend(newer, {}):
        assert plan.items(running=False) == items_of((*entries, *newer), above or leaf)
        assert plan.leaf == (above or None)
    else:
        assert plan.items(running=False) == before


def test_what_hangs_elsewhere_does_not_extend():
    """Another branch is another path."""
    plan = PathPlan(chain(user("a"), reply("b")), "e2", zone=UTC)
    assert not plan.extend([entry("x", "e1", reply("c"))], {})
    assert plan.leaf == "e2"


# ---- messages -----------------------------------------------------------------------------------


def test_a_conversation():
    """What was said, with who answered and what it cost."""
    usage = Usage(100, 20, 40, 0.5, 1.0, 2.0)
    said = Message(
        "assistant",
        (Thinking("hm"), Text("Paris.")),
        model="starter",
        stop_reason="stop",
        usage=usage,
    )
    question, answer = without_days(items_of(chain(user("Capital?"), said), "e2"))
    assert question == UserItem("e1", "Capital?", NOON)
    assert answer == ReplyItem(
        "e2",
        "Paris.",
        "hm",
        "starter",
        NOON,
        "done",
        seconds=3.5,
        speed=20.0,
        receipt=Receipt(120, "exact", 100, 20, 40, None, None, 0.5, 1.0, 2.0),
    )
    assert not answer.is_running


def test_reused_tokens_may_be_unknown():
    """A backend that cannot tell has none in the receipt; no speed without a time."""
    usage = Usage(10, 0, 5, reused_known=False)
    (answer,) = without_days(items_of(chain(Message("assistant", usage=usage)), "e1"))
    assert answer.receipt.reused is None
    assert answer.speed == 0.0


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("stop", "done"),
        (None, "done"),
        ("tool_calls", "done"),
        ("length", "cut"),
        ("stopped", "stopped"),
        ("failed", "failed"),
        ("interrupted", "interrupted"),
    ],
)
def test_how_a_reply_ended(reason, state):
    """Every end is told apart."""
    said = Message("assistant", (Text("x"),), stop_reason=reason, error="Broken.")
    (item,) = without_days(items_of(chain(said), "e1"))
    assert (item.state, item.error) == (state, "Broken.")


def test_what_is_known_of_a_reply_completes_it():
    """Room, thinking time, and remedy apart from the fault are not stored; this run knows them."""
    said = Message("assistant", (Text("x"),), stop_reason="failed", error="Broken. Mend it.")
    known = ReplyItem(
        "live:1",
        "something else",
        error="Broken.",
        remedy="Mend it.",
        thought_seconds=4.0,
        receipt=Receipt(5, room=9),
        seconds=1.0,
        speed=2.0,
    )
    (item,) = without_days(items_of(chain(said), "e1", known={"e1": known}))
    assert (item.text, item.state, item.id) == ("x", "failed", "e1")
    assert (item.error, item.remedy) == ("Broken.", "Mend it.")
    assert (item.thought_seconds, item.receipt, item.seconds, item.speed) == (
        4.0,
        Receipt(5, room=9),
        1.0,
        2.0,
    )


def test_a_long_message_is_counted():
    """Its figure stands where it is folded; short ones need none."""
    short, long = without_days(
        items_of(chain(user("short"), user("word " * 400)), "e2", running=True)
    )
    assert short.tokens == 0
    assert long.tokens >= 400


def test_a_question_without_a_reply():
    """Stopped before a word, or the program ended: the place of the reply offers to try again."""
    entries = chain(user("Hello?"))
    *_, last = items_of(entries, "e1")
    assert last == ReplyItem(UNANSWERED + "e1", "", when_ms=NOON, state="stopped")
    assert [item.id for item in without_days(items_of(entries, "e1", running=True))] == ["e1"]


def test_tool_calls_and_results_are_shown():
    """As text that cannot be mistaken for Markdown."""
    call = Message("assistant", (Text("Look."), ToolCall("c1", "read", {"path": "a.txt"})))
    result = Message("tool_result", (Text("a ``` b"),), tool_name="read", is_error=True)
    said, card = without_days(items_of(chain(call, result), "e2"))
    assert said.text == "Look.\n\n`read`\n\n```\n{'path': 'a.txt'}\n```"
    assert (card.kind, card.facts, card.tone) == ("local", "read", "red")
    assert card.body == "````\na ``` b\n````"


def test_other_bodies_are_cards_or_nothing():
    """What people should see of the program's own entries."""
    entries = chain(
        Message("system", (Text("Be brief."),)),
        BranchSummary("e1", "It went on."),
        CustomMessage("note", "Shown."),
        CustomMessage("note", "Hidden.", display=False),
        Custom(SHORTENED, {"results": {"e1": "x"}}),
        Custom(SHORTENED, {"results": 3}),
        ModelChange("starter"),
        Message("tool_result", (Text("fine"),)),
    )
    cards = without_days(items_of(entries, "e8"))
    assert [(card.title, card.body) for card in cards] == [
        ("System prompt", "Be brief."),
        ("What happened on another branch", "It went on."),
        ("", "Shown."),
        ("1 tool result shortened for the model", ""),
        ("0 tool results shortened for the model", ""),
        ("Result of a tool", "```\nfine\n```"),
    ]


def test_a_leaf_that_is_nowhere_means_the_last_entry():
    """As the store has it."""
    entries = chain(user("a"), reply("b"))
    assert items_of(entries, "gone") == items_of(entries, "e2")
    assert items_of((), "gone") == ()
    assert items_of(entries, None) == ()


def test_a_circle_ends():
    """A damaged store does not send us in circles."""
    entries = (entry("a", "b", user("1")), entry("b", "a", user("2")))
    assert [item.id for item in without_days(items_of(entries, "a", running=True))] == ["b", "a"]


# ---- versions -----------------------------------------------------------------------------------


def test_replies_and_edits_are_versions():
    """Regenerated replies, and edited questions, count beside each other."""
    entries = (
        entry("q1", None, user("What?")),
        entry("a1", "q1", reply("This.")),
        entry("a2", "q1", reply("That.")),
        entry("q2", None, user("What else?")),
        entry("b1", "q2", reply("Nothing.")),
    )
    first, second = without_days(items_of(entries, "a2"))
    assert first.versions == Versions(1, 2, "", "q2")
    assert second.versions == Versions(2, 2, "a1", "")
    edited, answer = without_days(items_of(entries, "b1"))
    assert edited.versions == Versions(2, 2, "q1", "")
    assert answer.versions is None


def test_a_compaction_between_does_not_part_versions():
    """Regenerating may compact first; the replies still answer the same question."""
    entries = (
        entry("q", None, user("What?")),
        entry("a1", "q", reply("This.")),
        entry("c", "q", Compaction("summary", "q")),
        entry("a2", "c", reply("That.")),
    )
    items = without_days(items_of(entries, "a2"))
    assert items[-1].versions == Versions(2, 2, "a1", "")


def test_what_was_removed_is_no_version():
    """Unless it is what is shown; taking the removal back brings it back."""
    entries = (
        entry("q", None, user("What?")),
        entry("a1", "q", reply("1")),
        entry("a2", "q", reply("2")),
        entry("a3", "q", reply("3")),
        entry("m", "q", Custom(REMOVED, {"target": "a2"})),
    )
    assert without_days(items_of(entries, "a3"))[-1].versions == Versions(2, 2, "a1", "")
    assert without_days(items_of(entries, "a2"))[-1].versions == Versions(2, 3, "a1", "a3")
    back = (*entries, entry("n", "q", Custom(REMOVED, {"target": "a2", "removed": False})))
    assert without_days(items_of(back, "a3"))[-1].versions == Versions(3, 3, "a2", "")
    assert removed_ids(back) == frozenset()


def test_a_branch_goes_on_at_its_newest_leaf():
    """The last entry added below; marks, unsent messages and removed branches are passed by."""
    entries = (
        entry("q", None, user("q")),
        entry("a", "q", reply("a")),
        entry("x", "a", user("old")),
        entry("y", "a", user("new")),
        entry("z", "y", reply("z")),
        entry("u", "z", Custom(UNSENT, {"text": "long"})),
        entry("r", "a", user("removed")),
        entry("m", "a", Custom(REMOVED, {"target": "r"})),
    )
    assert Tree(entries).newest_leaf("q") == "z"
    assert Tree(entries).newest_leaf("x") == "x"


# ---- unsent -------------------------------------------------------------------------------------


def test_an_unsent_message_stands_where_it_was_written():
    """Below the entry it was written after, or at the very beginning."""
    entries = (
        entry("u0", None, Custom(UNSENT, {"text": "too long at once"})),
        entry("q", None, user("q")),
        entry("a", "q", reply("a")),
        entry("u1", "q", Custom(UNSENT, {"text": "too long"})),
        entry("u2", "gone", Custom(UNSENT, {"text": "elsewhere"})),
    )
    items = without_days(items_of(entries, "a"))
    assert [item.id for item in items] == ["u0", "q", "u1", "a"]
    card = items[0]
    assert (card.kind, card.tone, card.body) == ("error", "amber", "```\ntoo long at once\n```")


def test_an_unsent_message_goes_once_it_is_sent_or_removed():
    """Sent later with the same words, or taken away."""
    entries = (
        entry("q", None, user("q")),
        entry("u1", "q", Custom(UNSENT, {"text": "sent later"})),
        entry("u2", "q", Custom(UNSENT, {"text": "removed"})),
        entry("u3", "q", Custom(UNSENT, {"text": 3})),
        entry("m", "q", Custom(REMOVED, {"target": "u2"})),
        entry("s", "q", user("sent later")),
        entry("t", "s", user("other words")),
    )
    items = without_days(items_of(entries, "t", running=True))
    assert [item.id for item in items] == ["q", "s", "t"]


# ---- days ---------------------------------------------------------------------------------------


def test_a_day_for_each_local_day():
    """Midnight is where the reader is."""
    entries = (
        entry("a", None, user("1"), NOON),
        entry("b", "a", reply("2"), NOON + 11 * HOUR),
        entry("c", "b", user("3"), NOON + 13 * HOUR),
    )

    def days(zone):
        items = plan_items(entries, "c", zone=zone, running=True)
        return [item.when_ms for item in items if isinstance(item, DayItem)]

    assert days(UTC) == [NOON, NOON + 13 * HOUR]
    assert days(ZoneInfo("Asia/Shanghai")) == [NOON, NOON + 11 * HOUR]


@pytest.mark.parametrize("month", [3, 10])
def test_a_day_may_have_23_or_25_hours(month):
    """When the clocks change no day is doubled and none is lost."""
    zone = ZoneInfo("Europe/Berlin")
    begin = datetime(2024, month, 30 if month == 3 else 26, tzinfo=zone)
    moments = [begin.astimezone(UTC) + timedelta(hours=hour) for hour in range(72)]
    entries = chain(*(user(str(hour)) for hour in range(72)))
    entries = tuple(
        Entry(e.id, "s", e.parent, round(moment.timestamp() * 1000), e.body)
        for e, moment in zip(entries, moments, strict=True)
    )
    items = plan_items(entries, "e72", zone=zone, running=True)
    shown = [item for item in items if isinstance(item, DayItem)]
    assert len(shown) == len({moment.astimezone(zone).date() for moment in moments})


def test_a_time_no_calendar_has():
    """A damaged store has times beyond every calendar; they get a day of their own."""
    entries = (entry("a", None, user("1"), 2**62),)
    first, second = plan_items(entries, "a", zone=None, running=True)
    assert (first.when_ms, second.when_ms) == (2**62, 2**62)


# ---- compactions --------------------------------------------------------------------------------


def test_a_compaction_card():
    """What it did, in figures; the summary; the exact values."""
    body = Compaction(
        " The story so far. ",
        "e1",
        7_600,
        2_900,
        "threshold",
        "in_place",
        "starter",
        6.2,
        "the dates",
        {"folded": 24, "values": [{"value": "v1.2"}, {"value": 3}, "x"]},
    )
    (card,) = without_days(items_of(chain(body), "e1"))
    assert card == CardItem(
        "e1",
        "compaction",
        "Compacted: 7.6k → 2.9k",
        "24 messages folded · in place, 6 s · after a reply · focus: the dates",
        "The story so far.",
        ("v1.2",),
        "plum",
        NOON,
        model="starter",
        offers=LAST_OFFERS,
        has_originals=True,
    )


def test_a_compaction_card_of_little():
    """Only what is known is said; a way of a later version is named as it is."""
    (plain,) = without_days(items_of(chain(Compaction("s", "x")), "e1"))
    assert (plain.title, plain.facts, plain.values) == ("Compacted", "", ())
    (odd,) = without_days(items_of(chain(Compaction("s", "x", way="dreamt")), "e1"))
    assert odd.facts == "dreamt"


def test_a_degraded_compaction_is_amber():
    """No summary could be written: that is said, not hidden."""
    (card,) = without_days(items_of(chain(Compaction("s", "x", facts={"degraded": True})), "e1"))
    assert (card.tone, card.title) == ("amber", "Shortened without a summary")


FOLDED = (user("one"), reply("two"), user("three"), reply("four"))


def folding(*more):
    """A plan of four messages of which two were folded, and what came after; its ids are e1…"""
    entries = chain(*FOLDED, Compaction("The story.", "e3", 900, 300, facts={"folded": 2}), *more)
    return PathPlan(entries, entries[-1].id, zone=UTC)


def shown(plan):
    return [item.id for item in without_days(plan.items(running=True))]


def test_what_was_kept_has_its_day():
    """Also where the message that began the day is folded."""
    first, second, third = folding(user("five")).items(running=True)[:3]
    assert isinstance(first, DayItem)
    assert (second.id, third.id) == ("e5", "e3")


def card_of(plan, id_="e5"):
    return next(item for item in plan.items(running=True) if item.id == id_)


def test_a_card_stands_at_its_fold():
    """What it stands for is behind it, what was kept follows."""
    assert shown(folding(user("five"))) == ["e5", "e3", "e4", "e6"]


def test_originals_are_shown_below_the_card():
    """Marked as folded, and hidden again."""
    plan = folding(user("five"))
    plan.toggle_originals("e5")
    assert shown(plan) == ["e5", "e1", "e2", "e3", "e4", "e6"]
    items = without_days(plan.items(running=True))
    assert [item.folded for item in items] == [False, True, True, False, False, False]
    assert card_of(plan).is_open
    plan.toggle_originals("e5")
    assert shown(plan) == ["e5", "e3", "e4", "e6"]
    plan.toggle_originals("e5", opened=False)
    assert not card_of(plan).is_open


def test_nothing_is_lost_behind_a_card():
    """Open, a plan shows every item that it would show without the compaction."""
    plan = folding(user("five"), reply("six"))
    plan.toggle_originals("e5")
    without = items_of(chain(*FOLDED), "e4")
    assert {item.id for item in without_days(without)} <= set(shown(plan))


def test_an_edited_summary_is_shown_on_its_card():
    """One card, the user's words on it; the edit is no card of its own."""
    edit = Compaction("My words.", "e3", 900, 250, facts={"folded": 2, "edits": "e5"})
    plan = folding(user("five"), edit)
    assert shown(plan) == ["e5", "e3", "e4", "e6"]
    card = card_of(plan)
    assert (card.body, card.title) == ("My words.", "Compacted: 900 → 250")
    assert card.facts == "2 messages folded · edited"
    assert plan.compaction("e5").id == "e7"
    assert plan.compaction("nothing") is None


def test_an_undone_compaction_shows_the_messages_again():
    """The card stays where it was, says so, and offers to bring it back."""
    plan = folding(user("five"), undoing_entry("e5", undone=True))
    assert shown(plan) == ["e1", "e2", "e5", "e3", "e4", "e6"]
    card = card_of(plan)
    assert (card.title, card.offers, card.is_undone) == (
        "Compaction undone",
        UNDONE_OFFERS,
        True,
    )
    assert plan.last_fold == ""


def test_brought_back_it_counts_again():
    """As before."""
    marks = [undoing_entry("e5", undone=undone) for undone in (True, False)]
    plan = folding(user("five"), *marks)
    assert shown(plan) == ["e5", "e3", "e4", "e6"]
    assert card_of(plan).offers == LAST_OFFERS


def test_only_the_last_compaction_can_be_changed():
    """The one before is behind it, an original as the others; its words can be copied."""
    plan = folding(user("five"), reply("six"), Compaction("All of it.", "e6"))
    assert shown(plan) == ["e8", "e6", "e7"]
    plan.toggle_originals("e8")
    assert shown(plan)[:2] == ["e8", "e1"]
    assert card_of(plan).offers == OLDER_OFFERS
    assert not card_of(plan).has_originals


def test_one_that_was_made_anew_gives_way():
    """The new card stands alone; undone, both can be brought back."""
    plan = folding(undoing_entry("e5", undone=True), Compaction("Anew.", "e3"))
    assert shown(plan) == ["e7", "e3", "e4"]
    plan = folding(
        undoing_entry("e5", undone=True),
        Compaction("Anew.", "e3"),
        undoing_entry("e7", undone=True),
    )
    assert [card_of(plan, id_).offers for id_ in ("e5", "e7")] == [UNDONE_OFFERS] * 2


@given(st.lists(st.sampled_from(["say", "fold", "undo", "return", "edit"]), max_size=14))
def test_extending_a_plan_is_planning_anew(steps):
    """Whatever was folded, undone and edited on the way, the two ways to plan agree."""
    bodies, folds = list(FOLDED), []
    for step in steps:
        number = len(bodies) + 1
        match step:
            case "say":
                bodies.append(user(str(number)))
            case "fold":
                folds.append(f"e{number}")
                bodies.append(Compaction(f"s{number}", f"e{number - 1}"))
            case "edit" if folds:
                facts = {"edits": folds[-1]}
                bodies.append(Compaction(f"edited {number}", "e3", facts=facts))
            case "undo" | "return" if folds:
                bodies.append(undoing_entry(folds[number % len(folds)], undone=step == "undo"))
    entries = chain(*bodies)
    grown = PathPlan(entries[:1], "e1", zone=UTC)
    for entry in entries[1:]:
        assert grown.extend((entry,), {})
        grown.items(running=True)
    anew = PathPlan(entries, entries[-1].id, zone=UTC)
    assert grown.items(running=True) == anew.items(running=True)
    if anew.last_fold:
        anew.toggle_originals(anew.last_fold)
    messages = {e.id for e in entries if isinstance(e.body, Message)}
    assert messages <= {item.id for item in anew.items(running=True)}


def test_a_stored_conversation():
    """The real store's entries, as they come back."""
    with memory_store() as store:
        session, entries = conversation(store, "one", "two", "three")
        row = store.session(session)
        items = plan_items(store.entries(session), row.leaf, zone=None)
    assert [item.id for item in without_days(items)] == [
        *(e.id for e in entries),
        UNANSWERED + entries[-1].id,
    ]
