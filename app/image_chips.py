"""The pictures that go along with the message, as chips over the text; what the model makes of them."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.attachments import Close
from app.labels import Words
from app.meter import figure
from app.pictures import Pictures, draw_rounded, fitted, size_of
from app.theme import theme_of
from app.theme.controls import Button
from app.theme.painting import rounded
from app.typed import AttachedImage
from engine.tokens import IMAGE_TOKENS

_CHIP_PX = 52
_GAP_PX = 6
_THUMB_PX = 36
_PADDING_PX = 8
_CLOSE_PX = 20
_WIDEST_PX = 360
_NARROWEST_PX = 168
_LINE_PX = 17
_WARNING_PX = 32
_BELOW_PX = 4


class ImageChip(QWidget):
    """One picture: small, with its name, what it is, and a cross.

    Signals:
        removed(): the cross was pressed.
    """

    removed = Signal()

    def __init__(self, attached: AttachedImage, pictures: Pictures, parent: QWidget) -> None:
        super().__init__(parent)
        self.attached = attached
        self._pictures = pictures
        self._is_sent = True
        self._close = Close(self)
        self._close.setAccessibleName(self.tr("Remove {name}").format(name=self.name()))
        self._close.setToolTip(self._close.accessibleName())
        self._close.clicked.connect(self.removed)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        pictures.ready.connect(self.update)
        self.set_sent(is_sent=True)

    def name(self) -> str:
        """What it is called."""
        return self.attached.image.name or self.tr("Image")

    def facts(self) -> str:
        """What there is to know of it, in one line."""
        if not self._is_sent:
            return self.tr("Will not be sent")
        image, was = self.attached.image, self.attached.was
        size = f"{figure(image.width)} × {figure(image.height)}"
        if was is not None:
            before = f"{figure(was[0])} × {figure(was[1])}"
            return self.tr("Made smaller: {before} → {now}").format(before=before, now=size)
        if self.attached.frames > 1:
            said = self.tr("{size} · the first of {count} pictures")
            return said.format(size=size, count=figure(self.attached.frames))
        return self._with_tokens(size)

    def _with_tokens(self, size: str) -> str:
        said = self.tr("{size} · about {tokens} tokens")
        return said.format(size=size, tokens=figure(IMAGE_TOKENS))

    def set_sent(self, *, is_sent: bool) -> None:
        """Whether the model gets it."""
        self._is_sent = is_sent
        said = self.tr("Image {name}, {facts}").format(name=self.name(), facts=self.facts())
        self.setAccessibleName(said)
        size = f"{figure(self.attached.image.width)} × {figure(self.attached.image.height)}"
        self.setToolTip(f"{self.name()}\n{self._with_tokens(size)}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Its words beside the picture, within bounds."""
        theme = theme_of()
        name = QFontMetrics(theme.font("chip")).horizontalAdvance(self.name())
        facts = QFontMetrics(theme.font("small")).horizontalAdvance(self.facts())
        rest = theme.px(3 * _PADDING_PX + _THUMB_PX + _CLOSE_PX + 4)
        width = min(max(name, facts) + rest + 2, theme.px(_WIDEST_PX))
        return QSize(max(width, theme.px(_NARROWEST_PX)), theme.px(_CHIP_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's; the cross stays at the end."""
        px = theme_of().px
        side, gap = px(_CLOSE_PX), px(4)
        place = QRect(self.width() - side - gap, (self.height() - side) // 2, side, side)
        self._close.setGeometry(self._placed(place))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; paints the chip, in amber where it is not sent."""
        theme, painter = theme_of(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill, line = ("sunken", "line") if self._is_sent else ("amber_bg", "amber_line")
        rounded(painter, QRectF(self.rect()), theme.px(8), theme.color(fill), theme.color(line))
        pad, side = theme.px(_PADDING_PX), theme.px(_THUMB_PX)
        thumb = self._placed(QRect(pad, (self.height() - side) // 2, side, side))
        self._paint_thumb(painter, QRectF(thumb))
        left = 2 * pad + side
        room = self.width() - left - theme.px(_CLOSE_PX + 8)
        top = self.height() // 2 - theme.px(_LINE_PX)
        self._paint_line(painter, QRect(left, top, room, theme.px(_LINE_PX)), is_name=True)
        below = QRect(left, self.height() // 2 + 1, room, theme.px(_LINE_PX))
        self._paint_line(painter, below, is_name=False)
        painter.end()

    def _paint_line(self, painter: QPainter, room: QRect, *, is_name: bool) -> None:
        theme = theme_of()
        font = theme.font("chip" if is_name else "small")
        ink = "ink" if is_name else "ink3" if self._is_sent else "amber"
        mode = Qt.TextElideMode.ElideMiddle if is_name else Qt.TextElideMode.ElideRight
        text = self.name() if is_name else self.facts()
        painter.setFont(font)
        painter.setPen(theme.color(ink))
        shown = QFontMetrics(font).elidedText(text, mode, room.width())
        painter.drawText(self._placed(room), Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_thumb(self, painter: QPainter, place: QRectF) -> None:
        theme, dpr = theme_of(), self.devicePixelRatioF()
        rounded(painter, place, theme.px(4), theme.color("raised"), theme.color("line"))
        whole, side = size_of(self.attached.image), round(place.width() * dpr)
        least = max(1, min(whole.width(), whole.height()))
        most = QSize(whole.width() * side // least, whole.height() * side // least)
        pixmap = self._pictures.pixmap(self.attached.image, fitted(whole, most))
        if pixmap is not None and not pixmap.isNull():
            draw_rounded(painter, pixmap, place.adjusted(1, 1, -1, -1), theme.px(3))

    def _placed(self, rect: QRect) -> QRect:
        """A rectangle where it belongs in the direction of the interface."""
        if self.layoutDirection() != Qt.LayoutDirection.RightToLeft:
            return rect
        return QRect(QPoint(self.width() - rect.right() - 1, rect.top()), rect.size())


class ImageRow(QWidget):
    """The chips in as many lines as they need, and a line for a model that sees none.

    Signals:
        changed(): there are other pictures, or they mean something else to the model.
        removed(): one was taken away by its cross.
        model_requested(): another model is wanted.
    """

    changed = Signal()
    removed = Signal()
    model_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._chips: list[ImageChip] = []
        self._sees: bool | None = None
        self._pictures = Pictures(self)
        words = self.tr(
            "This model cannot see images. Choose a model that can, or only the text is sent."
        )
        self._warning = Words(words, "small", "amber", self)
        self._choose = Button(self.tr("Choose a model…"), "quiet", "", self)
        self._choose.clicked.connect(self.model_requested)
        self.setAccessibleName(self.tr("Images that go along"))
        self._renew()

    @property
    def chips(self) -> tuple[ImageChip, ...]:
        """The chips in order."""
        return tuple(self._chips)

    @property
    def images(self) -> tuple[AttachedImage, ...]:
        """The pictures in order."""
        return tuple(chip.attached for chip in self._chips)

    @property
    def warning(self) -> str:
        """What is said of the model, "" for nothing."""
        return self._warning.text() if self._is_blind() else ""

    def set_images(self, images: Sequence[AttachedImage]) -> None:
        """Show these pictures."""
        if tuple(images) == self.images:
            return
        for old in self._chips:
            old.hide()
            old.deleteLater()
        self._chips = [ImageChip(attached, self._pictures, self) for attached in images]
        for chip in self._chips:
            chip.removed.connect(self._on_removed)
            chip.show()
        self._renew()

    def add(self, attached: AttachedImage) -> None:
        """Add a picture; the same one is there only once."""
        if all(one.image.data != attached.image.data for one in self.images):
            self.set_images((*self.images, attached))

    def take(self) -> tuple[AttachedImage, ...]:
        """The pictures, which are sent now: none are left."""
        images = self.images
        self.set_images(())
        return images

    def set_sight(self, sees: bool | None) -> None:  # noqa: FBT001  # three-valued
        """Whether the model sees pictures; None while that is not known."""
        if sees is not self._sees:
            self._sees = sees
            self._renew()

    def refusal(self, *, has_words: bool) -> str:
        """Why these pictures cannot be sent as they are, a sentence; "" when they can be."""
        if has_words or not self._is_blind():
            return ""
        return self.tr(
            "This model cannot see images, and there is no text to send. Write something, or "
            "choose a model that can see them."
        )

    def height_for(self, width: int) -> int:
        """Place everything in `width` px; the height it takes, space below included."""
        px = theme_of().px
        x = y = 0
        for chip in self._chips:
            size = chip.sizeHint()
            if x and x + size.width() > width:
                x, y = 0, y + px(_CHIP_PX + _GAP_PX)
            wide = min(size.width(), width)
            chip.setGeometry(self._mirrored(QRect(x, y, wide, size.height()), width))
            x += size.width() + px(_GAP_PX)
        y += px(_CHIP_PX + _GAP_PX) if self._chips else 0
        y += self._place_warning(y, width)
        return y + px(_BELOW_PX) if self._chips else y

    def _place_warning(self, y: int, width: int) -> int:
        if not self._is_blind():
            return 0
        height, button = theme_of().px(_WARNING_PX), self._choose.sizeHint()
        room = min(self._warning.sizeHint().width(), width - button.width() - theme_of().px(8))
        self._warning.setGeometry(self._mirrored(QRect(0, y, room, height), width))
        left, top = room + theme_of().px(8), y + (height - button.height()) // 2
        place = QRect(left, top, button.width(), button.height())
        self._choose.setGeometry(self._mirrored(place, width))
        return height

    def _mirrored(self, rect: QRect, width: int) -> QRect:
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            rect.moveLeft(width - rect.left() - rect.width())
        return rect

    def _is_blind(self) -> bool:
        return bool(self._chips) and self._sees is False

    def _renew(self) -> None:
        is_blind = self._is_blind()
        for chip in self._chips:
            chip.set_sent(is_sent=not is_blind)
        self._warning.setVisible(is_blind)
        self._choose.setVisible(is_blind)
        self.setVisible(bool(self._chips))
        self.changed.emit()

    def _on_removed(self) -> None:
        sender = self.sender()
        if isinstance(sender, ImageChip) and sender in self._chips:
            self.set_images([chip.attached for chip in self._chips if chip is not sender])
            self.removed.emit()
