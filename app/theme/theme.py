"""The application's theme: one object that answers every question of colour, type and size."""

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPixmap
from PySide6.QtWidgets import QApplication, QStyle, QStyleFactory

from app.theme.fonts import TYPES, Face, ReadingFace, Role, Type, load_fonts, make_font
from app.theme.icons import draw
from app.theme.palette import make_palette
from app.theme.qss import style_sheet
from app.theme.tokens import DARK, LIGHT, Scheme, Tokens, high_contrast

if TYPE_CHECKING:
    from PySide6.QtGui import QAccessibilityHints

SchemeChoice = Literal["system", "light", "dark"]
ZOOM_RANGE = (0.8, 2.0)
_CACHED_PICTURES = 1024
_REPLY_ROLES: tuple[Role, ...] = ("reading", "reading_plain", "summary")
_SUMMARY_PLAIN = Type("sans", 400, 13, 22)
_HINTS: dict[SchemeChoice, Qt.ColorScheme] = {
    "system": Qt.ColorScheme.Unknown,
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
}


class Theme(QObject):
    """Colours, type and sizes as they are now; make one through `theme_of`.

    Signals:
        changed: anything it answers may now be different. Painted widgets measure again and
            repaint; pictures they keep are stale.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._choice: SchemeChoice = "system"
        self._zoom = 1.0
        self._language = "en"
        self._face: ReadingFace = "book"
        self._motion = True
        self._more_contrast: bool | None = None
        self._pictures: dict[tuple[str, str, int, float], QPixmap] = {}
        self._fonts: dict[Role, QFont] = {}
        self._follow_system()
        load_fonts()
        self._tokens = self._plan_tokens()

    # -- what it is now ------------------------------------------------------------------

    @property
    def tokens(self) -> Tokens:
        """The colours."""
        return self._tokens

    @property
    def scheme(self) -> Scheme:
        """The scheme in effect, never "system"."""
        return plan_scheme(self._choice, QApplication.styleHints().colorScheme())

    @property
    def choice(self) -> SchemeChoice:
        """What was chosen: a scheme, or the system's."""
        return self._choice

    @property
    def zoom(self) -> float:
        """Every size is multiplied by this."""
        return self._zoom

    @property
    def language(self) -> str:
        """The interface's language, which decides the shape of Han characters."""
        return self._language

    @property
    def reading_face(self) -> ReadingFace:
        """The face of the replies."""
        return self._face

    @property
    def more_contrast(self) -> bool:
        """Whether the person, or the system on their behalf, asked for high contrast."""
        wanted = self._more_contrast
        return _wants_contrast(QApplication.styleHints()) if wanted is None else wanted

    @property
    def reduced_motion(self) -> bool:
        """Whether nothing shall move; Qt has no hint of the system's, so it is a setting too."""
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return not self._motion or QApplication.style().styleHint(hint) == 0

    def duration(self, milliseconds: int) -> int:
        """How long a movement may take: as asked, or 0 under reduced motion."""
        return 0 if self.reduced_motion else milliseconds

    # -- choosing ------------------------------------------------------------------------

    def set_scheme(self, choice: SchemeChoice) -> None:
        """Light, dark, or whatever the system has, also when that changes later."""
        self._choice = choice
        hints = QApplication.styleHints()
        if hints.colorScheme() != _HINTS[choice]:
            hints.setColorScheme(_HINTS[choice])  # the title bar, where the system draws it
        self._renew()

    def set_zoom(self, zoom: float) -> None:
        """Multiply every size; kept within `ZOOM_RANGE`."""
        low, high = ZOOM_RANGE
        zoom = round(min(max(zoom, low), high), 3)
        if zoom != self._zoom:
            self._zoom = zoom
            self._renew()

    def set_language(self, language: str) -> None:
        """The interface's language, as "en" or "zh_CN"."""
        if language != self._language:
            self._language = language
            self._renew()

    def set_reading_face(self, face: ReadingFace) -> None:
        """The face of the replies: the bundled book face, the plain one, or the system's."""
        if face != self._face:
            self._face = face
            self._renew()

    def set_motion(self, allowed: bool) -> None:  # noqa: FBT001  # the name says what it is
        """Whether things may move at all."""
        self._motion = allowed

    def set_more_contrast(self, wanted: bool | None) -> None:  # noqa: FBT001  # as above
        """High contrast on, off, or None: as the system says."""
        self._more_contrast = wanted
        self._renew()

    # -- answers -------------------------------------------------------------------------

    def color(self, name: str) -> QColor:
        """The colour of a token, by its attribute name."""
        return QColor(getattr(self._tokens, name))

    def font(self, role: Role) -> QFont:
        """The font of a role at the present zoom; a copy, yours to change."""
        if role not in self._fonts:
            kind = self._type(role)
            ours = self._face != "system" or role not in _REPLY_ROLES
            self._fonts[role] = make_font(
                kind.face,
                kind.weight,
                self.px(kind.size),
                language=self._language,
                bundled=ours,
            )
        return QFont(self._fonts[role])

    def face_font(self, face: Face, weight: int, size: float) -> QFont:
        """A font outside the roles: `size` px at zoom 1. Headings and bold of replies use it."""
        return make_font(face, weight, self.px(size), language=self._language)

    def line_height(self, role: Role) -> int:
        """The distance of two lines of a role, in px at the present zoom."""
        return self.px(self._type(role).line)

    def px(self, value: float) -> int:
        """A size in px at the present zoom, rounded."""
        return round(value * self._zoom)

    def pixmap(self, name: str, color: str, size: int, dpr: float) -> QPixmap:
        """An icon's picture in the colour of a token.

        `size` is the side in logical px as it will stand (multiply by the zoom yourself),
        `dpr` the ratio of the widget it is painted on.
        """
        key = (name, getattr(self._tokens, color), size, dpr)
        if key not in self._pictures:
            if len(self._pictures) >= _CACHED_PICTURES:
                self._pictures.clear()
            self._pictures[key] = draw(*key)
        return self._pictures[key]

    def icon(self, name: str, color: str = "ink2", size: int = 16) -> QIcon:
        """An icon for menus and Qt's own buttons, with its disabled and selected looks."""
        icon = QIcon()
        ratios = {1.0, 2.0} | {screen.devicePixelRatio() for screen in QApplication.screens()}
        looks = {
            QIcon.Mode.Normal: color,
            QIcon.Mode.Disabled: "disabled",
            QIcon.Mode.Selected: color,
        }
        for mode, token in looks.items():
            for ratio in sorted(ratios):
                icon.addPixmap(self.pixmap(name, token, size, ratio), mode)
        return icon

    # -- inside --------------------------------------------------------------------------

    def _type(self, role: Role) -> Type:
        """A role's type, with the reading face that was chosen."""
        if role == "reading" and self._face != "book":
            return TYPES["reading_plain"]
        if role == "summary" and (self._face != "book" or self._language.startswith("zh")):
            return _SUMMARY_PLAIN
        return TYPES[role]

    def _plan_tokens(self) -> Tokens:
        tokens = DARK if self.scheme == "dark" else LIGHT
        return high_contrast(tokens) if self.more_contrast else tokens

    def _renew(self) -> None:
        self._tokens = self._plan_tokens()
        self._fonts.clear()
        self.changed.emit()

    def _follow_system(self) -> None:
        hints = QApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        contrast = _contrast_hints(hints)
        if contrast is not None:
            contrast.contrastPreferenceChanged.connect(self._on_system_changed)

    def _on_system_changed(self, _value: object) -> None:
        if self._plan_tokens() != self._tokens:
            self._renew()


