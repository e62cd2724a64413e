"""Exact values: found, ranked, capped, merged, shown, stored (C25)."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.compact.fact_patterns import find_values
from engine.compact.facts import (
    PASTED_VALUES,
    Fact,
    facts_from_json,
    facts_text,
    facts_to_json,
    find_facts,
    plan_facts,
)
from engine.testing import reply
from engine.transcript import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Label,
    Message,
    Text,
    Thinking,
    ToolCall,
    user,
)

VAGUE = "The user is setting up a service and has told the assistant several details."
CAP = 320


def weigh(text):
    """Tokens as the specification estimates them."""
    return -(-len(text) // 4)


def planned(found, carried=(), summary=VAGUE, cap=CAP, weighed=weigh):
    return plan_facts(found, carried, summary, cap_tokens=cap, weigh=weighed)


def result(text):
    return Message("tool_result", (Text(text),), tool_call_id="c1", tool_name="run")


def values(text):
    return [(found.kind, found.value) for found in find_values(text)]


# ---- what is found ------------------------------------------------------------------------------

FOUND = {
    "url": (
        "See https://docs.example.org/v2/?q=1#top.",
        "url",
        "https://docs.example.org/v2/?q=1#top",
    ),
    "url-brackets": ("(https://example.org/a_(b))", "url", "https://example.org/a_(b)"),
    "url-zh": (
        "文档在https://docs.example.org/heron/，请看",
        "url",
        "https://docs.example.org/heron/",
    ),
    "url-database": (
        "use postgres://app@db.local:5432/heron",
        "url",
        "postgres://app@db.local:5432/heron",
    ),
    "url-git": ("git@git.example.org:ada/heron.git", "url", "git@git.example.org:ada/heron.git"),
    "url-www": ("go to www.example.org/plan now", "url", "www.example.org/plan"),
    "email": ("Write to ada.l+new@mail.example.org.", "email", "ada.l+new@mail.example.org"),
    "path": ("It is in /srv/heron/etc/main.toml.", "path", "/srv/heron/etc/main.toml"),
    "path-home": ("open ~/notes/plan.md", "path", "~/notes/plan.md"),
    "path-dotted": ("run ./build.sh", "path", "./build.sh"),
    "path-zh": ("配置文件在/home/ada/项目/设置.toml里", "path", "/home/ada/项目/设置.toml"),
    "path-double": ("见/srv/a/archive.tar.gz里", "path", "/srv/a/archive.tar.gz"),
    "path-space": ("open `/home/ada/my notes/plan.md`", "path", "/home/ada/my notes/plan.md"),
    "path-windows": (r"in C:\Users\Ada\plan.docx.", "path", r"C:\Users\Ada\plan.docx"),
    "path-windows-space": (
        r'"C:\Program Files\Heron\a.exe"',
        "path",
        r"C:\Program Files\Heron\a.exe",
    ),
    "path-share": (r"on \\nas\films\new.mkv", "path", r"\\nas\films\new.mkv"),
    "hash-short": ("commit 4f9c2ab broke it", "hash", "4f9c2ab"),
    "hash-long": ("sha " + "a1" * 32, "hash", "a1" * 32),
    "uuid": (
        "id 123e4567-e89b-12d3-a456-426614174000",
        "uuid",
        "123e4567-e89b-12d3-a456-426614174000",
    ),
    "host-port": ("on db.internal:5432 now", "host", "db.internal:5432"),
    "host-local": ("localhost:8080", "host", "localhost:8080"),
    "host-ip-port": ("at 10.0.0.5:22,", "host", "10.0.0.5:22"),
    "host-name": ("the server is nas.local", "host", "nas.local"),
    "ipv4": ("from 192.168.1.20 on", "ip", "192.168.1.20"),
    "ipv4-net": ("net 10.0.0.0/24", "ip", "10.0.0.0/24"),
    "ipv6-short": ("bind to ::1 only", "ip", "::1"),
    "mac": ("card aa:bb:cc:dd:ee:0f", "ip", "aa:bb:cc:dd:ee:0f"),
    "ipv6": ("at fe80::1ff:fe23:4567:890a", "ip", "fe80::1ff:fe23:4567:890a"),
    "port": ("The port is 8443.", "port", "8443"),
    "port-set": ("set the port to 8443", "port", "8443"),
    "port-zh": ("端口改为8443", "port", "8443"),
    "file": ("Read README.md first", "file", "README.md"),
    "file-zh": ("看一下 说明书.docx 吧", "file", "说明书.docx"),
    "version": ("now at v1.2.3.", "version", "v1.2.3"),
    "version-rc": ("now at 1.2.3-rc1", "version", "1.2.3-rc1"),
    "version-word": ("We use version 2.7", "version", "2.7"),
    "version-product": ("It needs Python 3.11", "version", "3.11"),
    "version-zh": ("版本号是2.7.1", "version", "2.7.1"),
    "date-iso": ("due 2026-05-04", "date", "2026-05-04"),
    "date-time": ("at 2026-05-04T10:30:00Z", "date", "2026-05-04T10:30:00Z"),
    "date-words": ("We meet on 3 March 2027.", "date", "3 March 2027"),
    "date-us": ("on March 3rd, 2027", "date", "March 3rd, 2027"),
    "date-dots": ("am 04.05.2026", "date", "04.05.2026"),
    "date-zh": ("会议定在2026年5月4日上午", "date", "2026年5月4日"),
    "date-zh-words": ("五月四日出发", "date", "五月四日"),
    "time": ("at 14:30 sharp", "date", "14:30"),
    "time-pm": ("at 2:30 pm", "date", "2:30 pm"),
    "time-zh": ("下午3点半见", "date", "下午3点半"),
    "amount": ("We need 12.5 kg of it", "amount", "12.5 kg"),
    "amount-joined": ("450mm wide", "amount", "450mm"),
    "amount-currency": ("It costs $1,250.00 now", "amount", "$1,250.00"),
    "amount-euro": ("about 3 000 €", "amount", "3 000 €"),
    "amount-percent": ("reach 45 % soon", "amount", "45 %"),
    "amount-degrees": ("below 20°C", "amount", "20°C"),
    "amount-zh": ("预算是3000元", "amount", "3000元"),
    "amount-zh-unit": ("需要12.5公斤面粉", "amount", "12.5公斤"),
    "amount-size": ("a 1920x1080 screen", "amount", "1920x1080"),
    "quoted": ('The title is "A Year of Herons".', "quoted", "A Year of Herons"),
    "quoted-curly": ("titled “A Year of Herons”", "quoted", "A Year of Herons"),
    "quoted-zh": ("标题是「苍鹭之年」", "quoted", "苍鹭之年"),
    "quoted-book": ("在读《苍鹭之年》", "quoted", "苍鹭之年"),
    "code": ("run `heron sync --all`", "quoted", "heron sync --all"),
    "phone": ("call +49 30 1234567", "phone", "+49 30 1234567"),
    "phone-zh": ("电话13800138000", "phone", "13800138000"),
    "id": ("order ABC-12345 is late", "id", "ABC-12345"),
    "id-numbered": ("my ticket number is 88123", "id", "88123"),
    "id-issue": ("see #4711", "id", "#4711"),
    "id-zh": ("订单号是20260504", "id", "20260504"),
    "name": ("My name is Ada Lindqvist.", "name", "Ada Lindqvist"),
    "name-lower": ("hi, my name is ada", "name", "ada"),
    "name-called": ("I am called Ada", "name", "Ada"),
    "name-of": ("my dog's name is Rex.", "name", "Rex"),
    "name-project": ("The project is called Bluebird.", "name", "Bluebird"),
    "name-called-noun": ("I run a project called Grey Heron.", "name", "Grey Heron"),
    "name-call-it": ("Let us call it Grey Heron, ok?", "name", "Grey Heron"),
    "name-zh": ("你好，我叫李明。", "name", "李明"),
    "name-zh-project": ("这个项目叫青鸟。", "name", "青鸟"),
    "name-zh-latin": ("项目名为 Bluebird，", "name", "Bluebird"),
}


@pytest.mark.parametrize(("text", "kind", "value"), FOUND.values(), ids=FOUND.keys())
def test_a_value_is_found(text, kind, value):
    """Each kind, in English and Chinese, without the sign that ends its sentence."""
    assert (kind, value) in values(text)


NOTHING = {
    "slash": "and/or, w/o, yes/no, 24/7, TCP/IP",
    "command": "type /help or /compact",
    "small-number": "We had 3 of them, then 5, in chapter 7.",
    "called-by": "I was called by him and it is called when idle.",
    "call-it-a-day": "Let's call it a day.",
    "abbreviation": "e.g. this, i.e. that, etc.",
    "words": "deadbeef facade decade",
    "colons": "std::vector and a::b and :: and 12:x",
    "quote-marks": 'a 12" screen and a 14" one',
    "root": "the folder / is C:\\ there",
    "far-apart": f"12 {'word ' * 60}12",
    "ellipsis": "well... yes",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING.keys())
def test_what_is_no_exact_value_is_left(text):
    """Ordinary words and signs fill no list."""
    assert values(text) == []


def test_overlapping_values_are_found_once():
    """The host, the port and the file of a URL are part of the URL."""
    text = "https://heron.example.org:8443/v1.2.3/main.py?day=2026-05-04"
    assert values(text) == [("url", text)]


def test_a_label_is_a_few_words_of_the_sentence():
    """The words that say what a value is, not the whole sentence before them."""
    (fact,) = find_facts([user("Everything is fine. The admin port is 8443, that is all.")])
    assert fact.label == "The admin port is 8443"


AFTER = {
    "to-the-stop": ("We need 12.5 kg of flour, today.", "We need 12.5 kg of flour"),
    "to-a-space": ("We need 12.5 kg of wholegrain rye flour", "We need 12.5 kg of wholegrain rye"),
    "no-space": ("需要12.5公斤而且必须在今天之内全部送到我们的仓库里", "需要12.5公斤"),
}


@pytest.mark.parametrize(("said", "label"), AFTER.values(), ids=AFTER.keys())
def test_an_amount_keeps_the_words_after_it(said, label):
    """12.5 kg of what?"""
    (fact,) = find_facts([user(said)])
    assert fact.label == label


# ---- whose and where ----------------------------------------------------------------------------


def test_recurrence_and_the_user_are_noted():
    """A value counts once per message; the user's words win over the model's."""
    said = [user("The port is 8443. Port 8443!"), reply("Port 8443 it is."), user("And mail?")]
    (fact,) = find_facts(said)
    assert (fact.count, fact.last, fact.from_user) == (2, 1, True)
    assert fact.label == "The port is 8443"


def test_numbers_written_in_two_ways_are_one_value():
    """1,250.00 and 1250 are the same amount."""
    facts = find_facts([user("It costs $1,250.00."), user("So $1250 in all.")])
    assert [(fact.value, fact.count) for fact in facts] == [("$1250", 2)]


def test_thinking_details_and_runtime_context_are_not_read():
    """What a model never sees of a conversation is not carried for it."""
    bodies = [
        Message("assistant", (Thinking("port 8443"), Text("Fine."))),
        Message("tool_result", (Text("ok"),), details={"path": "/srv/heron/x.log"}),
        CustomMessage("runtime-context", "/srv/heron/y.log"),
        Label("e1", "/srv/heron/z.log"),
    ]
    assert find_facts(bodies) == ()


def test_of_a_tool_only_what_identifies_is_taken():
    """A log is full of dates and amounts; its paths and addresses may be needed again."""
    facts = find_facts([result('2026-05-04 12 kg "ok" v1.2.3 /srv/heron/a.log 10.0.0.5')])
    assert [(fact.kind, fact.from_user) for fact in facts] == [("path", False), ("ip", False)]


def test_arguments_of_a_tool_call_are_read():
    """The file a model worked on."""
    call = ToolCall("c1", "read", {"path": "/srv/heron/main.py"})
    assert [fact.value for fact in find_facts([Message("assistant", (call,))])] == [
        "/srv/heron/main.py"
    ]


def test_pasted_code_is_not_what_the_user_stated():
    """Of a fenced block only identifiers, and not as the user's."""
    text = 'Look:\n```\nx = "hello there"\nopen("/srv/heron/a.txt")\n```\nMy name is Ada.'
    facts = {fact.value: fact.from_user for fact in find_facts([user(text)])}
    assert facts == {"/srv/heron/a.txt": False, "Ada": True}


