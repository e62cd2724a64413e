"""Templates that mean harm: they end with one sentence, soon, and without much memory."""

import tracemalloc
from collections.abc import Callable
from datetime import date

import pytest

from engine.backends.base import PromptMessage
from engine.backends.llamacpp_worker.templates import ChatTemplate
from engine.backends.llamacpp_worker.templates_sandbox import (
    RENDER_SECONDS,
    Meter,
    OverLimit,
    TemplateSandbox,
)
from engine.errors import TemplateUnusable

DOUBLING = "{% set ns = namespace(a='xxxxxxxx', l=['x'], m=['x']) %}{% for i in range(60) %}"
LAUGHING = DOUBLING + "{% set ns.l = [ns.l, ns.l] %}{% endfor %}"


def slow_clock(seconds: float) -> Callable[[], float]:
    """A clock that goes on by itself, every time it is looked at."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += seconds
        return now

    return clock


def refusal(source: str, clock: Callable[[], float] = lambda: 0.0) -> str:
    """The sentence a template is refused with, by a clock that stands still unless told otherwise."""
    with pytest.raises(TemplateUnusable) as caught:
        ChatTemplate(source, today=date(2025, 1, 31), clock=clock).render(
            [PromptMessage("user", "hello")]
        )
    assert caught.value.sentence.count(". ") == 0
    assert caught.value.sentence.endswith(".")
    return caught.value.sentence


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.__class__.__name__ }}",
        "{{ messages[0].__init__.__globals__ }}",
        "{{ raise_exception.__globals__['os'] }}",
        "{{ (strftime_now.__self__).__class__.__base__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ messages.clear() }}",
        "{{ messages[0].update({'role': 'x'}) }}",
        "{{ messages.sort() }}",
        "{{ 'x'.center(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ 'x'.zfill(1000000000) }}",
        "{{ '\\t'.expandtabs(1000000000) }}",
        "{{ 'x'.encode() }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (1000000000, 1) }}",
        "{{ '{:>1000000000}'.format('x') }}",
        "{{ '{:>{}}'.format('x', 1000000000) }}",
        "{{ '{a:>1000000000}'.format_map({'a': 1}) }}",
    ],
)
def test_what_a_template_may_not(source):
    """Python's insides, changing what it was given, and formatting without end."""
    assert "it tried what a template may not" in refusal(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ '{0.__class__}'.format(1) }}",
        "{{ [].__class__ }}",
        "{{ lipsum(9) }}",
        "{{ nothing|tojson }}",
        "{% include 'x' %}",
    ],
)
def test_what_a_template_does_not_get(source):
    """Nothing comes of it: no such thing is there, the conversation is written as ChatML."""
    rendered = ChatTemplate(source).render([PromptMessage("user", "hello")])
    assert not rendered.is_own


@pytest.mark.parametrize(
    "name", ["center", "batch", "attr", "striptags", "urlize", "xmlattr", "pprint"]
)
def test_filters_that_no_chat_template_needs_are_not_there(name):
    """Fewer filters, fewer surprises."""
    assert f"No filter named '{name}'" in refusal(f"{{{{ 'x'|{name} }}}}")


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(9999) if false %}{% endfor %}{% endfor %}",
        "{% set s = 'x' * 99999 %}{% for a in s %}{% for b in s %}{% endfor %}{% endfor %}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
        "{% for a in range(99999) %}{{ range(999)|list|length }}{% endfor %}",
        "{% for a in range(99999) %}{{ ('xy' * 9999)|map('upper')|list|length }}{% endfor %}",
        "{% set q = [] %}{% for a in range(99999) %}{{ q.append(a) }}{{ q.pop() }}{% endfor %}"
        * 9,
        "{% for a in messages recursive %}{{ loop(messages) }}{{ loop(messages) }}{% endfor %}",
    ],
)
def test_a_template_without_end_is_ended(source):
    """Whatever it does, it costs ticks, and a tick after the deadline ends it.

    The clock goes on by itself: the test waits for nothing, and the work done is counted.
    """
    looks = 50
    sentence = refusal(source, slow_clock(RENDER_SECONDS / looks))
    assert "took longer" in sentence or "calls itself" in sentence


