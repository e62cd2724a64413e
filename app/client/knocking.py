"""Whether anything listens on this machine, before what speaks to it is loaded: that costs memory.

Where nobody runs a server, the window never needs the transport: half a second and 25 MB.
"""

import asyncio
from contextlib import suppress

from engine.backends.ollama_address import parse_address
from engine.backends.ollama_faults import unreachable


async def require_listener(place: str) -> None:
    """Raise BackendUnreachable when `place` is on this machine and nothing listens there.

    Places elsewhere are not asked: a proxy may stand between.
    """
    address = parse_address(place)
    if not address.loopback:
        return
    for host in address.hosts:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, address.port)
            writer.close()
            return
    raise unreachable(str(address))
