"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    """No setting of the machine's user reaches a test; widgets need no screen."""
    for name in list(os.environ):
        if name.startswith("PORTHOLE_") and name != "PORTHOLE_TEST_MODEL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(scope="session")
def starter_path() -> Path:
    """The real starter model; packaging/test fetches it and names it in PORTHOLE_TEST_MODEL."""
    path = Path(os.environ.get("PORTHOLE_TEST_MODEL", ""))
    assert path.is_file(), "no starter model: run packaging/test, or set PORTHOLE_TEST_MODEL"
    return path