def test_what_is_pasted_and_said_is_stated():
    """The user names a file of the log above: then it is theirs."""
    text = "```\n/srv/heron/a.txt\n```\nDelete /srv/heron/a.txt, please."
    (fact,) = find_facts([user(text)])
    assert (fact.from_user, fact.count) == (True, 1)


def test_notes_of_the_program_are_read():
    """An attached file's path came in with one."""
    (fact,) = find_facts([CustomMessage("attachment", "From /srv/heron/a.txt")])
    assert (fact.value, fact.from_user) == ("/srv/heron/a.txt", False)


def test_a_label_begins_with_a_whole_word():
    """However long the sentence before it; without a space near, there is no label."""
    long = "we finally agreed, after many rather unpleasant and unnecessary meetings on port 8443"
    (fact,) = find_facts([user(long)])
    assert long.endswith(f" {fact.label}")
    (fact,) = find_facts([user(f"{'x' * 60}-https://example.org/a")])
    assert fact.label == ""


def test_a_long_list_has_no_labels():
    """Hundreds of values are a list; the words between them say nothing."""
    facts = find_facts([reply(" ".join(f"see /srv/heron/{n}.txt" for n in range(300)))])
    assert len(facts) == 300
    assert not any(fact.label for fact in facts)


def test_a_flood_of_values_is_pasted_material():
    """A message with more values than anybody states is not stated by the user."""
    text = " ".join(f"/srv/heron/{n}.txt" for n in range(PASTED_VALUES + 1))
    assert not any(fact.from_user for fact in find_facts([user(text)]))


