"""The few dialogs: all shortcuts, About, a link before it opens, a bug of ours.

All are modeless or sheets of their window, close with Esc, and delete themselves.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent, QTextOption
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.labels import Words, key_words, prose
from app.theme import theme_of
from app.theme.controls import Button, install_focus_ring
from app.theme.painting import draw_key_tag, hairline, rounded

if TYPE_CHECKING:
    from app.actions import Action
    from app.licences import Licence

_PADDING = 20


class Dialog(QDialog):
    """A dialog in the theme: a title in the book face, content, a row of buttons."""

    def __init__(self, title: str, parent: QWidget | None, width: int) -> None:
        super().__init__(parent)
        self._theme = theme_of()
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._width = width
        self.column = QVBoxLayout(self)
        self.column.addWidget(Words(title, "page", "ink", self))
        self.buttons = QHBoxLayout()
        self.buttons.addStretch(1)
        install_focus_ring(self)
        self._theme.changed.connect(self._renew)
        self._renew()

    def _renew(self) -> None:
        px = self._theme.px
        pad = px(_PADDING)
        self.column.setContentsMargins(pad, pad, pad, px(16))
        self.column.setSpacing(px(12))
        self.buttons.setSpacing(px(8))
        self.setMinimumWidth(px(self._width))
        self.update()

    def add_button(self, button: Button) -> Button:
        """Put a button at the right of the last row."""
        self.buttons.addWidget(button)
        return button

    def add_close(self, text: str) -> Button:
        """The button that closes it."""
        button = self.add_button(Button(text, "plain", "", self))
        button.clicked.connect(self.reject)
        return button

    def showEvent(self, event: QShowEvent) -> None:
        """Qt's: as high as its content needs at its width."""
        width = max(self._theme.px(self._width), self.minimumSizeHint().width())
        needed = self.column.totalHeightForWidth(width)
        self.resize(width, needed if needed > 0 else self.sizeHint().height())
        super().showEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the ground."""
        QPainter(self).fillRect(self.rect(), self._theme.color("paper"))


class Framed(QWidget):
    """A raised box with a border, around something to read, choose from or write in."""

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        if isinstance(content, QAbstractScrollArea):
            content.setFrameShape(QFrame.Shape.NoFrame)
            content.viewport().setAutoFillBackground(False)
        row = QVBoxLayout(self)
        pad = theme_of().px(6)
        row.setContentsMargins(pad, pad, pad, pad)
        row.addWidget(content)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: the box."""
        theme = theme_of()
        fill, line = theme.color("raised"), theme.color("control")
        rounded(QPainter(self), QRectF(self.rect()), theme.px(8), fill, line)


class ShortcutSheet(Dialog):
    """Every action that has a shortcut, by menu, in two columns."""

    def __init__(self, actions: Sequence["Action"], parent: QWidget | None = None) -> None:
        super().__init__(QApplication.translate("Dialogs", "Shortcuts"), parent, 680)
        self.setAccessibleName(self.windowTitle())
        menus: dict[str, list[Action]] = {}
        for action in actions:
            if action.shortcut:
                name = action.menu or self.tr("While writing")
                menus.setdefault(name, []).append(action)
        page = QWidget(self)
        columns = QHBoxLayout(page)
        columns.setContentsMargins(0, 0, 0, 0)
        columns.setSpacing(self._theme.px(32))
        for part in plan_columns({name: len(found) for name, found in menus.items()}):
            column = QVBoxLayout()
            column.setSpacing(0)
            for name in part:
                self._add_menu(column, name, menus[name], page)
            column.addStretch(1)
            columns.addLayout(column, 1)
        area = QScrollArea(self)
        area.setWidget(page)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.viewport().setAutoFillBackground(False)
        page.setAutoFillBackground(False)
        area.setAccessibleName(self.windowTitle())
        area.setMinimumHeight(min(self._theme.px(560), page.sizeHint().height()))
        self.column.addWidget(area, 1)
        self.column.addLayout(self.buttons)
        self.add_close(self.tr("Close")).setDefault(True)

    def _add_menu(
        self, column: QVBoxLayout, name: str, actions: Sequence["Action"], page: QWidget
    ) -> None:
        head = Words(name, "tiny_medium", "ink3", page)
        head.setContentsMargins(0, self._theme.px(12), 0, self._theme.px(4))
        column.addSpacing(self._theme.px(8))
        column.addWidget(head)
        for action in actions:
            column.addWidget(_ShortcutRow(action.text.rstrip("…"), action.shortcut, page))