def test_a_source_that_takes_long_to_compile_is_ended():
    """Compiling costs ticks as well."""
    source = "{{ a }}" * 8_000
    assert "took longer" in refusal(source, slow_clock(RENDER_SECONDS / 1000))
    assert "characters" in refusal("x" * 200_000)


@pytest.mark.parametrize(
    "source",
    [
        DOUBLING + "{% set ns.a = ns.a + ns.a %}{% endfor %}",
        DOUBLING + "{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
        DOUBLING + "{% set ns.a = ns.a * 2 %}{% endfor %}",
        DOUBLING + "{% set b %}{{ ns.a }}{{ ns.a }}{% endset %}{% set ns.a = b %}{% endfor %}",
        DOUBLING + "{% set ns.a = '%s%s' % (ns.a, ns.a) %}{% endfor %}",
        DOUBLING + "{% set ns.a = '{0}{0}'.format(ns.a) %}{% endfor %}",
        DOUBLING + "{% set ns.a = [ns.a, ns.a]|join %}{% endfor %}",
        DOUBLING + "{% set ns.a = ns.a.join(['x', 'x', 'x']) %}{% endfor %}",
        DOUBLING + "{% set ns.a = ns.a.replace('x', 'xx') %}{% endfor %}",
        DOUBLING + "{% set ns.a = ns.a|replace('x', 'xx') %}{% endfor %}",
        DOUBLING + "{% set ns.l = ns.l + ns.l %}{% endfor %}",
        DOUBLING + "{% set ns.l = ns.l * 2 %}{% endfor %}",
        "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}"
        + DOUBLING
        + "{% set ns.a = m(ns.a) %}{% endfor %}",
        "{{ 'x' * 10 ** 9 }}",
        "{{ 10 ** 9 * 'x' }}",
        "{{ ([1] * 10 ** 9)|length }}",
        "{% set s = 'x' * 9999999 %}{{ s.replace('', s) }}",
        "{% set s = 'x' * 9999999 %}{{ s.replace('x', s) }}",
        "{% set s = 'x' * 9999999 %}{{ ([s] * 1000)|join }}",
        "{% set s = 'x' * 9999999 %}{{ s.join([s] * 1000) }}",
        "{% set s = 'x ' * 5000000 %}{{ s.split(' ')|length }}",
        "{% set s = 'x ' * 5000000 %}{{ s.split()|length }}",
        "{% set s = 'x ' * 5000000 %}{{ s|list|length }}",
        "{% set s = 'x ' * 5000000 %}{{ s|sort|length }}",
        "{{ 'a\\nb'|indent(1000000000) }}",
        "{{ [1]|tojson(indent=1000000000) }}",
    ],
)
def test_a_template_that_grows_without_end_is_ended(source):
    """Text that doubles, by count and not by time: the clock stands still. Memory stays small."""
    tracemalloc.start()
    try:
        sentence = refusal(source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert any(words in sentence for words in ("more text", "too long a list", "too far"))
    assert peak < 100_000_000


@pytest.mark.parametrize(
    "source",
    [
        LAUGHING + "{{ ns.l|tojson }}",
        LAUGHING + "{{ ns.l }}",
        LAUGHING + "{{ ns.l|string }}",
        LAUGHING + "{{ ns.l ~ 'x' }}",
        LAUGHING + "{{ '%s' % ns.l }}",
        LAUGHING + "{{ '{}'.format(ns.l) }}",
        LAUGHING.replace("[ns.l, ns.l]", "(ns.l, ns.l)") + "{{ ns.l == ns.m }}",
        LAUGHING.replace("[ns.l, ns.l]", "{'a': ns.l, 'b': ns.l}") + "{{ ns.l }}",
        LAUGHING.replace("[ns.l, ns.l]", "dict(a=ns.l, b=ns.l)") + "{{ ns.l }}",
        "{% set q = [] %}{{ q.append(q) }}{{ q == [q] }}",
    ],
)
def test_a_list_that_contains_itself_many_times_is_not_written_out(source):
    """Sixty doublings would be a quintillion parts: they are counted before anything is done."""
    assert "too long a list" in refusal(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 10 ** (9 ** 9) }}",
        "{% set ns = namespace(a=9) %}{% for i in range(60) %}{% set ns.a = ns.a * ns.a %}{% endfor %}",
        "{{ (9 ** 999) ** 999 }}",
    ],
)
def test_numbers_do_not_grow_without_end(source):
    """Powers and products of thousands of digits are refused."""
    assert "too large a number" in refusal(source)