def test_summaries_are_read():
    """What an older summary or another branch says exactly."""
    bodies = [Compaction("port 8443", "e1"), BranchSummary("e2", "v1.2.3")]
    assert [fact.value for fact in find_facts(bodies)] == ["8443", "v1.2.3"]


# ---- what is chosen -----------------------------------------------------------------------------

IN_SUMMARY = {
    "verbatim": ("The port is 8443.", "The admin port stays 8443."),
    "at-the-end": ("now at v1.2.3", "We use v1.2.3."),
    "amount-joined": ("It is 12.5 kg", "In all 12.5kg."),
    "thousands": ("It costs $1,250.00", "The price is $1250."),
    "thousands-space": ("3 000 €", "They paid 3000 €."),
    "zh": ("端口是8443", "端口8443已经开放"),
}


@pytest.mark.parametrize(("said", "summary"), IN_SUMMARY.values(), ids=IN_SUMMARY.keys())
def test_what_stands_in_the_summary_is_not_listed(said, summary):
    """Word for word, or the number in another form."""
    assert planned(find_facts([user(said)]), summary=summary) == ()


NOT_IN_SUMMARY = {
    "longer-number": ("The port is 8443.", "It handled 18443 requests."),
    "longer-version": ("version 1.2", "They use 1.2.3 now."),
    "longer-path": ("/srv/heron", "See /srv/heron/etc/main.toml"),
    "generalised": ("The port is 8443.", "The port was changed."),
}


