"""What kind of machine this is, and what its package manager calls the things we need."""

import os
import platform
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from steps.work import CommandFailed, Worker

Family = Literal["debian", "fedora", "macos", "other"]
Need = Literal["compiler", "qt", "screen"]

PACKAGES: dict[Need, dict[Family, str]] = {
    "compiler": {"debian": "g++", "fedora": "gcc-c++"},
    "qt": {
        "debian": "libegl1 libgl1 libfontconfig1 libfreetype6 libglib2.0-0 libdbus-1-3 libx11-6 "
        "libx11-xcb1 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
        "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-render0 libxcb-shape0 "
        "libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1 fonts-dejavu-core",
        "fedora": "mesa-libEGL mesa-libGL fontconfig freetype glib2 dbus-libs libX11 libX11-xcb "
        "libxkbcommon libxkbcommon-x11 libxcb xcb-util-cursor xcb-util-image xcb-util-keysyms "
        "xcb-util-renderutil xcb-util-wm dejavu-sans-fonts",
    },
    "screen": {"debian": "xvfb", "fedora": "xorg-x11-server-Xvfb"},
}
"""The packages of each need; a need that a family lacks has no package there."""

_ISA_FLAG = re.compile(
    r"(mmx|sse|ssse|avx|amx|fma|f16c|bmi|adx|aes|vaes|pclmul|vpclmul|sha|gfni|popcnt|movbe|abm|"
    r"lzcnt|cx16|lahf|rdrnd|rdseed|xsave|prfchw|asimd|neon|sve|sme|fp|crc32|atomics|dotprod|i8mm|"
    r"bf16|rva|rv64)"
)


@dataclass(frozen=True, slots=True)
class Machine:
    """The package manager's family, and whether this run may install with it by itself."""

    family: Family
    is_root: bool

    @property
    def installs(self) -> bool:
        """Whether this run installs system packages by itself: root on Debian and Ubuntu."""
        return self.is_root and self.family == "debian"


def find_machine() -> Machine:
    """This machine."""
    family: Family
    if sys.platform == "darwin":
        family = "macos"
    elif shutil.which("apt-get"):
        family = "debian"
    else:
        family = "fedora" if shutil.which("dnf") else "other"
    return Machine(family, os.geteuid() == 0)


def plan_command(machine: Machine, need: Need) -> str:
    """The command a person types to get what is needed; a description where it is not known."""
    packages = PACKAGES[need].get(machine.family)
    if machine.family == "macos" and need != "screen":
        return "xcode-select --install"
    if packages is None:
        return {
            "compiler": "install a C++ compiler with your package manager",
            "qt": "install the libraries of Qt's xcb platform with your package manager",
            "screen": "install Xvfb with your package manager",
        }[need]
    manager = "apt-get install -y" if machine.family == "debian" else "dnf install -y"
    return f"{'' if machine.is_root else 'sudo '}{manager} {packages}"


def install_packages(worker: Worker, need: Need) -> None:
    """Install what is needed with apt-get, as root. Raises CommandFailed."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    packages = PACKAGES[need]["debian"].split()
    for arguments in (
        ("update",),
        ("install", "-y", "--no-install-recommends", *packages),
    ):
        worker.run(
            ("apt-get", *arguments),
            failure="apt-get failed.",
            environ=quiet,
            on_line=lambda line: line if line.startswith(("Get:", "Setting up")) else "",
        )


def compilers() -> tuple[str, ...]:
    """The C and the C++ compiler of this machine, as paths; fewer than two when one is missing."""
    if sys.platform == "darwin" and not _has_mac_tools():
        return ()  # /usr/bin/cc is there all the same, and only opens a dialog
    found = (
        next(filter(None, map(shutil.which, filter(None, names))), None)
        for names in (
            (os.environ.get("CC"), "cc", "gcc", "clang"),
            (os.environ.get("CXX"), "c++", "g++", "clang++"),
        )
    )
    return tuple(path for path in found if path)


def _has_mac_tools() -> bool:
    places = ("/Library/Developer/CommandLineTools", "/Applications/Xcode.app/Contents/Developer")
    return any(os.path.isdir(place) for place in places)


def compiler_key() -> list[str]:
    """Changes when a compiler appears, goes away or is replaced."""
    return [f"{os.path.realpath(path)} {os.stat(path).st_mtime_ns}" for path in compilers()]


def processor_key() -> list[str]:
    """What code tuned to this machine depends on: the instructions the processor has, and libc.

    Only the names of instruction sets count: other flags come and go with kernel updates.
    """
    libc = " ".join(platform.libc_ver())
    return [platform.machine(), sys.platform, libc, *processor_features(_cpu_description())]


def processor_features(description: str) -> list[str]:
    """The instruction sets in a /proc/cpuinfo; any other description as it is."""
    for line in description.splitlines():
        name, _, flags = line.partition(":")
        if name.strip().lower() in ("flags", "features", "isa"):
            return sorted({flag for flag in flags.split() if _ISA_FLAG.match(flag)})
    return [description.strip()]


def _cpu_description() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return os.popen("sysctl -n machdep.cpu.brand_string 2>/dev/null").read()


def plan_jobs(cores: int, memory_bytes: int) -> int:
    """How many compilers to run at once: one a core, each with 1.5 GB of memory at hand."""
    return max(1, min(cores, memory_bytes // 1_500_000_000))


def find_jobs() -> int:
    """How many compilers this machine can run at once; a container's memory limit counts."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        memory = min(memory, int(limit))
    except (OSError, ValueError):  # no control groups, or no limit ("max")
        pass
    return plan_jobs(cores, memory)


def offline(error: CommandFailed) -> bool:
    """Whether pip failed because the package index could not be reached."""
    words = error.said.lower()
    signs = ("connection", "name resolution", "unreachable", "timed out", "proxyerror")
    return any(sign in words for sign in signs)
