"""Moving between the parts of the window; what the window looks like, kept for the next start."""

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QWidget

from app.view_state import ViewState
from app.window.fitting import Fitting


class Panes(Fitting):
    """Sidebar, conversation and composer as places to go to."""

    _state = ViewState()

    def _panes(self) -> list[QWidget]:
        """What F6 goes round, in order; what is not shown is left out."""
        parts = self.parts
        page = parts.pages.currentWidget()
        sidebar = parts.sidebar.list if parts.sidebar.list.isVisible() else parts.sidebar.search
        panes: list[QWidget | None] = [sidebar, parts.header.chip, page, parts.composer]
        if not parts.sidebar_shown:
            panes.remove(sidebar)
        if self.panel_shown:
            panes.append(self.panel.close_button)
        return [pane for pane in panes if pane is not None]

    def _go_to_pane(self, step: int) -> None:
        panes, focus = self._panes(), self.focusWidget()
        here = next((i for i, pane in enumerate(panes) if _holds(pane, focus)), None)
        if here is None:
            here = -1 if step > 0 else 0
        panes[(here + step) % len(panes)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    # -- kept for the next start ---------------------------------------------------------

    def restore(self, state: ViewState) -> None:
        """Look as when the window was closed; call it before it is shown."""
        self._state = state
        if state.geometry:
            self.restoreGeometry(QByteArray.fromBase64(state.geometry.encode("ascii")))
        self.parts.restore_sidebar(state.sidebar_width, shown=state.sidebar_shown)

    def view_state(self) -> ViewState:
        """How the window looks now."""
        geometry = bytes(self.saveGeometry().toBase64().data()).decode("ascii")
        parts = self.parts
        return ViewState(geometry, parts.sidebar_width, parts.sidebar_wanted, self._id)


def _holds(pane: QWidget, focus: QWidget | None) -> bool:
    return focus is not None and (pane is focus or pane.isAncestorOf(focus))