@pytest.mark.parametrize(("said", "summary"), NOT_IN_SUMMARY.values(), ids=NOT_IN_SUMMARY.keys())
def test_a_piece_of_something_longer_is_not_the_value(said, summary):
    """8443 within 18443 is not the port."""
    assert len(planned(find_facts([user(said)]), summary=summary)) == 1


def test_a_value_the_next_summary_loses_is_listed_then():
    """A pool planned for an empty summary holds it while the first summary still says it."""
    pool = planned(find_facts([user("The port is 8443.")]), summary="", cap=4000)
    assert planned(pool, summary="The port is 8443.") == ()
    pool = planned(find_facts([reply("Fine.")]), pool, summary="", cap=4000)
    assert "8443" in facts_text(planned(pool), "en")


def test_the_users_values_come_first_then_the_recent_ones():
    """Rank: stated by the user, then new before old."""
    found = find_facts(
        [user("port 8001"), reply("port 8002"), user("port 8003"), reply("port 8004")]
    )
    assert [fact.value for fact in planned(found)] == ["8003", "8001", "8004", "8002"]


def test_what_recurs_outranks_what_is_only_newer():
    """A value in several messages matters more than one mentioned once a little later."""
    found = find_facts(
        [user("port 8001"), user("port 8001"), user("port 8001"), user("port 8002")]
    )
    assert [fact.value for fact in planned(found)] == ["8001", "8002"]


