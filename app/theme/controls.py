"""Controls that paint themselves in the theme: buttons, chips, badges, tags.

What takes values (`Switch`, `Segmented`, `Field`, …) is in `app.theme.inputs`, the focus ring
in `app.theme.focus`; both are offered here too.
"""

from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QWidget

from app.theme.focus import FocusRing, focus_is_visible, install_focus_ring, set_focus_ring
from app.theme.inputs import CheckBox, Choice, Field, Progress, Segmented, Switch
from app.theme.menus import PopupMenu
from app.theme.painting import draw_icon, rounded
from app.theme.theme import theme_of

__all__ = [
    "Badge",
    "Button",
    "CheckBox",
    "Chip",
    "Choice",
    "Field",
    "FocusRing",
    "IconButton",
    "PopupMenu",
    "Progress",
    "Segmented",
    "Switch",
    "Tag",
    "focus_is_visible",
    "install_focus_ring",
    "set_focus_ring",
]

ButtonKind = Literal["plain", "primary", "quiet", "danger"]
BadgeKind = Literal["amber", "red", "teal", "plain"]
_BADGE_COLORS: dict[BadgeKind, tuple[str, str, str]] = {  # text, fill, border
    "amber": ("amber", "amber_bg", "amber_line"),
    "red": ("red", "red_bg", "red_line"),
    "teal": ("accent", "selected", "selected"),
    "plain": ("ink2", "sunken", "line"),
}
_BADGE_ICONS: dict[BadgeKind, str] = {"amber": "warning", "red": "blocked"}
_MNEMONIC = Qt.TextFlag.TextHideMnemonic


class Button(QPushButton):
    """A button with words: 28 px high, 32 when `large`; `icon` is a name of resources/icons.

    Kinds: "primary" (one a card or dialog), "plain", "quiet" (no box), "danger" (red words).
    """

    def __init__(
        self,
        text: str,
        kind: ButtonKind = "plain",
        icon: str = "",
        parent: QWidget | None = None,
        *,
        large: bool = False,
    ) -> None:
        super().__init__(text, parent)
        self._kind = kind
        self._icon_name = icon
        self._large = large
        self._theme = theme_of()
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "outside", 6)
        self._theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def kind(self) -> ButtonKind:
        """How it looks."""
        return self._kind

    def set_kind(self, kind: ButtonKind) -> None:
        """Look as another kind from now on."""
        self._kind = kind
        self.updateGeometry()
        self.update()

    def set_icon(self, name: str) -> None:
        """Another icon before the words, or none."""
        self._icon_name = name
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Its words and icon with the padding of its kind."""
        px = self._theme.px
        width = 2 * self._padding() + self._metrics().size(_MNEMONIC, self.text()).width()
        if self._icon_name:
            width += px(16 + 4)
        return QSize(width, px(32 if self._large else 28))

    def minimumSizeHint(self) -> QSize:
        """Never smaller than its words."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Box, icon, words."""
        painter = QPainter(self)
        fill, line, ink, icon = self._colors()
        color = self._theme.color
        box = QRectF(self.rect())
        rounded(
            painter,
            box,
            self._theme.px(6),
            color(fill) if fill else None,
            color(line) if line else None,
        )
        x = self._start()
        if self._icon_name:
            side = self._theme.px(16)
            draw_icon(
                painter, self._theme, self._icon_name, icon, (x, (box.height() - side) / 2, side)
            )
            x += side + self._theme.px(6)
        painter.setFont(self._theme.font("interface_medium"))
        painter.setPen(color(ink))
        words = box.adjusted(x, 0, 0, 0)
        align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(words, int(align) | int(_MNEMONIC), self.text())
        painter.end()

    def _start(self) -> float:
        """Where the content begins, so that it stands in the middle of a widened button."""
        spare = self.width() - self.sizeHint().width()
        lead = self._theme.px(2) if self._icon_name else 0
        return self._padding() - lead + max(0, spare) / 2

    def _padding(self) -> int:
        return self._theme.px(8 if self._kind == "quiet" else 12)

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(self._theme.font("interface_medium"))

    def _colors(self) -> tuple[str, str, str, str]:
        """Tokens of fill, border, words and icon in its present state; "" for none."""
        if self._kind == "primary":
            return self._primary_colors()
        quiet = self._kind == "quiet"
        edge = "" if quiet else "line"
        base = "" if quiet else "raised"
        if not self.isEnabled():
            return base, edge, "disabled", "disabled"
        ink = "ink2" if quiet else "red" if self._kind == "danger" else "ink"
        icon = "red" if self._kind == "danger" else "ink2"
        if self.isDown() or self.isChecked():
            return "selected", edge, ink, "accent" if self.isChecked() else icon
        if self.underMouse():
            return "hover", edge, ink, icon
        return base, edge, ink, icon

    def _primary_colors(self) -> tuple[str, str, str, str]:
        if not self.isEnabled():
            return "m_free", "", "disabled", "disabled"
        if self.isDown():
            fill = "accent_down"
        else:
            fill = "accent_hover" if self.underMouse() else "accent"
        return fill, "", "on_accent", "on_accent"

    def _on_theme_changed(self) -> None:
        self.setFont(self._theme.font("interface_medium"))
        self.updateGeometry()
        self.update()


