"""llama.cpp: built for this machine, or taken ready-made, or left out with a reason.

As it comes llama-cpp-python compiles llama.cpp twice as long as needed: its own build forces parts
the Python package never loads. So llama.cpp is built by itself, trimmed, and its libraries are put
into the package's wheel. That wheel is kept: the next set-up, of any copy of Porthole on this
machine, installs it within seconds.
"""

import os
import re
import shlex
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steps.environment import PIP_QUIETLY, RUNNING, pip_install
from steps.site import Site, digest
from steps.sources import (
    BUILDING_ELSEWHERE,
    PACKAGE,
    drop_source,
    pinned_version,
    unpack_source,
)
from steps.system import (
    compiler_key,
    compilers,
    find_jobs,
    find_machine,
    install_packages,
    plan_command,
    processor_key,
)
from steps.wheel import add_libraries, libraries_of
from steps.work import CommandFailed, SetUpFailed, Worker, format_seconds

WHEELS_VARIABLE = "PORTHOLE_LLAMA_WHEELS"
RETRY_VARIABLE = "PORTHOLE_RETRY_LLAMA"

_TRIMMED = tuple(
    f"-DLLAMA_BUILD_{part}=OFF"
    for part in ("COMMON", "TESTS", "TOOLS", "EXAMPLES", "SERVER", "APP")
)
_RECIPE = (
    *_TRIMMED,
    "-DBUILD_SHARED_LIBS=ON",
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DGGML_CCACHE=OFF",
    # One file a library, found beside the others wherever the package lies.
    "-DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON",
    "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
)
_TOOLS = {"cmake": (3, 21), "ninja": (1, 10)}
_LOADS = "from llama_cpp import llama_cpp; print(llama_cpp.llama_print_system_info().decode())"


def plan_key(environ: Mapping[str, str], version: str, python: str, stamp: str) -> str:
    """The stamp of a set-up with llama.cpp as it is wanted now.

    Without PORTHOLE_LLAMA_WHEELS any llama.cpp will do, so what is there stays.
    """
    wanted = f"ok {version} python {python} "
    source = environ.get(WHEELS_VARIABLE, "")
    if not source and stamp.startswith(wanted):
        return stamp
    return f"{wanted}{source or 'built'}"


def failure_key(environ: Mapping[str, str], version: str, python: str) -> str:
    """The stamp of a set-up without llama.cpp; another one, and it is worth another try."""
    source = environ.get(WHEELS_VARIABLE, "")
    return f"failed {digest(version, python, source, compiler_key(), processor_key())}"


def provide_llama(site: Site, worker: Worker, *, for_tests: bool) -> None:
    """Put llama-cpp-python into the environment.

    Raises SetUpFailed with what is missing and what to do about it; the rest works without.
    """
    version = pinned_version(site)
    source = os.environ.get(WHEELS_VARIABLE, "")
    if source:
        _install_ready_made(site, worker, version, source)
    elif not _loads(site, worker, version):
        with worker.lock(site.cache / "llama.lock", BUILDING_ELSEWHERE):
            _install_built(site, worker, version, for_tests=for_tests)


def _install_ready_made(site: Site, worker: Worker, version: str, source: str) -> None:
    """Install the package's own prebuilt wheel from where the user says."""
    pip_install(
        site,
        worker,
        (
            *("--extra-index-url", source, f"--only-binary={PACKAGE}"),
            *("--no-deps", "--force-reinstall", f"{PACKAGE}=={version}"),
        ),
        what=f"There is no ready-made {PACKAGE} {version} for this machine at {source}.",
    )
    pip_install(site, worker, (f"{PACKAGE}=={version}",))  # what it needs
    if not _loads(site, worker, version):
        raise SetUpFailed(f"The ready-made {PACKAGE} of {source} does not run on this machine.")


def _install_built(site: Site, worker: Worker, version: str, *, for_tests: bool) -> None:
    """Install the wheel built on this machine, now or by an earlier set-up."""
    kept = site.cache / "wheels" / build_key(version)
    for wheel in kept.glob("*.whl"):
        if _install_wheel(site, worker, version, wheel):
            return
    wheel = build_wheel(site, worker, version, for_tests=for_tests)
    if not _install_wheel(site, worker, version, wheel):
        raise SetUpFailed("llama.cpp was built, but does not load on this machine.")


def _install_wheel(site: Site, worker: Worker, version: str, wheel: Path) -> bool:
    """Install a wheel of the cache; one that does not load is thrown away, and False returned."""
    if _is_installed(site, version):  # and broken: pip would leave it as it is
        pip_install(site, worker, ("--force-reinstall", "--no-deps", str(wheel)))
    pip_install(site, worker, (str(wheel),))
    if _loads(site, worker, version):
        return True
    wheel.unlink()
    return False


def build_key(version: str) -> str:
    """Names what is built: the version, how, and for which processor."""
    return digest(version, _RECIPE, os.environ.get("CMAKE_ARGS", ""), processor_key())


def _is_installed(site: Site, version: str) -> bool:
    name = f"{PACKAGE.replace('-', '_')}-{version}.dist-info"
    return any(site.venv.glob(f"lib/python*/site-packages/{name}"))


