"""Icons: drawings of resources/icons in the colour, size and scale that is asked for."""

import logging
from functools import cache

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from engine.paths import resources_dir

_log = logging.getLogger(__name__)
_APP_SIZES = (16, 20, 24, 32, 48, 64, 128, 256)
_SMALL_APP = 20  # up to here the heavier ring without rivets


def icon_names() -> tuple[str, ...]:
    """The names `draw` knows, sorted."""
    return tuple(sorted(path.stem for path in (resources_dir() / "icons").glob("*.svg")))


def draw(name: str, color: str, size: int, dpr: float) -> QPixmap:
    """The icon in `color` ("#RRGGBB"), `size` logical px square, sharp at the ratio `dpr`.

    An unknown name gives an empty picture and a warning in the log.
    """
    from PySide6.QtSvg import QSvgRenderer  # late: the window's ground needs no icon

    side = max(1, round(size * dpr))
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    source = _source(name)
    if source:
        painter = QPainter(pixmap)
        QSvgRenderer(QByteArray(source.replace("currentColor", color).encode())).render(painter)
        painter.end()
    pixmap.setDevicePixelRatio(dpr)
    return pixmap


def app_icon() -> QIcon:
    """The application's icon in every size that systems ask for."""
    icon = QIcon()
    for size in _APP_SIZES:
        name = "app-icon-16" if size <= _SMALL_APP else "app-icon"
        icon.addPixmap(draw(name, "", size, 1.0))
    return icon


@cache
def _source(name: str) -> str:
    try:
        return (resources_dir() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    except OSError:
        _log.warning("there is no icon named %r", name)
        return ""
