"""A conversation as a Markdown file: what was said, by whom, when. Pure."""

from collections.abc import Iterable
from datetime import datetime, tzinfo

from app.items import CardItem, DayItem, Item, ReplyItem, UserItem
from app.words import translate


def as_markdown(title: str, items: Iterable[Item], zone: tzinfo | None = None) -> str:
    """The items as one Markdown text; words of the model and the user stay as they are."""
    parts = [f"# {_one_line(title)}"] if title else []
    for item in items:
        match item:
            case DayItem(when_ms=when):
                parts.append(f"*{_moment(when, zone):%Y-%m-%d}*")
            case UserItem(when_ms=when):
                parts.append(_said(translate("Client", "You"), _user_text(item), when, zone))
            case ReplyItem(text=text, when_ms=when) if text or item.error:
                parts.append(_reply(item, zone))
            case CardItem(title=head, body=body):
                words = [f"**{_one_line(head)}**" if head else "", _one_line(item.facts)]
                said = " ".join(word for word in words if word)
                parts += [f"> {said}" if said else "", body]
            case _:
                pass
    return "\n\n".join(part for part in parts if part) + "\n"


def _user_text(item: UserItem) -> str:
    """What was said, and a line for each picture, which no Markdown file holds."""
    image = translate("Client", "Image")
    names = [f"{image}: {x.name}" if x.name else image for x in item.images]
    return "\n\n".join([item.text, *(f"*[{_one_line(name)}]*" for name in names)]).strip()


def _reply(item: ReplyItem, zone: tzinfo | None) -> str:
    who = item.model or translate("Client", "Model")
    text = item.text
    if item.error:
        text = "\n\n".join(x for x in (text, f"> {_one_line(item.error)}") if x)
    return _said(who, text, item.when_ms, zone)


def _said(who: str, text: str, when_ms: int, zone: tzinfo | None) -> str:
    return f"**{_one_line(who)}** · {_moment(when_ms, zone):%H:%M}\n\n{text.strip()}"


def _moment(when_ms: int, zone: tzinfo | None) -> datetime:
    try:
        return datetime.fromtimestamp(when_ms / 1000, zone)
    except (OverflowError, OSError, ValueError):  # a time no calendar has
        return datetime.fromtimestamp(0, zone)


def _one_line(text: str) -> str:
    return " ".join(text.split())