def _loads(site: Site, worker: Worker, version: str) -> bool:
    """Whether that very version is installed and its libraries load."""
    if not _is_installed(site, version):
        return False
    try:
        worker.run((site.python, "-c", _LOADS), failure="llama.cpp does not load.")
    except CommandFailed:
        return False
    return True


# ---- building -----------------------------------------------------------------------------------


def build_wheel(site: Site, worker: Worker, version: str, *, for_tests: bool) -> Path:
    """Build llama.cpp and keep the finished wheel in the cache; an interrupted build goes on."""
    _require_compiler(worker)
    environ = _provide_tools(site, worker)
    source = unpack_source(site, worker, version)
    build = site.cache / "build" / build_key(version)
    _configure(worker, source / "vendor" / "llama.cpp", build, environ)
    _compile(worker, build, environ)
    package = _wheel_without_libraries(site, worker, source, environ)
    kept = site.cache / "wheels" / build_key(version)
    kept.mkdir(parents=True, exist_ok=True)
    wheel = add_libraries(package, "llama_cpp/lib", libraries_of(build / "bin"), kept)
    shutil.rmtree(site.cache / "build", ignore_errors=True)
    drop_source(site, version, keep_models=for_tests)
    return wheel


def _require_compiler(worker: Worker) -> None:
    """Make sure there are a C and a C++ compiler; installs them as root on Debian and Ubuntu."""
    machine = find_machine()
    if len(compilers()) < 2 and machine.installs:
        install_packages(worker, "compiler")
    if len(compilers()) < 2:
        raise SetUpFailed(
            f"llama.cpp needs a C++ compiler to be built: {plan_command(machine, 'compiler')}"
        )


def _provide_tools(site: Site, worker: Worker) -> dict[str, str]:
    """The variables of a build that has CMake and Ninja: the machine's own if recent enough.

    Otherwise they come from the package index, into an environment of their own.
    """
    if all(_is_recent(worker, name) for name in _TOOLS):
        return {}
    folder = site.cache / "build" / f"tools-{RUNNING}"  # goes when the wheel is made
    if not (folder / "finished").exists():
        shutil.rmtree(folder, ignore_errors=True)
        worker.run((site.python, "-m", "venv", folder), failure="No place for the build tools.")
        worker.run(
            (
                *(folder / "bin" / "python", "-m", "pip", "install", *PIP_QUIETLY),
                *("cmake>=3.26,<5", "ninja>=1.11"),
            ),
            failure="CMake and Ninja could not be fetched.",
        )
        (folder / "finished").touch()
    return {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}


def _is_recent(worker: Worker, name: str) -> bool:
    try:
        said = worker.run((name, "--version"), failure=f"{name} does not run.")
    except CommandFailed:
        return False
    found = re.search(r"(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= _TOOLS[name]


def _configure(worker: Worker, source: Path, build: Path, environ: Mapping[str, str]) -> None:
    """Prepare the build folder; one left by another CMake or compiler is made anew."""
    rpath = "@loader_path" if os.uname().sysname == "Darwin" else "$ORIGIN"
    command: list[str | Path] = [
        *("cmake", "-G", "Ninja", "-S", str(source), "-B", str(build), *_RECIPE),
        *(f"-DCMAKE_INSTALL_RPATH={rpath}", *shlex.split(os.environ.get("CMAKE_ARGS", ""))),
    ]
    failure = "llama.cpp's build could not be prepared."
    try:
        worker.run(command, failure=failure, environ=environ)
    except CommandFailed:
        if not (build / "CMakeCache.txt").exists():
            raise
        shutil.rmtree(build)
        worker.run(command, failure=failure, environ=environ)


def _compile(worker: Worker, build: Path, environ: Mapping[str, str]) -> None:
    progress = BuildProgress(time.monotonic())

    def show(line: str) -> str:
        news = progress.read(line, time.monotonic())
        if news:
            worker.console.milestone(news)
        return progress.text

    worker.run(
        ("ninja", "-C", build, "-j", str(find_jobs())),
        failure="llama.cpp could not be built.",
        environ={**environ, "NINJA_STATUS": "[%f/%t] "},
        on_line=show,
    )


@dataclass(slots=True)
class BuildProgress:
    """Turns Ninja's lines into percent and time left. Seconds are those of any one clock."""

    started: float
    text: str = ""
    _next_percent: int = 10

    def read(self, line: str, now: float) -> str:
        """Take a line in; returns the text at every ten percent, else nothing."""
        found = re.match(r"\[(\d+)/(\d+)\] ", line)
        if not found:
            return ""
        done, total = int(found[1]), int(found[2])
        percent = 100 * done // total
        left = (now - self.started) * (total - done) / max(done, 1)
        self.text = f"{percent} % ({done} of {total}), {format_seconds(left)} left"
        if percent < self._next_percent:
            return ""
        self._next_percent = percent - percent % 10 + 10
        return self.text


def _wheel_without_libraries(
    site: Site, worker: Worker, source: Path, environ: Mapping[str, str]
) -> Path:
    """The Python package alone, by its own build system."""
    folder = site.cache / "build" / "package"
    shutil.rmtree(folder, ignore_errors=True)
    worker.run(
        (site.python, "-m", "pip", "wheel", *PIP_QUIETLY, "--no-deps", "-w", folder, source),
        failure=f"{PACKAGE} could not be packed.",
        environ={**environ, "CMAKE_ARGS": "-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF"},
    )
    return next(folder.glob("*.whl"))
