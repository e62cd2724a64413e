"""What can be done with an item: the words, icon and look of every action."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF

from app.items import Versions
from app.transcript.box import Box, Desk, Label
from app.transcript.parts import Look, Part, height_of, row, width_of

_ICONS = {
    "copy": "copy",
    "edit": "edit",
    "regenerate": "retry",
    "retry": "retry",
    "pin": "pin",
    "more": "more",
    "delete": "trash",
    "edit_summary": "edit",
    "undo_compaction": "undo",
    "redo_focus": "redo",
    "restore_compaction": "redo",
    "branch": "branch",
}


def words_of(action: str) -> str:
    """The name of an action, as it stands on its button or is spoken."""
    match action:
        case "copy":
            return QCoreApplication.translate("Transcript", "Copy")
        case "edit":
            return QCoreApplication.translate("Transcript", "Edit")
        case "regenerate":
            return QCoreApplication.translate("Transcript", "Answer again")
        case "more":
            return QCoreApplication.translate("Transcript", "More")
        case "delete":
            return QCoreApplication.translate("Transcript", "Delete")
        case "pin":
            return QCoreApplication.translate("Transcript", "Pin")
        case "branch":
            return QCoreApplication.translate("Transcript", "Branch from here")
    return _words_of_cures(action)


def _words_of_cures(action: str) -> str:
    match action:
        case "retry":
            return QCoreApplication.translate("Transcript", "Try again")
        case "models":
            return QCoreApplication.translate("Transcript", "Larger window…")
        case "new_chat":
            return QCoreApplication.translate("Transcript", "New chat")
        case "use_model":
            return QCoreApplication.translate("Transcript", "Use another model")
        case "continue":
            return QCoreApplication.translate("Transcript", "Continue")
        case "stop":
            return QCoreApplication.translate("Transcript", "Stop")
        case "details":
            return QCoreApplication.translate("Transcript", "Details")
        case "toggle_why":
            return QCoreApplication.translate("Transcript", "Why?")
        case "window_truth":
            return QCoreApplication.translate("Transcript", "Show the window…")
    return _words_of_folding(action) or _words_of_compactions(action)


def _words_of_folding(action: str) -> str:
    match action:
        case "compact_now":
            return QCoreApplication.translate("Transcript", "Compact now")
        case "compact_with_focus":
            return QCoreApplication.translate("Transcript", "With a focus…")
        case "not_now":
            return QCoreApplication.translate("Transcript", "Not now")
        case "always":
            return QCoreApplication.translate("Transcript", "Always do it and tell me")
    return ""


def _words_of_compactions(action: str) -> str:
    match action:
        case "edit_summary":
            return QCoreApplication.translate("Transcript", "Edit")
        case "undo_compaction":
            return QCoreApplication.translate("Transcript", "Undo")
        case "redo_focus":
            return QCoreApplication.translate("Transcript", "Redo with a focus…")
        case "restore_compaction":
            return QCoreApplication.translate("Transcript", "Redo")
        case "show_originals":
            return QCoreApplication.translate("Transcript", "Show originals")
        case "hide_originals":
            return QCoreApplication.translate("Transcript", "Hide originals")
    return action


def action_parts(kind: str, item_id: str, desk: Desk) -> list[Part]:
    """The shy icons of a message, not placed yet."""
    return [
        Part(QRectF(), words_of(action), action, "icon", icon=_ICONS.get(action, "more"), shy=True)
        for action in desk.offers.get(kind, ())
    ]


def button_parts(kind: str, offers: Sequence[str]) -> list[Part]:
    """The buttons of a card, not placed yet. The first cure of an error is the primary one."""
    found = []
    for at, action in enumerate(offers):
        look: Look = "plain"
        if at == 0 and kind in ("error", "failed"):
            look = "primary"
        elif action in ("copy", "details"):
            look = "quiet"
        text = words_of(action)
        if action == "more":
            found.append(Part(QRectF(), text, action, "icon", icon="more"))
            continue
        icon = "" if look == "quiet" else _ICONS.get(action, "")
        found.append(Part(QRectF(), text, action, look, text=text, icon=icon))
    return found


def place_icons(box: Box, kind: str, right: float, top: float) -> float:
    """Put a message's shy icons so that they end at `right`; returns where they begin."""
    parts = action_parts(kind, box.item.id, box.desk)
    left = right - sum(width_of(part, box.theme) for part in parts)
    box.parts += row(parts, left, top, box.theme, gap=0)
    return left


def place_pin(box: Box, right: float, top: float) -> float:
    """Put the pin of a message that stays word for word so that it ends at `right`; never shy."""
    name = QCoreApplication.translate("Transcript", "Pinned: never folded. Unpin")
    part = Part(QRectF(), name, "unpin", "icon", icon="pin", tone="m_pins")
    left = right - width_of(part, box.theme)
    box.parts += row([part], left, top, box.theme)
    return left


def place_versions(box: Box, versions: Versions, right: float, top: float) -> float:
    """Put "‹ 2/3 ›" so that it ends at `right`; returns where it begins. Never shy."""
    text = f"{versions.number}/{versions.of}"
    earlier = QCoreApplication.translate("Transcript", "Earlier version")
    later = QCoreApplication.translate("Transcript", "Later version")
    after = Part(QRectF(), later, "later", "icon", icon="chevron-right")
    before = Part(QRectF(), earlier, "earlier", "icon", icon="chevron-left")
    side = width_of(after, box.theme)
    wide = box.metrics("small").horizontalAdvance(text)
    left = right - 2 * side - wide
    if versions.earlier:
        box.parts += row([before], left, top, box.theme)
    if versions.later:
        box.parts += row([after], right - side, top, box.theme)
    middle = top + height_of(after, box.theme) / 2
    box.labels.append(Label(QPointF(left + side, middle), text, "small", "ink2"))
    return left
