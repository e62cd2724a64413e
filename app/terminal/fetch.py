"""Fetches the starter model when it is wanted and not there, and says what it is."""

from app.terminal.console import Console, duration, megabytes
from app.wiring import Workplace


async def ensure_starter(workplace: Workplace, console: Console) -> None:
    """Have the starter model on the disk, fetching it with progress if need be.

    Raises DownloadFailed, with the alternatives, when it cannot be fetched.
    """
    from engine.starter import FetchProgress, fetch_starter

    if workplace.has_starter:
        return
    manifest = workplace.starter
    console.say(
        f"First use: fetching {manifest.title}, {megabytes(manifest.size_bytes)}, "
        f"{manifest.licence}. {manifest.note}"
    )
    for line in better_models(workplace):
        console.say(line)

    def on_progress(progress: FetchProgress) -> None:
        left = "" if progress.seconds_left is None else f", {duration(progress.seconds_left)} left"
        done, total = progress.done_bytes / 1e6, progress.total_bytes / 1e6
        console.progress("Fetching the starter model…", f"{done:.0f} of {total:.0f} MB{left}")

    workplace.paths.ensure()
    await fetch_starter(workplace.paths.models_dir, manifest, on_progress)
    console.clear_progress()


def better_models(workplace: Workplace) -> list[str]:
    """Models that fit this machine's memory and are better than the starter, as lines to print."""
    import psutil

    from engine.starter import suggest_models

    memory = psutil.virtual_memory().total
    names = [model.name for model in suggest_models(memory, workplace.starter)]
    if not names:
        return []
    listed = ", ".join(names)
    return [
        f"Better models for this machine ({megabytes(memory)} of memory), with Ollama: {listed}."
    ]
