"""The parts of the window and where they stand; no behaviour but the layout's own.

::

    sidebar │ header
            │ transcript, or the empty page, or the first run
            │ status line
            │ composer (a column under the text of the messages)
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.composer_dock import ComposerDock
from app.first_run import EmptyPage, FirstRun
from app.header import Header
from app.sidebar import NARROWEST, WIDEST, WIDTH, Sidebar
from app.theme import theme_of
from app.transcript.view import TranscriptView

SIDEBAR_FROM = 900
"""In narrower windows the sidebar is a sheet over the conversation, behind a button; px."""
_VEIL = 0.18


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
        self.veil = _Veil(self.main)
        self.veil.hide()
        self.veil.installEventFilter(self)
        self.sidebar.installEventFilter(self)
        self._wanted, self._is_wide, self._width = True, True, WIDTH
        self._renew()

    @property
    def sidebar_shown(self) -> bool:
        """Whether the sidebar is there."""
        return not self.sidebar.isHidden()

    @property
    def sidebar_wanted(self) -> bool:
        """Whether the user wants it where there is room beside the conversation."""
        return self._wanted

    @property
    def sidebar_width(self) -> int:
        """How wide the user made it, in px at zoom 1."""
        if self._is_wide and self.sidebar_shown:
            self._width = round(self.sidebar.width() / theme_of().zoom)
        return self._width

    def restore_sidebar(self, width: int, *, shown: bool) -> None:
        """Make it as wide as it was, at zoom 1; 0 for the usual width. Hide it, or not."""
        self._width = min(WIDEST, max(NARROWEST, width)) if width else WIDTH
        self._wanted = shown
        self._renew()

    def toggle_sidebar(self) -> None:
        """Show or hide the sidebar: beside the conversation, or over it where it is narrow."""
        if self._is_wide:
            self._wanted = not self.sidebar_shown
        self._show_sidebar(not self.sidebar_shown)

    def close_sheet(self) -> None:
        """A sidebar that lies over the conversation goes; one beside it stays."""
        if not self._is_wide and self.sidebar_shown:
            self._show_sidebar(False)

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages over the composer."""
        self.pages.setCurrentWidget(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: a narrow window has no room for the sidebar beside the conversation."""
        super().resizeEvent(event)
        is_wide = event.size().width() >= theme_of().px(SIDEBAR_FROM)
        if event.oldSize().width() < 0 or is_wide != self._is_wide:
            self._is_wide = is_wide
            self._renew()
        self._place_sheet()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's: Esc, and a click beside it, end the sheet."""
        kind = event.type()
        if watched is self.veil and kind == QEvent.Type.MouseButtonPress:
            self.close_sheet()
            return True
        if watched is self.sidebar and kind == QEvent.Type.ShortcutOverride and not self._is_wide:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Escape:
                self.close_sheet()
                return True
        return super().eventFilter(watched, event)

    def _renew(self) -> None:
        """Put the sidebar where it belongs at this width of the window."""
        self._show_sidebar(self._is_wide and self._wanted)
        if self._is_wide:
            wide = theme_of().px(self._width)
            self.setSizes([wide, max(1, self.width() - wide)])

    def _show_sidebar(self, shown: bool) -> None:  # noqa: FBT001  # its own word says what it is
        is_sheet = shown and not self._is_wide
        if self._is_wide and self.sidebar.parent() is not self:
            self.insertWidget(0, self.sidebar)
        elif is_sheet and self.sidebar.parent() is not self.main:
            self.sidebar.setParent(self.main)
        self.veil.setVisible(is_sheet)
        self.sidebar.setVisible(shown)
        self.header.set_sidebar_button(shown=not shown or is_sheet)
        if is_sheet:
            self._place_sheet()
            self.sidebar.focus_list()

    def _place_sheet(self) -> None:
        """The sheet and its veil over the conversation."""
        if self.sidebar.parent() is self.main:
            self.veil.setGeometry(self.main.rect())
            width = min(theme_of().px(self._width), self.main.width() * 4 // 5)
            self.sidebar.setGeometry(0, 0, width, self.main.height())
            self.veil.raise_()
            self.sidebar.raise_()


class _Veil(QWidget):
    """Dims the conversation under the sheet."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        color = theme_of().color("ink")
        color.setAlphaF(_VEIL)
        QPainter(self).fillRect(self.rect(), color)
