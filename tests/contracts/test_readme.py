"""What the README says is so."""

import argparse
import re
from pathlib import Path

from app.terminal.parser import build_parser
from engine.settings import settings_markdown_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_settings_table_is_the_settings():
    """The table is generated; this is the text to put between the marks when it changes."""
    written = re.search(r"<!-- settings: [^\n]*-->\n(.*)\n<!-- /settings -->", README, re.DOTALL)
    assert written is not None
    assert written[1] == settings_markdown_table().strip()


def test_every_command_is_described():
    """A command that exists is in the README, and one that is there exists."""
    parser = build_parser()
    [commands] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    assert set(re.findall(r"`porthole ([a-z]+)", README)) == set(commands.choices)


def test_every_option_of_ask_is_described():
    """The options of `ask` are listed."""
    parser = build_parser()
    [commands] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    options = {
        name
        for action in commands.choices["ask"]._actions
        for name in action.option_strings
        if name.startswith("--") and name != "--help"
    }
    assert {name for name in options if name not in README} == set()


def test_the_two_commands_are_there_and_can_be_run():
    """What the README tells a stranger to type exists and has its run bit."""
    for name in ("packaging/run", "packaging/test", ".ci/run"):
        assert (ROOT / name).stat().st_mode & 0o111, name


def test_changelog_has_unreleased_lines():
    """What a user would notice is written down."""
    text = (ROOT / "packaging" / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.split("## Unreleased", 1)[1].split("\n## ", 1)[0]
    assert re.search(r"^- \S", unreleased, re.MULTILINE)