def test_a_template_that_calls_itself_is_ended():
    """Python's own limit, told as ours."""
    assert "calls itself" in refusal("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")


def test_a_template_that_is_ended_can_be_tried_again():
    """Nothing of one render's account is left for the next."""
    template = ChatTemplate("{{ messages[0].content }}{{ 'x' * messages[0].content|length ** 4 }}")
    with pytest.raises(TemplateUnusable):
        template.render([PromptMessage("user", "x" * 100)])
    assert template.render([PromptMessage("user", "xx")]).text == "xx" + "x" * 16


def test_ordinary_work_costs_little():
    """A long conversation stays far below the limits: counted, not timed."""
    sandbox = TemplateSandbox()
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return 0.0

    source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content|trim }}<|end|>{% endfor %}"
    template = sandbox.compile_template(source, Meter(clock))
    compiling, looks = looks, 0
    messages = [{"role": "user", "content": "words " * 100}] * 200
    sandbox.run(template, {"messages": messages}, Meter(clock))
    assert compiling < 50
    assert looks < 400


def test_lists_of_its_own_may_grow():
    """Kimi K2 keeps a queue of tool calls that wait for their results."""
    sandbox = TemplateSandbox()
    source = "{% set q = [] %}{% set _ = q.append('a') %}{% set _ = q.append('b') %}{{ q.pop(0) }}{{ q }}"
    template = sandbox.compile_template(source, Meter())
    assert sandbox.run(template, {}, Meter()) == "a['b']"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{{ {'a': 'é<>&', 'b': [1, none]}|tojson }}", '{"a": "é<>&", "b": [1, null]}'),
        ("{{ 'é'|tojson(ensure_ascii=true) }}", '"\\u00e9"'),
        ("{{ [1]|tojson(indent=2) }}", "[\n  1\n]"),
        ("{{ {'b': 1, 'a': 2}|tojson(sort_keys=true, separators=(',', ':')) }}", '{"a":2,"b":1}'),
        ("{{ [{'a': 1}]|map(attribute='a')|tojson }}", "[1]"),
        ("{{ [[1]|map('string')]|tojson }}", '[["1"]]'),
        ("{{ ('<'|e) + '>' }}", "&lt;&gt;"),
        ("{{ ('{\"a\": [1]}'|from_json).a[0] }}", "1"),
        ("{{ ('<' ~ '>')|safe + '<&' }}", "<><&"),
        ("{% generation %}x{% endgeneration %}", "x"),
        ("{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "1"),
        ("a\n{% if true %}\nb\n{% endif %}\nc", "a\nb\nc"),
        ("  {% if true %}x{% endif %}\n", "x"),
        ("{{ nothing }}{{ nothing is defined }}", "False"),
        ("{{ 'a-b'.split('-')|join('+') }}", "a+b"),
        ("{{ 'x{}y'.format(1) }}{{ '%s' % 2 }}{{ 'a' * 3 }}{{ [1] + [2] }}", "x1y2aaa[1, 2]"),
        ("{% for a, b in {'x': 1}.items() %}{{ a }}{{ b }}{% endfor %}", "x1"),
        ("{% set a, b = (1, 2) %}{{ b }}{{ a }}", "21"),
    ],
)
def test_templates_speak_the_usual_dialect(source, shown):
    """The filters, extensions and blank handling chat templates are written for."""
    sandbox = TemplateSandbox()
    assert sandbox.run(sandbox.compile_template(source, Meter()), {}, Meter()) == shown


def test_an_account_is_overdrawn_once():
    """Text is paid for before it is made."""
    meter = Meter(lambda: 0.0)
    meter.spend(1000)
    with pytest.raises(OverLimit):
        meter.spend(10**9)