def plan_scheme(choice: SchemeChoice, system: Qt.ColorScheme) -> Scheme:
    """The scheme in effect; a system that does not say has a light one."""
    if choice != "system":
        return choice
    return "dark" if system == Qt.ColorScheme.Dark else "light"


def theme_of() -> Theme:
    """The theme of the running application, made on first use."""
    app = QCoreApplication.instance()
    if app is None:
        raise RuntimeError("a theme needs a QApplication")
    found = app.findChild(Theme, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return found if isinstance(found, Theme) else Theme(app)


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Dress the application: Fusion, palette, font and style sheet, now and on every change."""
    if theme.findChild(_Dresser) is None:
        app.setStyle(QStyleFactory.create("Fusion"))
        _Dresser(app, theme).dress()


class _Dresser(QObject):
    """Keeps the application in the theme's clothes."""

    def __init__(self, app: QApplication, theme: Theme) -> None:
        super().__init__(theme)
        self._app = app
        self._theme = theme
        theme.changed.connect(self.dress)

    def dress(self) -> None:
        """Set what the theme says now."""
        self._app.setPalette(make_palette(self._theme.tokens))
        self._app.setFont(self._theme.font("interface"))
        self._app.setStyleSheet(style_sheet(self._theme.tokens, self._theme.zoom))


def _contrast_hints(hints: object) -> "QAccessibilityHints | None":
    """What the system says of contrast, or None before Qt 6.10."""
    accessibility = getattr(hints, "accessibility", None)
    return accessibility() if accessibility else None


def _wants_contrast(hints: object) -> bool:
    found = _contrast_hints(hints)
    wanted = Qt.ContrastPreference.HighContrast
    return found is not None and found.contrastPreference() == wanted
