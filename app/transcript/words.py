"""What the transcript says about its items: every sentence and figure, translated."""

from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale

from app.items import CardItem, DayItem, Item, Receipt, ReplyItem, UserItem
from app.words import joined
from engine.transcript import Image


def number(value: int) -> str:
    """A whole number in the locale's manner."""
    return QLocale().toString(value)


def duration(seconds: float) -> str:
    """A measured length of time, short: "9.4 s", "2 min 5 s"."""
    if seconds < 60:
        figure = QLocale().toString(float(seconds), "f", 1)
        return QCoreApplication.translate("Transcript", "{0} s").format(figure)
    return roughly(seconds)


def roughly(seconds: float) -> str:
    """A length of time in whole seconds, at least one: "4 s", "2 min 5 s"."""
    whole = max(1, round(seconds))
    if whole < 60:
        return QCoreApplication.translate("Transcript", "{0} s").format(whole)
    minutes, rest = divmod(whole, 60)
    return QCoreApplication.translate("Transcript", "{0} min {1} s").format(minutes, rest)


def clock(when_ms: int) -> str:
    """The time of day, as the locale writes it."""
    when = QDateTime.fromMSecsSinceEpoch(when_ms)
    return QLocale().toString(when.time(), QLocale.FormatType.ShortFormat)


def day(when_ms: int, today: date) -> str:
    """A day as a heading: "Today", "Yesterday", or the date."""
    when = QDateTime.fromMSecsSinceEpoch(when_ms).date()
    ago = when.daysTo(QDate(today.year, today.month, today.day))
    if ago == 0:
        return QCoreApplication.translate("Transcript", "Today")
    if ago == 1:
        return QCoreApplication.translate("Transcript", "Yesterday")
    shape = QCoreApplication.translate(
        "Transcript", "long", "a day as a heading: dddd d MMMM yyyy, or long, as the locale has it"
    )
    if shape == "long":
        return QLocale().toString(when, QLocale.FormatType.LongFormat)
    return QLocale().toString(when, shape)


def now() -> date:
    """The day it is here."""
    return datetime.now().astimezone().date()


def length_of(text: str) -> str:
    """How long a text is, in words; a Han, kana or Hangul character counts as one."""
    han = sum(1 for letter in text if "\u2e80" <= letter <= "\ud7ff")
    latin = "".join(" " if "\u2e80" <= letter <= "\ud7ff" else letter for letter in text)
    words = han + len(latin.split())
    return QCoreApplication.translate("Transcript", "{0} words").format(number(words))


def thought(item: ReplyItem) -> str:
    """The line over folded thinking: how long it took, how long it is."""
    length = length_of(item.thinking)
    if item.state == "thinking":
        parts = [QCoreApplication.translate("Transcript", "Thinking"), speed(item), length]
    elif item.thought_seconds > 0:
        source = QCoreApplication.translate("Transcript", "Thought for {0}")
        parts = [source.format(roughly(item.thought_seconds)), length]
    else:
        parts = [QCoreApplication.translate("Transcript", "Thought"), length]
    return " · ".join(part for part in parts if part)


def speed(item: ReplyItem) -> str:
    """How fast the model writes, empty while that is not known."""
    if item.speed <= 0:
        return ""
    source = QCoreApplication.translate("Transcript", "{0} tokens a second")
    shown = QLocale().toString(float(item.speed), "f", 0 if item.speed >= 10 else 1)
    return source.format(shown)


def receipt(item: Receipt, seconds: float) -> str:
    """What was sent, what was read, what room is left, how long it took."""
    sent = QCoreApplication.translate("Transcript", "sent {0}")
    if item.sent_kind != "exact":
        sent = QCoreApplication.translate("Transcript", "sent about {0}")
    parts = [sent.format(number(item.sent))]
    if item.read or item.reused:
        read = QCoreApplication.translate("Transcript", "read {0}")
        parts.append(read.format(number(item.read)))
    if item.reused:
        reused = QCoreApplication.translate("Transcript", "{0} remembered")
        parts.append(reused.format(number(item.reused)))
    if item.room is not None:
        room = QCoreApplication.translate("Transcript", "room {0}")
        parts.append(room.format(number(item.room)))
    if seconds > 0:
        parts.append(duration(seconds))
    return " · ".join(parts)


