"""The steps of a set-up, which of them have to be done, and doing them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from steps import environment, llama, qt, sources, testing, translations
from steps.site import Site
from steps.work import SetUpFailed, Worker

Mode = Literal["run", "test"]
_NO_LLAMA = (
    "Porthole works with Ollama meanwhile. Once that is mended the same command goes on; "
    f"{llama.RETRY_VARIABLE}=1 makes it try again in any case."
)
_NO_QT = "Porthole works in the terminal meanwhile."
_NO_TRANSLATIONS = "The window speaks English meanwhile."
_NO_SCREEN = "The tests show the window on no screen meanwhile."


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; `done` is the stamp it leaves.

    A step that gives `failed` may fail: `failed()` is its stamp then, and it is tried again only
    when that changes, or with `retry`. `without` says how the rest works meanwhile. `lost` means
    that what an earlier run made is no longer there.
    """

    name: str
    title: str
    done: str
    act: Callable[[Site, Worker], None]
    failed: Callable[[], str] | None = None
    without: str = ""
    retry: bool = False
    lost: bool = False


def plan_steps(
    site: Site, mode: Mode, environ: Mapping[str, str], python: str, stamps: Mapping[str, str]
) -> list[Step]:
    """All steps after the environment, in order; `python` is the environment's version."""
    libraries = environment.libraries_key(site, python)
    steps = [
        Step("libraries", "Porthole's libraries", libraries, environment.install_libraries),
        *_plan_llama(site, mode, environ, python, stamps.get("llama", "")),
        Step(
            "qt",
            "Qt's system libraries",
            qt.qt_key(libraries),
            qt.provide_qt,
            failed=lambda: qt.qt_failure_key(libraries),
            without=_NO_QT,
        ),
        *_plan_translations(site, libraries),
    ]
    return steps + (_plan_test_steps(site, python) if mode == "test" else [])


def _plan_llama(
    site: Site, mode: Mode, environ: Mapping[str, str], python: str, stamp: str
) -> list[Step]:
    version = sources.pinned_version(site)
    step = Step(
        "llama",
        "llama.cpp, made for this machine",
        llama.plan_key(environ, version, python, stamp),
        lambda site, worker: llama.provide_llama(site, worker, for_tests=mode == "test"),
        failed=lambda: llama.failure_key(environ, version, python),
        without=_NO_LLAMA,
        retry=mode == "test" or bool(environ.get(llama.RETRY_VARIABLE)),
    )
    return [step] if version else []


def _plan_translations(site: Site, libraries: str) -> list[Step]:
    key = translations.translations_key(site, libraries)
    step = Step(
        "translations",
        "Translations",
        f"ok {key}",
        translations.compile_translations,
        failed=lambda: f"failed {key}",
        without=_NO_TRANSLATIONS,
        lost=translations.is_lost(site),
    )
    return [step] if translations.catalogues(site) else []


def _plan_test_steps(site: Site, python: str) -> list[Step]:
    models = sources.models_folder(site, sources.pinned_version(site))
    starter = testing.starter_file(site)
    tools = environment.tools_key(site, python)
    return [
        Step("tools", "Tools for the tests", tools, environment.install_tools),
        Step(
            "starter",
            "Starter model",
            testing.starter_key(site),
            testing.provide_starter,
            lost=not starter.is_file(),
        ),
        Step(
            "models",
            "llama.cpp's chat templates",
            str(models),
            sources.provide_models,
            lost=not models.is_dir(),
        ),
        Step(
            "screen",
            "A screen for the window's tests",
            "ok",
            testing.provide_screen,
            failed=testing.screen_failure_key,
            without=_NO_SCREEN,
            lost=not testing.has_screen(),
        ),
    ]


def is_pending(step: Step, stamp: str) -> bool:
    """Whether a step has to be done: not when it is done, nor when it would only fail again."""
    if stamp == step.done:
        return step.lost
    return step.retry or step.failed is None or stamp != step.failed()


def carry_out(steps: Sequence[Step], site: Site, worker: Worker) -> list[str]:
    """Do the steps in order; returns what has to be said about those that were left out.

    Raises SetUpFailed when a step fails that nothing works without.
    """
    notes = []
    for number, step in enumerate(steps, 1):
        worker.console.begin(f"[{number}/{len(steps)}] {step.title}")
        try:
            step.act(site, worker)
        except SetUpFailed as failure:
            if step.failed is None:
                raise
            worker.console.end("left out")
            notes.append(f"{failure}\n{step.without}")
            site.stamps.put(step.name, step.failed())
        else:
            worker.console.end()
            site.stamps.put(step.name, step.done)
    return notes


def all_done(steps: Iterable[Step], stamps: Mapping[str, str]) -> bool:
    """Whether every step is done, none left out."""
    return all(stamps.get(step.name) == step.done for step in steps)
