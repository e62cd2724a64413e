"""The parts of the window and where they stand; no behaviour but the layout's own.

::

    sidebar │ header
            │ transcript, or the empty page, or the first run
            │ status line
            │ composer (a column under the text of the messages)
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.composer import ComposerDock
from app.first_run import EmptyPage, FirstRun
from app.header import Header
from app.sidebar import Sidebar
from app.theme import theme_of
from app.transcript.view import TranscriptView

SIDEBAR_FROM = 900
"""Narrower windows hide the sidebar behind a button; px."""


class Parts(QSplitter):
    """Everything in the window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.sidebar = Sidebar(self)
        self.main = QWidget(self)
        self.header = Header(self.main)
        self.transcript = TranscriptView(parent=self.main)
        self.empty = EmptyPage(self.main)
        self.first_run = FirstRun(self.main)
        self.pages = QStackedWidget(self.main)
        for page in (self.transcript, self.empty, self.first_run):
            self.pages.addWidget(page)
        self.foot = ComposerDock(self.main)
        self.notices, self.composer = self.foot.notices, self.foot.composer
        column = QVBoxLayout(self.main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.pages, 1)
        column.addWidget(self.foot)
        self.addWidget(self.sidebar)
        self.addWidget(self.main)
        self.setStretchFactor(1, 1)
        self.setCollapsible(1, False)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.setSizes([theme_of().px(264), theme_of().px(1016)])
        self._wanted = True

    @property
    def sidebar_shown(self) -> bool:
        """Whether the sidebar is there."""
        return not self.sidebar.isHidden()

    def toggle_sidebar(self) -> None:
        """Show or hide the sidebar, until the window is made wide or narrow."""
        self._show_sidebar(not self.sidebar_shown)
        self._wanted = self.sidebar_shown

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages over the composer."""
        self.pages.setCurrentWidget(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: a narrow window has no room for the sidebar."""
        super().resizeEvent(event)
        wide = theme_of().px(SIDEBAR_FROM)
        was_wide, is_wide = event.oldSize().width() >= wide, event.size().width() >= wide
        if event.oldSize().width() < 0 or was_wide != is_wide:
            self._show_sidebar(is_wide and self._wanted)

    def _show_sidebar(self, shown: bool) -> None:  # noqa: FBT001  # its own word says what it is
        self.sidebar.setVisible(shown)
        self.header.set_sidebar_button(shown=not shown)
