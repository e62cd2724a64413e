"""The layout of one item: texts, labels, pictures and parts at their places."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from app.items import Item
from app.labels import prose
from app.pictures import Pictures
from app.theme import Role, Theme
from app.transcript.parts import Part, PartState, draw_text, elided, paint_part, snapped
from app.transcript.run import Mark, Run

ERROR_OFFER = ("retry", "use_model")
_INSET = 0.3
_BEYOND = 120  # px at most that a label, a picture or a ring of focus reaches beyond its place
OFFERS: dict[str, tuple[str, ...]] = {
    "user": ("copy", "edit", "more"),
    "reply": ("copy", "regenerate", "more"),
    "compaction": ("copy",),
    "compacting": ("stop",),
    "error": ERROR_OFFER,
    "failed": ERROR_OFFER,
    "why": ("window_truth",),
    "local": (),
}
"""Which actions stand at what kind of item; a window changes this with `TranscriptView.offer`."""


@dataclass(slots=True)
class Desk:
    """What all layouts share: the theme, the parent of their documents, what is unfolded.

    `opened` holds for an item's id the names of what is unfolded in it; `built` counts the
    documents made, for tests and figures. `titles` are the models' names for people, by label;
    `kept` is what is made once for one theme. `is_blind`: the model sees no pictures.
    """

    theme: Theme
    owner: QObject
    opened: dict[str, set[str]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    offers: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(OFFERS))
    built: int = 0
    kept: dict[str, object] = field(default_factory=dict)
    editing: str = ""
    editor_height: int = 0
    is_blind: bool = False
    pictures: Pictures = field(init=False)

    def __post_init__(self) -> None:
        self.pictures = Pictures(self.owner)

    def is_open(self, item_id: str, what: str) -> bool:
        """Whether a part of an item is unfolded."""
        return what in self.opened.get(item_id, ())

    def toggle(self, item_id: str, what: str) -> None:
        """Unfold what is folded, fold what is open."""
        kept = self.opened.setdefault(item_id, set())
        kept.symmetric_difference_update({what})

    def rename(self, before: str, after: str) -> None:
        """An item got another id: what was unfolded stays so, and what is edited."""
        if self.editing and self.editing == before:
            self.editing = after
        if before != after and before in self.opened:
            self.opened[after] = self.opened.pop(before)


@dataclass(frozen=True, slots=True)
class Label:
    """A line of painted text: where its middle begins, what, and how. Shy as a part is."""

    place: QPointF
    text: str
    role: Role
    color: str
    shy: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A painted icon: its upper left, name, side in px and colour."""

    place: QPointF
    icon: str
    size: int
    color: str


@dataclass(slots=True)
class Scene:
    """What painting one item needs to know just now. `exposed` is in the item's coordinates."""

    theme: Theme
    exposed: QRectF
    marks: Callable[[int], Sequence[Mark]]
    state: Callable[[Part], PartState]
    is_active: bool = False