class _Painted(QAbstractButton):
    """What the wordless and the small buttons share."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves focus in the composer
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._on_theme_changed)

    def minimumSizeHint(self) -> QSize:
        """As large as it wants to be."""
        return self.sizeHint()

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()


class IconButton(_Painted):
    """A square button with an icon; `name` is its accessible name and tooltip.

    `size` and `icon_size` are px at zoom 1: 32 and 20 in the header, 28 and 16 in messages.
    Checkable ones show that they are on.
    """

    def __init__(
        self,
        icon: str,
        name: str,
        parent: QWidget | None = None,
        *,
        size: int = 32,
        icon_size: int = 20,
    ) -> None:
        super().__init__(parent)
        self._icon_name = icon
        self._size = size
        self._icon_size = icon_size
        self.set_name(name)
        set_focus_ring(self, "inside", 6)

    def set_name(self, name: str) -> None:
        """What it is called, aloud and in its tooltip."""
        self.setAccessibleName(name)
        self.setToolTip(name)

    def set_icon(self, icon: str) -> None:
        """Another icon."""
        self._icon_name = icon
        self.update()

    def sizeHint(self) -> QSize:
        """Square."""
        return QSize(self._theme.px(self._size), self._theme.px(self._size))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A fill when there is something to say, then the icon."""
        fill, ink = self._colors()
        painter = QPainter(self)
        box = QRectF(self.rect())
        if fill:
            rounded(painter, box, self._theme.px(6), self._theme.color(fill))
        side = self._theme.px(self._icon_size)
        at = ((box.width() - side) / 2, (box.height() - side) / 2, side)
        draw_icon(painter, self._theme, self._icon_name, ink, at)
        painter.end()

    def _colors(self) -> tuple[str, str]:
        if not self.isEnabled():
            return "", "disabled"
        if self.isChecked():
            return "selected", "accent"
        if self.isDown():
            return "selected", "ink"
        return ("hover", "ink") if self.underMouse() else ("", "ink2")


class Chip(_Painted):
    """A pill that opens something: icon, words, chevron. Too long, its words are elided.

    A `limit` in px at zoom 1 bounds its width; 0 leaves that to the layout.
    """

    def __init__(
        self,
        text: str,
        icon: str = "",
        parent: QWidget | None = None,
        *,
        chevron: bool = True,
        limit: int = 0,
    ) -> None:
        super().__init__(parent)
        self._icon_name = icon
        self._chevron = chevron
        self._limit = limit
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        set_focus_ring(self, "outside", 12)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Other words."""
        self.setText(text.replace("&", "&&"))
        self._words = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """All of its words, within the limit."""
        px = self._theme.px
        words = QFontMetrics(self._theme.font("small_medium")).horizontalAdvance(self._words)
        width = self._frame() + words
        return QSize(min(width, px(self._limit)) if self._limit else width, px(24))

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        return QSize(min(self.sizeHint().width(), self._theme.px(72)), self._theme.px(24))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Pill, icon, words, chevron."""
        px, color = self._theme.px, self._theme.color
        painter = QPainter(self)
        box = QRectF(self.rect())
        rounded(painter, box, box.height() / 2, color(self._fill()), color("line"))
        ink = "ink2" if self.isEnabled() else "disabled"
        side, x = px(14), float(px(8))
        top = (box.height() - side) / 2
        if self._icon_name:
            draw_icon(painter, self._theme, self._icon_name, ink, (x, top, side))
            x += side + px(6)
        painter.setFont(self._theme.font("small_medium"))
        painter.setPen(color(ink))
        room = box.width() - self._frame()
        words = painter.fontMetrics().elidedText(
            self._words, Qt.TextElideMode.ElideRight, int(room) + 1
        )
        painter.drawText(
            QRectF(x, 0, room + 1, box.height()), Qt.AlignmentFlag.AlignVCenter, words
        )
        if self._chevron:
            at = (box.width() - px(8) - side, top, side)
            draw_icon(painter, self._theme, "chevron-down", ink, at)
        painter.end()

    def _frame(self) -> int:
        """Everything but the words, in px."""
        px = self._theme.px
        pictures = bool(self._icon_name) + self._chevron
        return 2 * px(8) + pictures * (px(14) + px(6)) + (0 if pictures == 2 else px(2))

    def _fill(self) -> str:
        if not self.isEnabled():
            return "raised"
        if self.isDown() or self.isChecked():
            return "selected"
        return "hover" if self.underMouse() else "raised"


