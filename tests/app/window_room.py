"""A whole window on a real engine thread and a real store, with a scripted model."""

from app.items import ReplyItem, UserItem

SCRIPTED = {"PORTHOLE_MODELS_DEFAULT": "scripted:test", "PORTHOLE_CONTEXT_CAP_TOKENS": "32768"}


def replies(window):
    return [item for item in window.items.items() if isinstance(item, ReplyItem)]


def users(window):
    return [item.text for item in window.items.items() if isinstance(item, UserItem)]


def is_done(window, count=1):
    done = [item for item in replies(window) if item.state == "done"]
    return len(done) >= count and not any(i.state != "done" for i in replies(window))


def say(qtbot, window, text):
    """Type a message and wait for its answer."""
    before = len(replies(window))
    window.parts.composer.set_text(text)
    window.do("send")
    qtbot.waitUntil(lambda: is_done(window, before + 1), timeout=10_000)
