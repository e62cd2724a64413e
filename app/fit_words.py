"""A draft that does not fit, in words: what it is, what can be done, how far it is. Qt-free."""

from app.client.fit_values import FitOffer
from app.client.values import Digesting, PartsWaiting
from app.words import translate
from engine.fitting import Part

_MINUTE = 60
_IN_MINUTES_FROM = 90


def title_words(offer: FitOffer) -> str:
    """What does not fit, with the figures."""
    size, room = f"{offer.tokens:,}", f"{offer.room:,}"
    if offer.index < 0:
        said = translate(
            "Fitting", "This message does not fit: {size} tokens, and there is room for {room}."
        )
        return said.format(size=size, room=room)
    said = translate(
        "Fitting", "{name} does not fit: {size} tokens, and there is room for {room}."
    )
    return said.format(name=offer.name, size=size, room=room)


def about_words(offer: FitOffer) -> str:
    """What is safe, and what to do."""
    if offer.can_pick or offer.digest_pieces or offer.part_count:
        return translate(
            "Fitting",
            "Choose how much of it the model should read. Nothing is left out unless you say so.",
        )
    return translate(
        "Fitting", "What stands beside it leaves no room. Remove something from the message."
    )


def digest_words(offer: FitOffer) -> str:
    """What the button says that has a digest written."""
    pieces = translate("Fitting", "Digest it in %n piece(s)", "", offer.digest_pieces)
    if not offer.digest_seconds:
        return pieces
    how = translate("Fitting", "{doing}, {time}")
    return how.format(doing=pieces, time=about_time(offer.digest_seconds))


def about_time(seconds: float) -> str:
    """About how long something takes."""
    if seconds < _IN_MINUTES_FROM:
        return translate("Fitting", "about %n s", "", max(1, round(seconds)))
    return translate("Fitting", "about %n min", "", round(seconds / _MINUTE))


def digesting_words(digest: Digesting) -> tuple[str, str]:
    """What is digested, and how far that is."""
    name = digest.name or translate("Fitting", "Your message")
    title = translate("Fitting", "Digesting {name}").format(name=name)
    match digest.doing:
        case "loading":
            doing = translate("Fitting", "loading the model")
        case "reading":
            doing = translate("Fitting", "reading {done} of {total} tokens")
        case "writing":
            doing = translate("Fitting", "writing, %n token(s)", "", digest.done)
        case _ if not digest.step:
            doing = translate("Fitting", "waiting for the model")
        case _:
            doing = translate("Fitting", "waiting to try again")
    said = [doing.format(done=f"{digest.done:,}", total=f"{digest.total:,}")]
    if digest.step:
        step = translate("Fitting", "step {step} of {steps}")
        said.insert(0, step.format(step=digest.step, steps=digest.steps))
    if digest.seconds_left:
        left = translate("Fitting", "{time} left")
        said.append(left.format(time=about_time(digest.seconds_left)))
    return title, " · ".join(said)


def digest_share(digest: Digesting) -> float:
    """How much of a digest is done, 0…1: each step is half reading, half writing."""
    if not digest.step or not digest.steps:
        return 0.0
    share = min(1.0, digest.done / digest.total) / 2 if digest.total else 0.0
    within = {"reading": share, "writing": 0.5 + share}.get(digest.doing, 0.0)
    return (digest.step - 1 + within) / digest.steps


def waiting_words(waiting: PartsWaiting) -> tuple[str, str]:
    """How many parts of a file were asked about, and which comes next."""
    said = translate("Fitting", "{name}: part {asked} of {total} was sent.")
    title = said.format(name=waiting.name, asked=waiting.asked, total=waiting.total)
    if waiting.next is None:
        return title, ""
    next_ = translate("Fitting", "Next: {part}, {size} tokens. The question stays the same.")
    size = f"{waiting.next.tokens:,}"
    return title, next_.format(part=part_words(waiting.next), size=size)


def part_words(part: Part) -> str:
    """What a part of a text is called: its heading, its page or its lines."""
    name = _place_words(part)
    if not part.pieces:
        return name
    piece = translate("Fitting", "{part} ({piece} of {pieces})")
    return piece.format(part=name, piece=part.piece, pieces=part.pieces)


def _place_words(part: Part) -> str:
    if part.kind == "heading":
        title = part.title or translate("Fitting", "Without a title")
        if not part.until:
            return title
        return translate("Fitting", "{first} … {last}").format(first=title, last=part.until)
    if part.kind == "page":
        if part.last_number > part.number:
            pages = translate("Fitting", "Pages {first} to {last}")
            return pages.format(first=part.number, last=part.last_number)
        return translate("Fitting", "Page {number}").format(number=part.number)
    if part.last_line > part.first_line:
        lines = translate("Fitting", "Lines {first} to {last}")
        return lines.format(first=f"{part.first_line:,}", last=f"{part.last_line:,}")
    return translate("Fitting", "Line {number}").format(number=f"{part.first_line:,}")


def chosen_words(chosen: int, parts: int, tokens: int, room: int) -> str:
    """How much is chosen of the parts, against the room."""
    said = translate("Fitting", "{chosen} of {parts} parts: {size} of {room} tokens")
    words = said.format(chosen=chosen, parts=f"{parts:,}", size=f"{tokens:,}", room=f"{room:,}")
    return with_excess(words, tokens, room)


def with_excess(words: str, tokens: int, room: int) -> str:
    """What is said of a size, with how much of it is too much for the room."""
    if tokens <= room:
        return words
    over = translate("Fitting", "{words}, {over} too many")
    return over.format(words=words, over=f"{tokens - room:,}")
