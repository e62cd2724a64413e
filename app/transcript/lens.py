"""The lens: a band behind every item, tinted by what the model sees of it.

Bands are painted under the items and never change a text's width: over each item a line is put
in, and the first message in view stays where it is.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from app.items import DayItem, Item
from app.lens_tint import paint_tint
from app.theme import Theme
from app.transcript.bands import Band, LensBook
from app.transcript.box import Box
from app.transcript.parts import draw_text, elided
from app.transcript.scroller import Anchor, Scroller

_HEAD_PX = 24
"""What stands over an item while the lens is on: its line, and room around it."""
_LINE_PX = 13
"""Where the middle of the line is, below the band's top."""
_LEFT_PX = 14
_INSET_PX = 9
_RIGHT_PX = 12
_GAP_PX = 4
_TINT_MS = 120


class Lensed(Scroller):
    """A scroller whose items can have bands.

    Signals:
        text_asked(item_id): a band was clicked or entered: what exactly goes to the model?
    """

    text_asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._lens: LensBook | None = None
        self._shade = QVariantAnimation(self)
        self._shade.setStartValue(0.0)
        self._shade.setEndValue(1.0)
        self._shade.valueChanged.connect(self._on_shade)
        self._pressed: tuple[int, QPointF] | None = None

    @property
    def lens(self) -> LensBook | None:
        """What is known of what the model sees; None while the lens is off."""
        return self._lens

    def set_lens(self, lens: LensBook | None) -> None:
        """Show bands by this, or none; the text that is read stays where it is."""
        before, self._lens = self._lens, lens
        if (before is None) == (lens is None):
            self.viewport().update()
            return
        self._shade.stop()
        duration = self._theme.duration(_TINT_MS) if self.isVisible() and lens is not None else 0
        if duration:
            self._shade.setDuration(duration)
            self._shade.start()
        self._lift_all(1 if lens is not None else -1)

    def band(self, index: int) -> Band | None:
        """The band behind an item; None without one."""
        return self._lens.band(self._model[index]) if self._lens is not None else None

    # -- geometry --------------------------------------------------------------------------

    def _lift_all(self, way: int) -> None:
        """Every item gets its line, or loses it; what is laid out stays so."""
        follows = self._follows
        held = self._held or self._choose_held()
        head = self._theme.px(_HEAD_PX)
        lifts = [0 if isinstance(item, DayItem) else way * head for item in self._model.items()]
        self._heights.reset(
            max(1, self._heights[index] + lift) for index, lift in enumerate(lifts)
        )
        if not lifts:
            return
        moved = lifts[min(held.index, len(lifts) - 1)]
        self._hang_on(Anchor(held.index, held.y - moved, held.run, held.position))
        self._held = None
        if follows:
            self.scroll_to_end()
        self.viewport().update()

    def _lift_of(self, item: Item) -> int:
        is_lifted = self._lens is not None and not isinstance(item, DayItem)
        return self._theme.px(_HEAD_PX) if is_lifted else 0

    def height_of(self, box: Box) -> int:
        """How high an item is, with what stands over it."""
        return super().height_of(box) + self._lift_of(box.item)

    def _guess(self) -> Callable[[Item], int]:
        guess = super()._guess()
        if self._lens is None:
            return guess
        return lambda item: guess(item) + self._lift_of(item)

    def item_rect(self, index: int) -> QRect:
        """Where an item in view stands in the viewport, without its band's line."""
        rect = super().item_rect(index)
        if rect.isEmpty() or index >= len(self._model):  # removed just now, not yet from view
            return rect
        return rect.adjusted(0, self._lift_of(self._model[index]), 0, 0)

    def show_span(self, index: int, top: float, bottom: float) -> None:
        """Bring these heights of an item into view; with its first line, its band's line too."""
        lift = self._lift_of(self._model[index])
        super().show_span(index, top + (lift if top > 0 else 0), bottom + lift)

    def band_rect(self, index: int) -> QRectF:
        """Where the band of an item in view is; empty without one."""
        rect = self.item_rect(index)
        if rect.isEmpty() or self.band(index) is None:
            return QRectF()
        px, inset = self._theme.px, self._boxes[index].inset
        left = inset - self._before_text(index)
        return QRectF(rect).adjusted(left, -px(_HEAD_PX), px(_RIGHT_PX), -px(_GAP_PX))

    def _before_text(self, index: int) -> int:
        """How far a band begins before its text; what is inset has a rule of its own there."""
        return self._theme.px(_INSET_PX if self._boxes[index].inset else _LEFT_PX)

    def band_at(self, point: QPointF) -> int:
        """The item whose band is under a point of the viewport, -1 for none."""
        if self._lens is None:
            return -1
        return next((i for i in self._visible if self.band_rect(i).contains(point)), -1)

    # -- painting --------------------------------------------------------------------------

    def paint_bands(self, painter: QPainter, exposed: QRect) -> None:
        """Paint the bands of what is in view, under everything else."""
        if self._lens is None:
            return
        shade = self._shade.currentValue() if self._is_shading() else 1.0
        for index in self._visible:
            area, band = self.band_rect(index), self.band(index)
            if band is None or not area.intersects(QRectF(exposed)):
                continue
            painter.setOpacity(float(shade))
            paint_tint(painter, area, band.tint, self._theme)
            self._paint_words(painter, area, area.left() + self._before_text(index), band)
        painter.setOpacity(1.0)

    def _on_shade(self, _share: float) -> None:
        self.viewport().update()

    def _is_shading(self) -> bool:
        return self._shade.state() == QVariantAnimation.State.Running

    def _paint_words(self, painter: QPainter, area: QRectF, left: float, band: Band) -> None:
        theme = self._theme
        room = area.right() - left - theme.px(_RIGHT_PX)
        middle = area.top() + theme.px(_LINE_PX)
        font = theme.font("tiny_medium")
        text = elided(band.state, font, room)
        end = draw_text(painter, QPointF(left, middle), text, font, theme.color("ink2"))
        if band.rest:
            rest = elided(f" · {band.rest}", theme.font("tiny"), room - (end - left))
            font = theme.font("tiny")
            draw_text(painter, QPointF(end, middle), rest, font, theme.color("ink3"))

    # -- asking for the text ---------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter on an item, while the lens is on, asks for its exact text; other keys are ignored."""
        index, part = self.focused_part()
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers()
        if self._lens is None or not is_enter or index < 0 or part >= 0:
            event.ignore()
            return
        self.text_asked.emit(self._model[index].id)

    def focused_part(self) -> tuple[int, int]:
        """Item and part that have the keyboard's focus; -1 for none."""
        return -1, -1

    def viewportEvent(self, event: QEvent) -> bool:
        """Qt's; a click on a band that selects nothing and uses no part asks for the text."""
        kind, asked = event.type(), -1
        if self._lens is not None and isinstance(event, QMouseEvent):
            if kind == QEvent.Type.MouseButtonPress:
                self._pressed = self._pressed_band(event)
            elif kind == QEvent.Type.MouseButtonDblClick:
                self._pressed = None
            elif kind == QEvent.Type.MouseButtonRelease:
                asked = self._clicked_band(event)
        done = super().viewportEvent(event)
        if 0 <= asked < len(self._model):
            self.text_asked.emit(self._model[asked].id)
        return done

    def _pressed_band(self, event: QMouseEvent) -> tuple[int, QPointF] | None:
        point = event.position()
        index = self.band_at(point)
        if event.button() != Qt.MouseButton.LeftButton or event.modifiers() or index < 0:
            return None
        inside = point - QPointF(self.item_rect(index).topLeft())
        return None if self.box(index).part_at(inside) is not None else (index, point)

    def _clicked_band(self, event: QMouseEvent) -> int:
        pressed, self._pressed = self._pressed, None
        if pressed is None:
            return -1
        way = (event.position() - pressed[1]).manhattanLength()
        same = self.band_at(event.position()) == pressed[0]
        return pressed[0] if same and way < QApplication.startDragDistance() else -1
