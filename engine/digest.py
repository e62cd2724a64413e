"""A digest of a text that does not fit: read in pieces of a window's size by one model.

::

    text ─▶ pieces ─▶ the staged summary (engine.compact), asked for in other words ─▶ digest

No conversation takes part, and nothing is stored. What no model could write is a fault: nothing
stands in for a digest.
"""

from dataclasses import dataclass

from engine.compact import CompactionPlan, SummaryTask, SummaryWishes, conversation_language
from engine.compact.summarise import Stages
from engine.compact.wording import digest_system_text, digest_text
from engine.compactor import Compactor, Progress, Writer
from engine.errors import EnvironmentFault
from engine.fitting import Part, plan_pieces
from engine.summaryjob import SummaryJob
from engine.tokens import SAFETY_MARGIN, estimate_text
from engine.transcript import Entry, user

_WORDS_TOKENS = 500
"""What a request has beside the piece and the digests, rather too much."""
_LARGEST_SHARE = 0.4
"""Of the window: a larger message would be left out of a summary as too large."""
_SMALLEST_PIECE = 256


@dataclass(frozen=True, slots=True)
class DigestPlan:
    """How a text is digested; tokens.

    Attributes:
        pieces: the text, each piece read in one request.
        cap_tokens: the most the digest may have.
        limit_tokens: a request and what is written stay under this.
    """

    pieces: tuple[Part, ...]
    cap_tokens: int
    limit_tokens: int

    @property
    def requests(self) -> int:
        """How many requests it takes if every one succeeds."""
        return plan_request_count(len(self.pieces))


def plan_piece_room(limit_tokens: int, cap_tokens: int) -> int:
    """Tokens (estimated) of a piece that is read in one request beside the digest so far."""
    others = 2 * cap_tokens + _WORDS_TOKENS
    room = min(limit_tokens * _LARGEST_SHARE, limit_tokens - others) / SAFETY_MARGIN
    return max(_SMALLEST_PIECE, int(room))


def plan_request_count(pieces: int) -> int:
    """Requests for so many pieces: many are digested in two halves, which are merged."""
    return pieces + (pieces >= Stages().min_messages)


def plan_digest(text: str, limit_tokens: int, cap_tokens: int) -> DigestPlan:
    """A text in pieces for a window of `limit_tokens`, for a digest of at most `cap_tokens`."""
    pieces = plan_pieces(text, plan_piece_room(limit_tokens, cap_tokens), estimate_text)
    return DigestPlan(pieces, cap_tokens, limit_tokens)


async def write_digest(
    writer: Writer, plan: DigestPlan, name: str, focus: str, progress: Progress
) -> str:
    """The digest of a file called `name`; `focus` is what it is wanted for, "" for everything.

    Cancelling ends it at once. Raises EnvironmentFault when the model could not write it.
    """

    def words(
        task: SummaryTask,
        job: SummaryJob,
        max_words: int,
        plain: bool,  # noqa: FBT001  # `Words`
    ) -> tuple[str, str]:
        text = digest_text(task, job.language, name, max_words=max_words, plain=plain)
        return digest_system_text(job.language), text

    written = await Compactor(writer, progress, words=words).summarise(_job(plan, focus))
    if written.way != "staged":  # pieces are left out, or it only stands in for a digest
        raise EnvironmentFault(
            "The model could not write a digest of this text.",
            "Choose parts of it, or try it with another model.",
        )
    return written.text


def _job(plan: DigestPlan, focus: str) -> SummaryJob:
    """The pieces as messages of a conversation that is nowhere."""
    bodies = [user(piece.text) for piece in plan.pieces]
    entries = [Entry(f"piece{i}", "", None, 0, body) for i, body in enumerate(bodies)]
    weights = [piece.tokens for piece in plan.pieces]
    count, size = len(entries), sum(weights)
    folding = CompactionPlan(
        first_kept="",
        entries=entries,
        weights=weights,
        whole=count,
        cut=count,
        previous=None,
        previous_entry="",
        split_turn=False,
        pinned=(),
        unpinned=(),
        before_tokens=size,
        predicted_tokens=plan.cap_tokens,
    )
    return SummaryJob(
        folding,
        (),
        cap_tokens=plan.cap_tokens,
        limit_tokens=plan.limit_tokens,
        chunk_overhead=0,
        language=conversation_language(bodies),
        wishes=SummaryWishes(focus=focus),
    )