class Box:
    """One item laid out in a column; coordinates begin at the item's upper left.

    `height` is in whole px and includes the gap to the next item. `changed_from` is the height
    from which the last `update` made a difference, None for everywhere.
    """

    def __init__(self, item: Item, desk: Desk) -> None:
        self.item = item
        self.desk = desk
        self.width = 0
        self.height = 0
        self.runs: list[Run] = []
        self.parts: list[Part] = []
        self.labels: list[Label] = []
        self.pictures: list[Picture] = []
        self.changed_from: float | None = None

    @property
    def theme(self) -> Theme:
        """The theme all is measured by."""
        return self.desk.theme

    def px(self, value: float) -> int:
        """A size in px at the present zoom."""
        return self.desk.theme.px(value)

    def metrics(self, role: Role) -> QFontMetricsF:
        """The metrics of a role's font."""
        return QFontMetricsF(self.desk.theme.font(role))

    def lay_out(self, width: int) -> None:
        """Place everything in a column `width` px wide."""
        self.width = width
        self.parts, self.labels, self.pictures = [], [], []
        inset = self.inset
        self.height = max(1, round(self.arrange(width - inset)))
        if inset:
            self._shift(QPointF(inset, 0))

    @property
    def inset(self) -> int:
        """How far it stands to the right, px: originals of a compaction are inset by 30 %."""
        return round(self.width * _INSET) if self.item.folded else 0

    def _shift(self, by: QPointF) -> None:
        for run in self.runs:
            run.origin += by
        self.parts = [part.moved(by) for part in self.parts]
        self.labels = [replace(label, place=label.place + by) for label in self.labels]
        self.pictures = [replace(one, place=one.place + by) for one in self.pictures]

    def arrange(self, width: int) -> float:
        """Place everything, and say how high it is with the gap below."""
        raise NotImplementedError

    def update(self, item: Item) -> None:
        """Take the item as it is now and lay it out again."""
        self.item = item
        self.changed_from = None
        self.refill()
        self.lay_out(self.width)

    def refill(self) -> None:
        """Bring the documents up to the item; called when the item changed."""

    def drop(self) -> None:
        """Let the documents go; the box is not used again."""
        for run in self.runs:
            run.drop()
        self.runs = []

    def code_text(self, _index: int) -> str:
        """The source of a block of code of the item."""
        return ""

    # -- helpers for arranging -------------------------------------------------------------

    def add_label(self, place: QPointF, text: str, look: tuple[Role, str], width: float) -> float:
        """Put a line of text, elided to `width`; returns where it ends."""
        font: QFont = self.desk.theme.font(look[0])
        if look[0] == "interface_bold":  # words, not figures
            font = prose(font)
        shown = elided(text, font, width)
        self.labels.append(Label(place, shown, look[0], look[1]))
        return place.x() + QFontMetricsF(font).horizontalAdvance(shown)

    def add_picture(self, place: QPointF, icon: str, size: int, color: str) -> None:
        """Put an icon with the middle of its left edge at `place`; `size` at zoom 1."""
        side = self.px(size)
        self.pictures.append(Picture(QPointF(place.x(), place.y() - side / 2), icon, side, color))

    # -- painting --------------------------------------------------------------------------

    def paint(self, painter: QPainter, scene: Scene) -> None:
        """Paint what lies in the exposed rectangle."""
        if self.inset:
            self._paint_inset(painter, scene)
        else:
            self.paint_ground(painter, scene)
        dpr = painter.device().devicePixelRatio()
        near = scene.exposed.adjusted(0, -_BEYOND, 0, _BEYOND)
        for picture in self.pictures:
            if not near.top() <= picture.place.y() <= near.bottom():
                continue
            pixmap = scene.theme.pixmap(picture.icon, picture.color, picture.size, dpr)
            painter.drawPixmap(snapped(picture.place, dpr), pixmap)
        for label in self.labels:
            is_seen = near.top() <= label.place.y() <= near.bottom()
            if is_seen and (not label.shy or scene.is_active):
                font, color = scene.theme.font(label.role), scene.theme.color(label.color)
                font = prose(font) if label.role == "interface_bold" else font
                draw_text(painter, label.place, label.text, font, color)
        for index, run in enumerate(self.runs):
            run.paint(painter, scene.exposed, scene.theme, scene.marks(index))
        for part in self.parts:
            if part.reaches(near) and (not part.shy or scene.is_active):
                paint_part(painter, part, scene.theme, scene.state(part))

    def _paint_inset(self, painter: QPainter, scene: Scene) -> None:
        """The rule of a compaction's original, and its ground where it stands."""
        rule = QRectF(self.inset - self.px(16), 0, self.px(2), self.height)
        painter.fillRect(rule, scene.theme.color("plum"))
        painter.save()
        painter.translate(self.inset, 0)
        exposed = scene.exposed.translated(-self.inset, 0)
        self.paint_ground(painter, replace(scene, exposed=exposed))
        painter.restore()

    def paint_ground(self, painter: QPainter, scene: Scene) -> None:
        """Paint what lies under text and parts."""

    # -- places ----------------------------------------------------------------------------

    def part_at(self, point: QPointF) -> Part | None:
        """The part under a point, the last painted first."""
        for part in reversed(self.parts):
            if part.contains(point):
                return part
        return None

    def run_at(self, point: QPointF) -> int:
        """The index of the text nearest to a point, -1 when there is none."""
        best, nearest = -1, 0.0
        for index, run in enumerate(self.runs):
            rect = run.rect
            away = max(rect.top() - point.y(), point.y() - rect.bottom(), 0.0)
            if best < 0 or away < nearest:
                best, nearest = index, away
        return best
