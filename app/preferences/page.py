"""A page: its title, the groups of its settings, and what it shows beside them."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.client.preferences import Place, SettingsState, Spot
from app.labels import Words
from app.preferences.editors import ModelEditor
from app.preferences.pages import Group, Page
from app.preferences.row import SettingRow
from app.preferences.words import group_words
from app.theme import theme_of
from app.theme.controls import Button, Choice
from app.theme.painting import hairline

Models = Sequence[tuple[str, str]]
"""(label, title) of the models that can be chosen."""


class PageView(QWidget):
    """One page. Its rows are made one by one, see `make_next`.

    Signals:
        row_made(SettingRow): a row is there, to be connected.
        model_chosen(label): show and set another model's values.
        show_requested(path): open a folder, or a file's.
    """

    row_made = Signal(object)
    model_chosen = Signal(str)
    show_requested = Signal(str)

    def __init__(self, page: Page, parent: QWidget) -> None:
        super().__init__(parent)
        self.page = page
        self.rows: dict[str, SettingRow] = {}
        self.groups: dict[str, GroupView] = {}
        self._theme = theme_of()
        self._is_narrow = False
        self._models: Models = ()
        self._state: SettingsState | None = None
        self._only: Collection[str] | None = None
        self._left = [(group, setting) for group in page.groups for setting in group.settings]
        self.setAccessibleName(page.title)
        self.title = Words(page.title, "page", "ink", self)
        self.about = Words(page.about, "interface", "ink2", self, wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.title)
        self._column.addWidget(self.about)
        self.places = PlacesView(self) if page.id == "storage" else None
        if self.places is not None:
            self.places.show_requested.connect(self.show_requested)
            self._column.addWidget(self.places)

    @property
    def is_made(self) -> bool:
        """Whether all its rows are there."""
        return not self._left

    def make_next(self) -> None:
        """Make the next row; a page is made bit by bit, as all at once would be felt."""
        group, setting = self._left.pop(0)
        view = self.groups.get(group.id) or self._make_group(group)
        row = self.rows[setting.key] = SettingRow(setting, view)
        row.set_narrow(self._is_narrow)
        if isinstance(row.editor, ModelEditor):
            row.editor.set_models(self._models)
        view.column.addWidget(row)
        self.row_made.emit(row)
        self._show_rows(view)
        if self._state is not None:
            row.show_state(self._state, Spot(setting.key, self._state.model))

    def _make_group(self, group: Group) -> "GroupView":
        view = self.groups[group.id] = GroupView(group, self)
        view.model_chosen.connect(self.model_chosen)
        view.set_models(self._models)
        view.set_model(self._state.model if self._state else "")
        self._column.addWidget(view)
        return view

    def set_models(self, models: Models) -> None:
        """The models that can be chosen."""
        self._models = models
        for row in self.rows.values():
            if isinstance(row.editor, ModelEditor):
                row.editor.set_models(models)
        for group in self.groups.values():
            group.set_models(models)

    def show_state(self, state: SettingsState) -> None:
        """Show what applies."""
        self._state = state
        if self.places is not None:
            self.places.set_places(state.places)
        for group in self.groups.values():
            group.set_model(state.model)
        for row in self.rows.values():
            row.show_state(state, Spot(row.setting.key, state.model))

    def show_only(self, keys: Collection[str] | None) -> None:
        """Show the rows of these settings; None: all, and what is said of the page."""
        self._only = keys
        self.about.setVisible(keys is None)
        if self.places is not None:
            self.places.setVisible(keys is None)
        for group in self.groups.values():
            self._show_rows(group)

    def _show_rows(self, view: "GroupView") -> None:
        made = [self.rows[s.key] for s in view.group.settings if s.key in self.rows]
        shown = [row for row in made if self._only is None or row.setting.key in self._only]
        view.setVisible(bool(shown))
        for row in made:
            if row.isHidden() == (row in shown):
                row.setVisible(row in shown)
            row.set_last(bool(shown) and row is shown[-1])

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Whether editors stand below the words."""
        self._is_narrow = narrow
        for row in self.rows.values():
            row.set_narrow(narrow)


