"""Test doubles that ship with the engine: public, documented, tested themselves.

- `ScriptedBackend`: a backend whose replies are written beforehand, with a record of calls.
- `memory_store`: a real store that lives in memory.
- `FakeClock`: time that moves when it is told to.
- `reply`, `conversation`: builders for messages.
- `asks_for_summary`: whether a request is for a summary rather than a reply.
- `engine.testing.ollama.OllamaDouble`: an Ollama server on a real loopback socket.

Doubles exist only for what cannot be had in a test: a server, and a model that says what one wants.
"""

from engine.testing.builders import (
    FakeClock,
    asks_for_summary,
    conversation,
    memory_store,
    reply,
)
from engine.testing.scripted import Script, ScriptedBackend

__all__ = [
    "FakeClock",
    "Script",
    "ScriptedBackend",
    "asks_for_summary",
    "conversation",
    "memory_store",
    "reply",
]
