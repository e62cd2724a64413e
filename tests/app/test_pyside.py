"""PySide6 itself: faults that would take the window down."""

import sys

from PySide6.QtWidgets import QLabel


def test_void_calls_do_not_eat_references(qtbot):
    """PySide6 6.12.0 drops a reference to None with every void call on Python < 3.12."""
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for number in range(1_000):
        label.setText(str(number))
    assert sys.getrefcount(None) > before - 100
