"""``python -m engine.backends.llamacpp_worker``: serves one application over its pipes."""

import signal

from engine.backends.llamacpp_worker.link import Link, private_pipes
from engine.backends.llamacpp_worker.native import Interrupt
from engine.backends.llamacpp_worker.service import Service


def main() -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the application
    interrupt = Interrupt()
    link = Link(*private_pipes(), interrupt)
    link.start()
    Service(link, interrupt).run()
    link.close()


if __name__ == "__main__":
    main()
