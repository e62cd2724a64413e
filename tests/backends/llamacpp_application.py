"""An application that is in the middle of a reply: prints its worker's process id and goes on.

``python -m tests.backends.llamacpp_application MODEL``; a test kills it.
"""

import asyncio
import sys
from pathlib import Path

from engine.backends.base import TextChunk
from engine.backends.llamacpp import LlamaCppBackend
from tests.backends.llamacpp_talk import TALE, request_to


async def main() -> None:
    backend = LlamaCppBackend()
    told = False
    async for chunk in backend.stream(request_to(Path(sys.argv[1]), TALE, max_tokens=1500)):
        if isinstance(chunk, TextChunk) and not told:
            told = True
            sys.stdout.write(f"{backend.worker_pid}\n")
            sys.stdout.flush()


asyncio.run(main())
