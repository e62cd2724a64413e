"""Which layout stands for which item."""

from app.items import CardItem, DayItem, Item, ReplyItem, UserItem
from app.transcript.ask import AskBox
from app.transcript.box import Box, Desk
from app.transcript.bubble import BubbleBox, EditBox
from app.transcript.card import CardBox
from app.transcript.day import DayBox
from app.transcript.reply import ReplyBox


def make_box(item: Item, desk: Desk) -> Box:
    """The layout for an item of any kind."""
    match item:
        case DayItem():
            return DayBox(item, desk)
        case UserItem():
            return EditBox(item, desk) if item.id == desk.editing else BubbleBox(item, desk)
        case ReplyItem():
            return ReplyBox(item, desk)
        case CardItem(kind="ask"):
            return AskBox(item, desk)
        case CardItem():
            return CardBox(item, desk)
