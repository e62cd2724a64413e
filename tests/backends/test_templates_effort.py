"""How templates are told whether, and how much, a model shall think."""

import pytest

from engine.backends.base import PromptMessage
from engine.backends.llamacpp_worker.effort import template_choices
from engine.backends.llamacpp_worker.templates import ChatTemplate

LOOP = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
SWITCHED = LOOP + "{% if enable_thinking is defined and enable_thinking is false %}<no>{% endif %}"
HARMONY = (
    '{% if reasoning_effort is not defined %}{% set reasoning_effort = "medium" %}{% endif %}'
    "Reasoning: {{ reasoning_effort }}\n{# your thinking #}" + LOOP
)
STRICT = (
    "{% if not reasoning_effort is defined %}{% set reasoning_effort = 'no_think' %}"
    "{% elif reasoning_effort not in ['high', 'low', 'no_think'] %}"
    "{{ raise_exception('no such effort') }}{% endif %}Effort: {{ reasoning_effort }}\n" + LOOP
)
NONE = LOOP + "{% if reasoning_effort is defined and reasoning_effort == 'none' %}<no>{% endif %}"
TWO = (
    "{% set effort = reasoning_effort if reasoning_effort is defined else 'high' %}"
    "{% if effort in ['low'] %}<low>{% endif %}" + LOOP
)
PLAIN = LOOP + "{% if thinking %}<think>{% endif %}"
WITH_MAX = (
    PLAIN + "{% if reasoning_effort is defined and reasoning_effort == 'max' %}<max>{% endif %}"
)


def frame(source, think):
    """What the template writes around the one word that is said."""
    rendered = ChatTemplate(source).render([PromptMessage("user", "Hi")], think=think)
    assert rendered.is_own
    assert not rendered.repairs
    return rendered.text.replace("<|user|>Hi", "").strip()


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (SWITCHED, {None: "", False: "<no>", True: "", "low": "", "max": ""}),
        (PLAIN, {None: "", False: "", True: "<think>", "medium": "<think>"}),
        (
            HARMONY,
            {
                None: "Reasoning: medium",
                True: "Reasoning: medium",
                False: "Reasoning: low",
                "low": "Reasoning: low",
                "high": "Reasoning: high",
                "max": "Reasoning: high",
            },
        ),
        (
            STRICT,
            {
                None: "Effort: no_think",
                False: "Effort: no_think",
                True: "Effort: high",
                "low": "Effort: low",
                "medium": "Effort: high",
                "max": "Effort: high",
            },
        ),
        (NONE, {None: "", True: "", False: "<no>", "high": ""}),
        (TWO, {None: "", False: "<low>", "low": "<low>", "high": "", "max": ""}),
        (WITH_MAX, {False: "", True: "<think>", "high": "<think>", "max": "<think><max>"}),
    ],
    ids=["switch", "plain", "harmony", "strict", "none", "two", "max"],
)
def test_templates_are_told_in_their_own_words(source, written):
    """On, off and each level; none makes a template raise or take to another form."""
    assert {think: frame(source, think) for think in written} == written


@pytest.mark.parametrize(
    ("source", "choices"),
    [
        (LOOP, ()),
        (LOOP + "<think>", ()),
        (LOOP + "{{ m.thinking }}{{ 'thinking' }}{# if thinking #}", ()),
        (LOOP + "{% set thinking = 'hm' %}", ()),
        (SWITCHED, ("off", "on")),
        (PLAIN, ("off", "on")),
        (HARMONY, ("low", "medium", "high")),
        (STRICT, ("off", "low", "high")),
        (NONE, ("off", "on")),
        (TWO, ("low", "high")),
        (WITH_MAX, ("off", "on", "max")),
    ],
)
def test_what_a_model_can_be_told(source, choices):
    """What makes a difference, and nothing else; a word of prose is no switch."""
    assert template_choices(source) == choices