def plan_columns(sizes: dict[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Menus in two columns of about the same height, in their order."""
    total, seen = sum(size + 1 for size in sizes.values()), 0
    left: list[str] = []
    for name, size in sizes.items():
        if left and seen + (size + 1) / 2 > total / 2:
            break
        left.append(name)
        seen += size + 1
    return tuple(left), tuple(name for name in sizes if name not in left)


class _ShortcutRow(QLabel):
    """What is done, and its key at the right."""

    def __init__(self, text: str, shortcut: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._keys = key_words(shortcut)
        self.setAccessibleName(f"{text}: {self._keys}")

    def sizeHint(self) -> QSize:
        return QSize(theme_of().px(240), theme_of().px(28))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = theme_of()
        painter = QPainter(self)
        painter.setFont(theme.font("interface"))
        painter.setPen(theme.color("ink"))
        room = self.rect()
        left = draw_key_tag(painter, theme, self._keys, room.right(), room.height() / 2)
        room.setRight(int(left) - theme.px(8))
        words = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)
        hairline(painter, 0, self.height() - 1, self.width(), theme.color("line"))


class AboutDialog(Dialog):
    """What this is, and the licences of its parts with their whole texts.

    Args:
        version: Porthole's.
        licences: its parts.
        parent: the window it belongs to.
    """

    def __init__(
        self, version: str, licences: Sequence["Licence"], parent: QWidget | None = None
    ) -> None:
        super().__init__(QApplication.translate("Dialogs", "Porthole"), parent, 760)
        self.setAccessibleName(self.tr("About Porthole"))
        self._licences = tuple(licences)
        about = self.tr(
            "Version {}. Chat with local models in small context windows, and see what the model "
            "sees. Everything stays on this computer."
        ).format(version)
        self.column.addWidget(Words(about, "interface", "ink2", self, wrap=True))
        self.column.addWidget(Words(self.tr("Made with"), "interface_bold", "ink", self))
        self.parts = QListWidget(self)
        self.parts.setAccessibleName(self.tr("Parts and licences"))
        self.parts.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.parts.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.parts.setSpacing(self._theme.px(2))
        self.parts.setFont(prose(self._theme.font("interface")))
        self.parts.addItems([_part_words(part) for part in self._licences])
        self.text = _reader(self.tr("Licence"), self)
        self.text.setMinimumHeight(self._theme.px(320))
        row = QHBoxLayout()
        row.addWidget(Framed(self.parts, self), 3)
        row.addWidget(Framed(self.text, self), 4)
        self.column.addLayout(row, 1)
        self.column.addLayout(self.buttons)
        self.add_close(self.tr("Close")).setDefault(True)
        self.parts.currentRowChanged.connect(self._show_part)
        self.parts.setCurrentRow(0)

    def _show_part(self, row: int) -> None:
        self.text.setPlainText(self._licences[row].text if row >= 0 else "")


def _part_words(part: "Licence") -> str:
    name = " ".join(word for word in (part.name, part.version) if word)
    return f"{name} · {part.kind}"


def _reader(name: str, parent: QWidget) -> QPlainTextEdit:
    """Text to read, select and copy."""
    text = QPlainTextEdit(parent)
    text.setReadOnly(True)
    text.setAccessibleName(name)
    text.setFont(theme_of().font("chip"))
    text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    text.setTabChangesFocus(True)
    return text


class LinkDialog(Dialog):
    """Shows where a link of a message really leads before it opens.

    Signals:
        confirmed(url): open it.
        copied(url): it was put into the clipboard instead.
    """

    confirmed = Signal(str)
    copied = Signal(str)

    def __init__(self, url: str, parent: QWidget | None = None) -> None:
        super().__init__(QApplication.translate("Dialogs", "Open this link?"), parent, 480)
        self.setAccessibleName(self.windowTitle())
        self._url = url
        said = self.tr("It leaves Porthole and opens in your browser. The model wrote the link.")
        self.column.addWidget(Words(said, "interface", "ink2", self, wrap=True))
        self.target = Words(url, "code", "ink", self, wrap=True)
        self.column.addWidget(self.target)
        self.column.addLayout(self.buttons)
        self.copy_button = self.add_button(Button(self.tr("Copy"), "quiet", "copy", self))
        self.cancel_button = self.add_close(self.tr("Cancel"))
        self.open_button = self.add_button(Button(self.tr("Open"), "primary", "", self))
        self.open_button.setDefault(True)
        self.open_button.clicked.connect(self._on_open)
        self.copy_button.clicked.connect(self._on_copy)
        self.cancel_button.setFocus()  # Enter from habit opens nothing

    def _on_open(self) -> None:
        self.accept()
        self.confirmed.emit(self._url)

    def _on_copy(self) -> None:
        QApplication.clipboard().setText(self._url)
        self.accept()
        self.copied.emit(self._url)


class CrashDialog(Dialog):
    """A bug of ours: what is safe, the report that was saved, a way on.

    Args:
        report: its whole text.
        path: where it was saved; None if that failed.
        parent: the window it belongs to.

    Signals:
        folder_requested(path): show the file in its folder.
        quit_requested(): end Porthole.
    """

    folder_requested = Signal(str)
    quit_requested = Signal()

    def __init__(self, report: str, path: Path | None, parent: QWidget | None = None) -> None:
        title = QApplication.translate("Dialogs", "Something in Porthole went wrong")
        super().__init__(title, parent, 600)
        self.setAccessibleName(title)
        self._path = path
        safe = self.tr(
            "Your conversations are saved. You can go on; if it acts strangely, quit and start "
            "Porthole again."
        )
        self.column.addWidget(Words(safe, "interface", "ink", self, wrap=True))
        self.where = Words(self._where_words(), "small", "ink2", self, wrap=True)
        self.column.addWidget(self.where)
        self.text = _reader(self.tr("Report"), self)
        self.text.setPlainText(report)
        self.text.setMinimumHeight(self._theme.px(220))
        self.column.addWidget(Framed(self.text, self), 1)
        self.column.addLayout(self.buttons)
        self.copy_button = self.add_button(Button(self.tr("Copy"), "quiet", "copy", self))
        self.folder_button = self.add_button(
            Button(self.tr("Show the file"), "plain", "folder", self)
        )
        self.quit_button = self.add_button(Button(self.tr("Quit"), "plain", "", self))
        self.go_on_button = self.add_button(Button(self.tr("Go on"), "primary", "", self))
        self.folder_button.setEnabled(path is not None)
        self.copy_button.clicked.connect(self._on_copy)
        self.folder_button.clicked.connect(self._on_folder)
        self.quit_button.clicked.connect(self._on_quit)
        self.go_on_button.clicked.connect(self.accept)
        self.go_on_button.setDefault(True)

    def _where_words(self) -> str:
        if self._path is None:
            return self.tr("The report below could not be saved. Nothing is sent anywhere.")
        said = self.tr(
            "The report was saved as {}. It is sent nowhere; look through it before you pass it on."
        )
        return said.format(self._path)

    def _on_copy(self) -> None:
        QApplication.clipboard().setText(self.text.toPlainText())
        self.copy_button.setText(self.tr("Copied"))

    def _on_folder(self) -> None:
        self.folder_requested.emit(str(self._path))

    def _on_quit(self) -> None:
        self.reject()
        self.quit_requested.emit()
