"""Long conversations are out of the collector's sight while they are shown, and only then."""

import gc

import pytest

from app.client.setting_aside import LONG_ENTRIES, SettingAside


@pytest.fixture
def aside():
    """Whatever was set aside is looked at again afterwards."""
    made = SettingAside()
    yield made
    made.end()
    gc.unfreeze()


def test_a_short_conversation_is_looked_at(aside):
    """Else garbage would stay with every opening."""
    before = gc.get_freeze_count()
    aside.set(LONG_ENTRIES - 1)
    assert gc.get_freeze_count() == before


def test_a_long_one_is_set_aside_until_another_is_shown(aside):
    """And what became garbage meanwhile is found then."""
    aside.set(LONG_ENTRIES)
    assert gc.get_freeze_count() > 0
    aside.end()
    assert gc.get_freeze_count() == 0


def test_ending_what_was_never_set_changes_nothing(aside):
    """What the start of the window set aside stays so."""
    gc.freeze()
    aside.end()
    assert gc.get_freeze_count() > 0