def state_title(item: ReplyItem) -> str:
    """What a running reply does, in two or three words."""
    match item.state:
        case "loading":
            return QCoreApplication.translate("Transcript", "Loading the model")
        case "reading":
            return QCoreApplication.translate("Transcript", "Reading the prompt")
        case "thinking":
            return QCoreApplication.translate("Transcript", "Thinking")
        case "writing":
            return QCoreApplication.translate("Transcript", "Writing")
        case _ if item.waits_for:
            return QCoreApplication.translate("Transcript", "Waiting for another chat")
    return QCoreApplication.translate("Transcript", "Waiting for the model")


def state_figures(item: ReplyItem) -> str:
    """How far a running reply is: per cent, or tokens of tokens, or tokens a second."""
    if item.state == "loading" and item.total:
        return QCoreApplication.translate("Transcript", "{0} %").format(item.done)
    if item.state == "reading" and item.total:
        return f"{number(item.done)} / {number(item.total)}"
    if item.state == "waiting" and item.waits_for:
        return item.waits_for
    return speed(item) if item.state in ("thinking", "writing") else ""


def state_left(item: ReplyItem) -> str:
    """About how long it will take still, empty when that is not known."""
    if item.state not in ("loading", "reading") or item.seconds_left <= 0:
        return ""
    about = QCoreApplication.translate("Transcript", "about {0}")
    return about.format(roughly(item.seconds_left))


def state_note(item: ReplyItem) -> str:
    """One more line under the bar: how much of the prompt is remembered."""
    if item.state != "reading" or not item.reused:
        return ""
    source = QCoreApplication.translate("Transcript", "{0} tokens are remembered from before.")
    return source.format(number(item.reused))


def ending(item: ReplyItem) -> str:
    """How a reply ended when it did not end well, empty otherwise."""
    saved = QCoreApplication.translate("Transcript", "This much is saved.") if item.text else ""
    match item.state:
        case "stopped":
            how = QCoreApplication.translate("Transcript", "Stopped.")
        case "cut":
            how = QCoreApplication.translate("Transcript", "Cut short at its limit.")
        case "interrupted":
            how = QCoreApplication.translate("Transcript", "Interrupted: the program ended.")
        case "failed" if item.text:
            how = QCoreApplication.translate("Transcript", "Cut short.")
        case _:
            return ""
    return joined(how, saved)


def show_all(item: UserItem) -> str:
    """The words that unfold a long message."""
    if item.tokens:
        source = QCoreApplication.translate("Transcript", "Show all, {0} tokens")
        return source.format(number(item.tokens))
    return QCoreApplication.translate("Transcript", "Show all")


def picture(image: Image) -> str:
    """What a screen reader says for a picture."""
    if not image.name:
        return QCoreApplication.translate("Transcript", "Image")
    return QCoreApplication.translate("Transcript", "Image {0}").format(image.name)


def not_shown() -> str:
    """That the model gets no pictures."""
    return QCoreApplication.translate("Transcript", "Not shown to this model")


def role_of(item: Item) -> str:
    """Who speaks, for a screen reader."""
    match item:
        case UserItem():
            return QCoreApplication.translate("Transcript", "You")
        case ReplyItem():
            return item.model or QCoreApplication.translate("Transcript", "Reply")
        case DayItem():
            return QCoreApplication.translate("Transcript", "Day")
        case CardItem():
            return QCoreApplication.translate("Transcript", "Note")


def spoken(item: Item) -> str:
    """What a screen reader says for an item: who, what, and in which state."""
    match item:
        case DayItem():
            return day(item.when_ms, now())
        case UserItem():
            text = ". ".join([*filter(None, [item.text]), *map(picture, item.images)])
        case ReplyItem() if item.is_running and not item.text:
            text = " ".join(part for part in (state_title(item), state_figures(item)) if part)
        case ReplyItem():
            odd = item.receipt.mismatch if item.receipt is not None else ""
            text = " ".join(part for part in (item.text, ending(item), item.error, odd) if part)
        case CardItem():
            text = ". ".join(part for part in (item.title, item.facts, item.body) if part)
    return f"{role_of(item)}: {text}"


def completed(item: ReplyItem) -> str:
    """The announcement that a reply is there."""
    source = QCoreApplication.translate("Transcript", "Reply complete: {0}")
    return source.format(item.text[:400] or ending(item) or item.error)