class GroupView(QWidget):
    """Rows under a heading; those of one model with the choice of it.

    Signals:
        model_chosen(label): as the page's.
    """

    model_chosen = Signal(str)

    def __init__(self, group: Group, parent: QWidget) -> None:
        super().__init__(parent)
        self.group = group
        self._theme = theme_of()
        self._labels: list[str] = []
        self._model = ""
        self._models: Models = ()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.choice: Choice | None = None
        self._head: QHBoxLayout | None = None
        if group.id:
            self._make_head(group_words(group.id))
        self._theme.changed.connect(self._renew)
        self._renew()

    def _make_head(self, words: str) -> None:
        self._head = QHBoxLayout()
        title = Words(words, "interface_bold", "ink", self)
        title.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._head.addWidget(title)
        if self.group.is_of_model:
            self.choice = Choice(self.tr("Model"), self)
            self.choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self.choice.activated.connect(lambda at: self.model_chosen.emit(self._labels[at]))
            self._head.addWidget(self.choice, 1)
        else:
            self._head.addStretch(1)
        self.column.addLayout(self._head)

    def set_models(self, models: Models) -> None:
        """The models that can be chosen."""
        self._models = models
        self.set_model(self._model)

    def set_model(self, label: str) -> None:
        """The model whose values are shown."""
        self._model = label
        if self.choice is None:
            return
        known = dict(self._models)
        if label:
            known.setdefault(label, label)
        self._labels = list(known)
        self.choice.clear()
        self.choice.addItems(list(known.values()))
        if label:
            self.choice.setCurrentIndex(self._labels.index(label))

    def _renew(self) -> None:
        px = self._theme.px
        if self._head is not None:
            self._head.setContentsMargins(0, px(24), 0, px(4))
            self._head.setSpacing(px(12))


class PlacesView(QWidget):
    """Where everything lies, with a button to look there.

    Signals:
        show_requested(path): as the page's.
    """

    show_requested = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._places: tuple[Place, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, self._theme.px(8), 0, 0)
        self._column.setSpacing(0)

    def set_places(self, places: tuple[Place, ...]) -> None:
        """Show these; made once, as they never change while Porthole runs."""
        if places == self._places:
            return
        self._places = places
        for place in places:
            row = _PlaceRow(self._words(place.kind), place.path, self)
            row.button.clicked.connect(lambda _=False, path=place.path: self._show(path))
            self._column.addWidget(row)

    def _show(self, path: str) -> None:
        self.show_requested.emit(path)

    def _words(self, kind: str) -> str:
        words = {
            "settings": self.tr("Settings"),
            "conversations": self.tr("Conversations"),
            "models": self.tr("Models"),
            "cache": self.tr("Caches"),
            "reports": self.tr("Reports of our bugs"),
        }
        return words.get(kind, kind)


class _PlaceRow(QWidget):
    """A name, a path, a button."""

    def __init__(self, name: str, path: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        words = QVBoxLayout()
        words.setSpacing(self._theme.px(2))
        words.addWidget(Words(name, "interface_medium", "ink", self))
        where = Words(path, "chip", "ink2", self, wrap=True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        words.addWidget(where)
        self.button = Button(self.tr("Show"), "plain", "folder", self)
        self.button.setAccessibleName(self.tr("Show {} in its folder").format(name))
        self.button.setAutoDefault(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, self._theme.px(12), 0, self._theme.px(12))
        row.setSpacing(self._theme.px(16))
        row.addLayout(words, 1)
        row.addWidget(self.button)

    def paintEvent(self, _event: QPaintEvent) -> None:
        y = self.height() - 1
        hairline(QPainter(self), 0, y, self.width(), self._theme.color("line"))
