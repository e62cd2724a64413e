"""The preferences window: pages at the left, settings at the right, a search over all of them.

It shows a `SettingsState` and tells what is wished; whoever owns it has it done and gives the new
state. There is no OK: what is changed holds at once, and can be put back as it was at the opening.
"""

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.client.preferences import SettingsState, Spot
from app.labels import Words
from app.preferences.banner import Banner
from app.preferences.explaining import Explainer
from app.preferences.navigation import Navigation
from app.preferences.page import Models, PageView
from app.preferences.pages import PageId, page_of, plan_found, plan_pages
from app.preferences.reading import Read
from app.preferences.row import Link, SettingRow
from app.search_field import SearchField
from app.side_window import SideWindow
from app.theme.controls import Button, Choice, install_focus_ring
from app.theme.painting import hairline
from engine.settings import MODEL_SETTINGS, SETTINGS, Value

_NARROW_PX = 720
"""Narrower windows have the pages in a list that opens, and editors below their words."""
_NAVIGATION_PX = 192
_SIZE_PX = (940, 715)
_MINIMUM = (480, 400)
_BUILD_SECONDS = 0.025
"""Rows are made for so long at a time."""


class PreferencesWindow(SideWindow):
    """Every setting of the table, to be read, searched and changed.

    Args:
        parent: the window it belongs to; it stands beside it, and lets it be used.

    Signals:
        changed(key, value, model): save a value; `model` is "" for a setting of the table.
        reset_requested(key, model): take a value out of the file.
        restore_requested(entries): put back (Spot, value or None) pairs.
        model_chosen(label): show windows and values of another model.
        open_requested(path): open a file with what edits it.
        show_requested(path): show a file or folder where it lies.
        set_aside_requested(): rename a file that is not TOML.
    """

    changed = Signal(str, object, str)
    reset_requested = Signal(str, str)
    restore_requested = Signal(object)
    model_chosen = Signal(str)
    open_requested = Signal(str)
    show_requested = Signal(str)
    set_aside_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Preferences"), _MINIMUM, parent)
        self._state: SettingsState | None = None
        self._before: dict[Spot, Value | None] = {}
        self._models: Models = ()
        self._pages = plan_pages()
        self._page: PageId = self._pages[0].id
        self._search = ""
        self._builder = QTimer(self, singleShot=True, interval=0)
        self._builder.timeout.connect(self._build)
        self._make_side()
        self._make_content()
        self._make_foot()
        self._lay_out()
        self._explainer = Explainer(self.row)
        install_focus_ring(self)
        self._theme.changed.connect(self._renew)
        self._renew()
        self.resize(self._theme.px(_SIZE_PX[0]), self._theme.px(_SIZE_PX[1]))

    # ---- making ---------------------------------------------------------------------------------

    def _make_side(self) -> None:
        self.navigation = Navigation(self._pages, self.side)
        self.search = SearchField(self.tr("Search settings"), self)
        self.page_choice = Choice(self.tr("Page"), self)
        self.page_choice.addItems([page.title for page in self._pages])
        self.navigation.chosen.connect(self.show_page)
        self.search.search_changed.connect(self._find)
        self.search.left.connect(self.close)
        self.page_choice.activated.connect(lambda at: self.show_page(self._pages[at].id))
        self.side_column.addWidget(self.navigation, 1)
        self._top = QHBoxLayout()

    def _make_content(self) -> None:
        content = QWidget(self.area)
        content.setAutoFillBackground(False)
        self._column = QVBoxLayout(content)
        self.banner = Banner(content)
        self.banner.open_requested.connect(lambda: self.open_requested.emit(self._file()))
        self.banner.set_aside_requested.connect(self.set_aside_requested)
        self._column.addWidget(self.banner)
        self.nothing = Words("", "interface", "ink2", content, wrap=True)
        self._column.addWidget(self.nothing)
        self.views: dict[str, PageView] = {}
        for page in self._pages:
            view = self.views[page.id] = PageView(page, content)
            view.row_made.connect(self._connect_row)
            view.model_chosen.connect(self.model_chosen)
            view.show_requested.connect(self.show_requested)
            self._column.addWidget(view)
        self._column.addStretch(1)
        self.area.setWidget(content)

    def _make_foot(self) -> None:
        self.foot = QWidget(self)
        words = self.tr("Changes apply at once. Everything here is also in")
        self._foot_words = Words(words, "small", "ink3", self.foot)
        self._foot_words.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.file_link = Link("settings.toml", self.foot)
        self.file_link.setAccessibleName(self.tr("Open settings.toml"))
        self.cancel = Button(self.tr("Cancel changes"), "plain", "", self.foot)
        self.done = Button(self.tr("Done"), "primary", "", self.foot)
        for button in (self.cancel, self.done):
            button.setAutoDefault(False)
        row = QHBoxLayout(self.foot)
        row.addWidget(self._foot_words)
        row.addWidget(self.file_link)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.done)
        self._foot_row = row
        self.file_link.clicked.connect(lambda: self.open_requested.emit(self._file()))
        self.cancel.clicked.connect(self._restore)
        self.done.clicked.connect(self.close)
        self.cancel.setEnabled(False)

    def _lay_out(self) -> None:
        self._top.addWidget(self.page_choice)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addLayout(self._top)
        right.addWidget(self.area, 1)
        right.addWidget(self.foot)
        self.columns.addLayout(right, 1)
        self._is_narrow: bool | None = None

    def _connect_row(self, row: SettingRow) -> None:
        row.typed.connect(self._on_typed)
        row.changed.connect(self._on_changed)
        row.reset_requested.connect(self._on_reset)

    # ---- what it shows --------------------------------------------------------------------------

    @property
    def state(self) -> SettingsState | None:
        """What it shows; None before the first."""
        return self._state

    @property
    def model(self) -> str:
        """The label of the model whose window and values are shown; "" before that is known."""
        return self._state.model if self._state else ""

    def row(self, key: str) -> SettingRow | None:
        """The row of a setting, as soon as it was made."""
        return next((v.rows[key] for v in self.views.values() if key in v.rows), None)

    def set_state(self, state: SettingsState) -> None:
        """Show what applies; what is being typed is left alone."""
        self._state = state
        self.banner.show_state(state)
        for view in self.views.values():
            view.show_state(state)
        self._explain()
        self.cancel.setEnabled(bool(self._before) and not state.is_broken)

    def set_models(self, models: Models) -> None:
        """The models that can be chosen, as (label, title) pairs."""
        self._models = models
        for view in self.views.values():
            view.set_models(models)
        self._explain()

    def show_page(self, page: str) -> None:
        """Show a page; a search ends."""
        self._page = next(p.id for p in self._pages if p.id == page)
        self.search.clear()
        self._search = ""
        self._show()
        self.area.verticalScrollBar().setValue(0)

    def show_setting(self, key: str) -> None:
        """Show the page of a setting, and put the focus on it."""
        self.show_page(page_of(MODEL_SETTINGS.get(key) or SETTINGS[key]))
        view = self.views[self._page]
        while key not in view.rows:
            view.make_next()
        row = view.rows[key]
        self._explain()
        self.area.ensureWidgetVisible(row)
        row.editor.focus_target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_fault(self, spot: Spot, sentence: str) -> None:
        """Say beside a setting why a value could not be saved."""
        row = self.row(spot.key)
        if row is not None:
            row.set_problem(sentence)

    def _find(self, text: str) -> None:
        self._search = text
        self._show()

    def _show(self) -> None:
        """The page, or what was found on all of them."""
        found = plan_found(self._search, self._pages) if self._search else None
        for page in self._pages:
            keys = None if found is None else {s.key for s in page.settings} & found
            view = self.views[page.id]
            is_shown = page.id == self._page if keys is None else bool(keys)
            view.setVisible(is_shown)
            view.show_only(keys)
        self.nothing.setVisible(found is not None and not found)
        if found is not None:
            said = self.tr("Nothing found for “{}”.")
            self.nothing.setText(said.format(self._search))
        self.navigation.set_page("" if self._search else self._page)
        self.page_choice.setCurrentIndex([page.id for page in self._pages].index(self._page))
        self._build()

    def _build(self) -> None:
        """Make rows of what is shown, for a moment; go on when nothing else is up.

        Pages nobody looked at are not made: every widget costs whenever the theme changes.
        """
        until = time.perf_counter() + _BUILD_SECONDS
        for view in (view for view in self.views.values() if not view.isHidden()):
            while not view.is_made:
                if time.perf_counter() > until:
                    self._explain()
                    self._builder.start()
                    return
                view.make_next()
        self._explain()

    def _explain(self) -> None:
        if self._state is not None:
            title = dict(self._models).get(self._state.model, self._state.model)
            self._explainer.explain(self._state, title)

    # ---- what is wished -------------------------------------------------------------------------

    def _spot(self, key: str) -> Spot:
        return Spot(key, self.model if key in MODEL_SETTINGS else "")

    def _on_typed(self, key: str, read: Read) -> None:
        self._explainer.note_typed(key, None if read.problem else read.value)
        self._explain()

    def _on_changed(self, key: str, value: Value) -> None:
        spot = self._spot(key)
        self._explainer.forget(key)
        self._remember(spot)
        self.changed.emit(key, value, spot.model)

    def _on_reset(self, key: str) -> None:
        spot = self._spot(key)
        self._explainer.forget(key)
        self._remember(spot)
        self.reset_requested.emit(key, spot.model)

    def _remember(self, spot: Spot) -> None:
        """What the file said of a setting when it was changed here for the first time."""
        if self._state is not None:
            self._before.setdefault(spot, self._state.own(spot))
        self.cancel.setEnabled(True)

    def _restore(self) -> None:
        entries = tuple(self._before.items())
        self._before.clear()
        self._explainer.forget_all()
        self.done.setFocus()
        self.cancel.setEnabled(False)
        self.restore_requested.emit(entries)

    def _file(self) -> str:
        return self._state.file if self._state else ""

    # ---- Qt's -----------------------------------------------------------------------------------

    def _renew(self) -> None:
        px = self._theme.px
        self.side.setFixedWidth(px(_NAVIGATION_PX))
        self.side_column.setContentsMargins(px(8), px(12), px(8), px(8))
        self.side_column.setSpacing(px(8))
        self._foot_row.setSpacing(px(8))
        self.foot.setFixedHeight(px(52))
        self._is_narrow = None
        self._fit()
        self.update()

    def _fit(self) -> None:
        narrow = self.width() < self._theme.px(_NARROW_PX)
        if narrow == self._is_narrow:
            return
        self._is_narrow = narrow
        px = self._theme.px
        pad = px(20 if narrow else 28)
        self._column.setContentsMargins(pad, px(12 if narrow else 22), pad, px(20))
        self._column.setSpacing(px(14))
        self._foot_row.setContentsMargins(pad, 0, px(16), 0)
        self._top.setContentsMargins(*((pad, px(12), pad, px(4)) if narrow else (0, 0, 0, 0)))
        self._top.setSpacing(px(8))
        focused = self.focusWidget()
        if narrow:
            self._top.addWidget(self.search, 1)
        else:
            self.side_column.insertWidget(0, self.search)
        self.search.show()  # another parent hides it
        if focused is self.search:
            self.search.setFocus()  # nor does it keep the keyboard
        self.side.setVisible(not narrow)
        self.page_choice.setVisible(narrow)
        self._foot_words.setVisible(not narrow)
        for view in self.views.values():
            view.set_narrow(narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt's: what is changed from now on can be put back."""
        if not event.spontaneous():
            self._before.clear()
            self.cancel.setEnabled(False)
            self._show()
            self.search.setFocus()
        super().showEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt's: what is typed and not applied yet is applied by losing the focus."""
        focused = self.focusWidget()
        if focused is not None:
            focused.clearFocus()
        super().closeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's: as the frame is, and the line over the foot."""
        super().paintEvent(event)
        left = self.side_width()
        line = self._theme.color("line")
        hairline(QPainter(self), left, self.foot.y(), self.width() - left, line)