def test_carried_values_are_older_and_keep_their_counts():
    """Positions of a new stretch start at nought; carried ones still rank before it in time."""
    carried = (Fact("port", "8001", "", 3, 90, True), Fact("port", "8002", "", 1, 95, True))
    found = find_facts([user("port 8002"), user("port 8003")])
    facts = planned(found, carried)
    assert {fact.value: fact.count for fact in facts} == {"8001": 3, "8002": 2, "8003": 1}
    assert [fact.value for fact in sorted(facts, key=lambda fact: fact.last)] == [
        "8001",
        "8002",
        "8003",
    ]


def test_the_last_in_rank_are_dropped_at_the_cap():
    """What does not fit is what ranks last."""
    found = find_facts([user(f"Port {port}.") for port in range(8000, 8100)])
    facts = planned(found, cap=60)
    kept = [int(fact.value) for fact in facts]
    assert kept == list(range(8099, 8099 - len(kept), -1))
    assert len(kept) > 5
    assert weigh(facts_text(facts, "en")) <= 60


def test_a_label_gives_way_before_a_value_does():
    """Where the words around do not fit, the value alone still may."""
    said = "Whatever happens tomorrow, remember that the admin port is 8443."
    cap = weigh(f"{facts_text([Fact('port', '8443')], 'en')} port is ") + 2
    text = facts_text(planned(find_facts([user(said)]), cap=cap), "en")
    assert text.endswith("- port is 8443")


def test_a_host_in_a_listed_address_is_not_listed_again():
    """One line for https://heron.example.org/plan and heron.example.org."""
    found = find_facts([user("https://heron.example.org/plan"), user("so heron.example.org")])
    facts = planned(found)
    assert [fact.value for fact in facts] == ["https://heron.example.org/plan"]


@pytest.mark.parametrize("cap", [0, -5, 1, 10])
def test_a_cap_without_room_lists_nothing(cap):
    """Not even the heading."""
    assert facts_text(planned(find_facts([user("port 8443")]), cap=cap), "en") == ""


FACTS = st.lists(
    st.builds(
        Fact,
        st.sampled_from(["port", "url", "name", "quoted", "amount"]),
        st.text(min_size=1, max_size=40).filter(str.strip),
        st.text(max_size=40),
        st.integers(1, 9),
        st.integers(0, 50),
        st.booleans(),
    ),
    max_size=12,
)


