"""Fixtures every test may use, and what no test may do: leave the machine, or log a warning."""

import ipaddress
import logging
import os
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000


def _stay_on_this_machine(event: str, arguments: tuple[Any, ...]) -> None:
    """Tests talk to loopback only; anything else is a defect, of the test or of ours."""
    if event != "socket.connect" or not isinstance(arguments[1], tuple):
        return
    host = str(arguments[1][0])
    if host != "localhost" and not ipaddress.ip_address(host.split("%")[0]).is_loopback:
        raise AssertionError(f"a test connects to {arguments[1]}")


sys.addaudithook(_stay_on_this_machine)
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before pytest-qt makes the application


class PatientBot(QtBot):
    """Waits for as long as a busy machine takes; what never comes fails all the same."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)
    waitSignals = partialmethod(QtBot.waitSignals, timeout=PATIENCE_MS)
    waitExposed = partialmethod(QtBot.waitExposed, timeout=PATIENCE_MS)
    waitCallback = partialmethod(QtBot.waitCallback, timeout=PATIENCE_MS)


@pytest.fixture
def qtbot(qapp, request):
    """pytest-qt's, with patience."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    """No setting of the machine's user reaches a test; widgets need no screen."""
    for name in list(os.environ):
        if name.startswith("PORTHOLE_") and not name.startswith("PORTHOLE_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(autouse=True)
def _noise_fails(caplog):
    """A log record of warning level or above fails the test that caused it."""
    yield
    loud = [r for r in caplog.get_records("call") if r.levelno >= logging.WARNING]
    assert not loud, [record.getMessage() for record in loud]


@pytest.fixture(scope="session")
def starter_path() -> Path:
    """The real starter model; packaging/test fetches it and names it in PORTHOLE_TEST_MODEL."""
    path = Path(os.environ.get("PORTHOLE_TEST_MODEL", ""))
    assert path.is_file(), "no starter model: run packaging/test, or set PORTHOLE_TEST_MODEL"
    return path
