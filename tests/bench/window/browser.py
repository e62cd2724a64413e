"""The named baseline: one QTextBrowser that holds the whole conversation as Markdown."""

import psutil
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextBrowser

from app.bridge import JOIN_MS
from tests.bench.window import texts
from tests.bench.window.child import Stopwatch, summary
from tests.bench.window.page import TOKENS_A_SECOND, turn_wheel
from tests.bench.window.painting import HEIGHT, WIDTH, application, paint, turn


def _opened(count: int) -> tuple[QTextBrowser, float]:
    whole = "\n\n---\n\n".join(text for _, text in texts.said(count))
    browser = QTextBrowser()
    browser.resize(WIDTH, HEIGHT)
    browser.show()
    paint(browser)
    watch = Stopwatch()
    browser.setMarkdown(whole)
    browser.moveCursor(QTextCursor.MoveOperation.End)
    paint(browser)
    return browser, watch.wall


def opening(count: int) -> dict[str, float]:
    """From the text to the painted end; and the memory of the process then."""
    _app = application()
    _browser, spent = _opened(count)
    return {"ms": spent, "rss": psutil.Process().memory_info().rss / 1e6}


def streaming(count: int, characters: int = 8_000) -> dict[str, float]:
    """The last message written anew every frame, as one must to have its Markdown right."""
    _app = application()
    browser, _ = _opened(count)
    start = browser.document().characterCount() - 1
    updates = []
    for shown in texts.chunks(texts.Author(3).long_answer(characters), TOKENS_A_SECOND, JOIN_MS):
        watch = Stopwatch()
        cursor = QTextCursor(browser.document())
        cursor.setPosition(start)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.insertMarkdown(shown)
        browser.moveCursor(QTextCursor.MoveOperation.End)
        paint(browser)
        turn()
        updates.append(watch.cpu)
    return {**summary(updates), "duty": 100 * sum(updates) / (len(updates) * JOIN_MS)}


def wheel(count: int) -> dict[str, float]:
    """Up 300 notches from the end, down 100."""
    _app = application()
    browser, _ = _opened(count)
    steps = []
    for notch in [1] * 300 + [-1] * 100:
        watch = Stopwatch()
        turn_wheel(browser.viewport(), notch)
        paint(browser)
        steps.append(watch.cpu)
    return summary(steps)
