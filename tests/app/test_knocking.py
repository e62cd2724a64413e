"""Asking whether anything listens, before what speaks to it is loaded."""

import asyncio
import socket

import pytest

from app.client.knocking import require_listener
from engine.errors import BackendUnreachable


def test_listener_is_found():
    """On this machine, by any of its names."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        asyncio.run(require_listener(f"http://127.0.0.1:{port}"))
        asyncio.run(require_listener(f"http://localhost:{port}"))


def test_nothing_listens():
    """It is said as the backend says it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(BackendUnreachable, match=f"127.0.0.1:{port}"):
        asyncio.run(require_listener(f"http://127.0.0.1:{port}"))


def test_other_machines_are_not_asked():
    """A proxy may stand between; the backend finds out."""
    asyncio.run(require_listener("http://nobody.invalid:11434"))