class Badge(QWidget):
    """A state in a word: "amber" (small window), "red" (blocked), "teal" (stretched), "plain".

    `compact` shows the icon only; the word stays its accessible name and tooltip.
    """

    def __init__(
        self,
        text: str = "",
        kind: BadgeKind = "plain",
        icon: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self._compact = False
        self._shown_icon = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._on_theme_changed)
        self.set_state(text, kind, icon)

    @property
    def text(self) -> str:
        """Its word."""
        return self._text

    def set_state(self, text: str, kind: BadgeKind, icon: str | None = None) -> None:
        """Another word and colour. Without an `icon` the kind's own; "" for none."""
        self._text = text
        self._kind: BadgeKind = kind
        self._shown_icon = _BADGE_ICONS.get(kind, "") if icon is None else icon
        self.setAccessibleName(text)
        self._on_theme_changed()

    def set_compact(self, compact: bool) -> None:  # noqa: FBT001  # a setter as Qt's own
        """Show the icon alone, where it has one."""
        self._compact = compact
        self.setToolTip(self._text if compact else "")
        self._on_theme_changed()

    def sizeHint(self) -> QSize:
        """20 px high, as wide as its word and icon."""
        px = self._theme.px
        if self._compact and self._shown_icon:
            return QSize(px(24), px(20))
        words = QFontMetrics(self._theme.font("tiny_medium")).horizontalAdvance(self._text)
        icon = px(12) + px(4) if self._shown_icon else 0
        return QSize(2 * px(8) + icon + words, px(20))

    def minimumSizeHint(self) -> QSize:
        """A badge is never cut."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Pill, icon, word."""
        px = self._theme.px
        ink, fill, line = _BADGE_COLORS[self._kind]
        painter = QPainter(self)
        box = QRectF(self.rect())
        rounded(painter, box, box.height() / 2, self._color(fill), self._color(line))
        side, x = px(12), float(px(8))
        if self._shown_icon:
            if self._compact:
                x = (box.width() - side) / 2
            draw_icon(
                painter, self._theme, self._shown_icon, ink, (x, (box.height() - side) / 2, side)
            )
            x += side + px(4)
        if not (self._compact and self._shown_icon):
            painter.setFont(self._theme.font("tiny_medium"))
            painter.setPen(self._color(ink))
            painter.drawText(box.adjusted(x, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._text)
        painter.end()

    def _color(self, token: str) -> QColor:
        return self._theme.color(token)

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()


class Tag(_Painted):
    """An exact value in code type, 22 px high; pressing it is the owner's to answer (copy)."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = text
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
        set_focus_ring(self, "outside", 4)

    def sizeHint(self) -> QSize:
        """Its value and 7 px on either side."""
        px = self._theme.px
        words = QFontMetrics(self._theme.font("chip")).horizontalAdvance(self._words)
        return QSize(words + 2 * px(8), px(22))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Box and value."""
        color = self._theme.color
        painter = QPainter(self)
        box = QRectF(self.rect())
        fill = "selected" if self.isDown() else "hover" if self.underMouse() else "sunken"
        rounded(painter, box, self._theme.px(4), color(fill), color("line"))
        painter.setFont(self._theme.font("chip"))
        painter.setPen(color("ink" if self.isEnabled() else "disabled"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._words)
        painter.end()