@given(FACTS, FACTS, st.integers(0, 200), st.sampled_from([1, 3, 4]))
def test_the_list_never_passes_its_cap(found, carried, cap, share):
    """Whatever the values and however tokens are counted, rounded up or down."""
    facts = planned(found, carried, cap=cap, weighed=lambda text: len(text) // share)
    for language in ("en", "zh"):
        assert len(facts_text(facts, language)) // share <= cap or not facts_text(facts, language)


@given(FACTS, FACTS)
def test_planning_is_repeatable_and_lists_a_value_once(found, carried):
    """The same input gives the same list; no value twice."""
    facts = planned(found, carried, cap=10_000)
    assert facts == planned(found, carried, cap=10_000)
    assert len({fact.value for fact in facts}) == len(facts)


# ---- C25: three compactions ---------------------------------------------------------------------

STATED = {
    "en": {
        "The configuration is in /srv/heron/etc/main.toml.": "/srv/heron/etc/main.toml",
        "The guide is at https://heron.example.org/v2/guide?tab=3.": "https://heron.example.org/v2/guide?tab=3",
        "The bad commit is 4f9c2ab17de.": "4f9c2ab17de",
        "The admin port is 8443.": "8443",
        "We launch on 3 March 2027.": "3 March 2027",
        "The panel must be 450 mm wide.": "450 mm",
        "My name is Ada Lindqvist.": "Ada Lindqvist",
        "We run version 2.7.1-rc3.": "2.7.1-rc3",
    },
    "zh": {
        "配置文件在/srv/heron/设置/main.toml里。": "/srv/heron/设置/main.toml",
        "文档在https://heron.example.org/v2/guide?tab=3，请先看。": "https://heron.example.org/v2/guide?tab=3",
        "出问题的提交是4f9c2ab17de。": "4f9c2ab17de",
        "管理端口是8443。": "8443",
        "我们2027年3月3日上线。": "2027年3月3日",
        "面板宽度必须是450毫米。": "450毫米",
        "我叫李明，是负责人。": "李明",
        "现在用的版本是v2.7.1-rc3。": "v2.7.1-rc3",
    },
}


def chatter(count):
    """Replies of a model full of values of its own, four in each."""
    return [
        reply(
            f"See /tmp/out/file_{n}.txt, ticket ABC-{n:05}, https://n{n}.example.com/p/{n} and "
            f"{n}.5 kg of it."
        )
        for n in range(count)
    ]


def stated(language, between):
    """The user's eight values, with replies between them."""
    noise = chatter(between)
    share = between // len(STATED[language])
    for place, said in enumerate(STATED[language]):
        yield user(said)
        yield from noise[place * share : (place + 1) * share]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("between", [0, 56], ids=["alone", "among-224-others"])
def test_c25_eight_values_survive_three_vague_summaries(language, between):
    """Path, URL, hash, port, date, amount, name and version, after three compactions: 8 of 8."""
    folded = [list(stated(language, between)), chatter(50), chatter(50)]
    facts = ()
    for bodies in folded:
        facts = facts_from_json(json.loads(json.dumps(facts_to_json(facts))))
        facts = planned(find_facts(bodies), facts)
        text = facts_text(facts, language)
        assert [value for value in STATED[language].values() if value not in text] == []
        assert weigh(text) <= CAP


def test_c25_values_stated_at_different_times_survive():
    """Each compaction folds some of the eight; the first ones have been carried twice at the end."""
    said = list(STATED["en"])
    facts = ()
    for part in (said[:3], said[3:6], said[6:]):
        facts = planned(find_facts([*map(user, part), *chatter(40)]), facts)
    text = facts_text(facts, "en")
    assert [value for value in STATED["en"].values() if value not in text] == []


# ---- as text, as JSON ---------------------------------------------------------------------------


def test_the_list_is_in_the_order_things_were_said():
    """A value that was changed later stands below the older one."""
    facts = planned(find_facts([user("The port is 8001."), user("Now the port is 8002.")]))
    assert facts_text(facts, "en").splitlines()[1:] == [
        "- The port is 8001",
        "- Now the port is 8002",
    ]


def test_headings_are_in_the_language():
    """The block says what it is, in the language of the frame around it."""
    facts = [Fact("port", "8443")]
    assert facts_text(facts, "en").startswith("Exact values")
    assert facts_text(facts, "zh").startswith("较早部分")


@given(FACTS)
def test_json_round_trip(facts):
    """What is stored comes back as it was."""
    assert facts_from_json(json.loads(json.dumps(facts_to_json(facts)))) == tuple(facts)


BROKEN = {
    "none": (None, ()),
    "object": ({"kind": "port"}, ()),
    "no-value": ([{"kind": "port"}], ()),
    "blank-value": ([{"kind": "port", "value": " "}], ()),
    "wrong-kind": ([{"kind": 3, "value": "8443"}], ()),
    "not-an-object": (["8443", None, 3], ()),
    "wrong-field": (
        [{"kind": "port", "value": "8443", "count": "3", "last": True, "from_user": 1, "new": 0}],
        (Fact("port", "8443"),),
    ),
    "one-good": (
        [None, {"kind": "port", "value": "8443", "count": 2}],
        (Fact("port", "8443", count=2),),
    ),
}


@pytest.mark.parametrize(("stored", "facts"), BROKEN.values(), ids=BROKEN.keys())
def test_reading_is_tolerant(stored, facts):
    """A damaged field costs that field, a damaged fact that fact."""
    assert facts_from_json(stored) == facts


# ---- how long it takes --------------------------------------------------------------------------

PIECES = (
    "a", "a.", "/a", "/-", "a:", "1", "1.", "1,", "1 ", "1-", "f:", '"a', "`a", "a@", "A-", " ", "\n",
    "call it ", "name is ", "我叫", "端口", "+1 ", "(1) ", "\\a", "C:\\a", "port ", "http://", "www.",
    "A'", "Aa ", "1x", "1年", "~/", "..", "1 000 ", "h-1", "order number ", "[", "「a", "# ", "```\n",
)  # fmt: skip


def seconds(text):
    """The best of two runs over a text, processor seconds."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        find_facts([user(text)])
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_time_grows_with_the_text_and_no_faster(piece):
    """Four times a strange text takes about four times as long, not its square, sixteen times."""
    small, large = 5_000, 20_000
    text = piece * (large // len(piece) + 1)
    assert seconds(text[:large]) <= 4 * 2.5 * seconds(text[:small]) + 0.02


@pytest.mark.parametrize("piece", ["a", "a.", "/a", '"a', "name is "], ids=repr)
def test_a_line_of_200_000_characters_takes_twice_as_long_as_half_of_it(piece):
    """A minified file on one line is read like any other text."""
    text = piece * (200_000 // len(piece))
    assert seconds(text) <= 2 * 2.5 * seconds(text[:100_000]) + 0.05


@given(st.text(max_size=300))
def test_values_are_in_the_text_and_do_not_overlap(text):
    """Every value is word for word in its text; none begins before the one before it ends."""
    end = 0
    for found in find_values(text):
        assert text.find(found.value, found.start) >= found.start
        assert found.value in text
        end = max(end, found.end)
    assert end <= len(text)


def test_what_identifies_outlasts_a_flood_of_times():
    """A diary full of times of day does not push out a path, a name and a port stated before."""
    said = [user("My name is Marit Solvang. The file is /srv/lamps/beam.toml, the port is 8443.")]
    said += [
        user(f"At {n % 24:02}:{n % 60:02} and {n % 24:02}:{(n + 7) % 60:02} ships passed.")
        for n in range(60)
    ]
    chosen = plan_facts(find_facts(said), (), "", cap_tokens=80, weigh=lambda text: len(text) // 4)
    assert {"Marit Solvang", "/srv/lamps/beam.toml", "8443"} <= {fact.value for fact in chosen}
