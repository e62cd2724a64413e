"""The two commands: what their set-up plans, and a whole set-up of a small project."""

import base64
import csv
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
sys.path.insert(0, str(PACKAGING))

from steps import environment, llama, site, system, testing, wheel, work  # noqa: E402  # path set above
from steps.plan import Step, all_done, is_pending  # noqa: E402  # path set above

CPUINFO = """\
processor\t: 0
model name\t: Some CPU
flags\t\t: fpu sse2 avx2 ibpb retbleed fma bmi2 md_clear
"""


# ---- the entry points ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["packaging/run", "packaging/test", ".ci/run"])
def test_entry_point_can_be_run(name):
    """Each is executable and a correct script of the plain shell."""
    assert os.access(ROOT / name, os.X_OK)
    assert (ROOT / name).read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n", ROOT / name], check=True)
    subprocess.run(["sh", "-n", PACKAGING / "start.sh"], check=True)


def test_set_up_names_no_index():
    """The user's package index settings hold: no address stands in the set-up."""
    texts = [path.read_text(encoding="utf-8") for path in PACKAGING.rglob("*") if path.is_file()
             and path.suffix in ("", ".sh", ".py")]  # fmt: skip
    assert texts
    assert not [text for text in texts if "://" in text]


def test_unusable_python_is_refused():
    """A chosen Python that is none: one sentence on stderr, exit code 3."""
    done = subprocess.run(
        [PACKAGING / "run"], env={**os.environ, "PYTHON": "/nowhere/python"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("PYTHON=/nowhere/python is not a Python 3.11")
    assert done.stderr.count("\n") == 1


# ---- plans --------------------------------------------------------------------------------------


def step(**changes) -> Step:
    return Step("x", "X", "done", lambda _site, _worker: None, **changes)


def test_finished_step_is_not_done_twice():
    """The stamp of a finished step is enough, unless what it made is gone."""
    assert not is_pending(step(), "done")
    assert is_pending(step(lost=True), "done")
    assert is_pending(step(), "done for something else")


def test_failed_step_waits_for_a_change():
    """What would only fail again is left alone until something changes, or the user asks."""
    failing = step(failed=lambda: "failed here")
    assert not is_pending(failing, "failed here")
    assert is_pending(failing, "failed elsewhere")
    assert is_pending(step(failed=lambda: "failed here", retry=True), "failed here")


def test_set_up_with_a_part_left_out_is_not_complete():
    """Only a set-up in which every step is done may be skipped by the shell."""
    assert all_done([step()], {"x": "done"})
    assert not all_done([step(failed=lambda: "failed")], {"x": "failed"})


def test_llama_that_is_there_stays():
    """Ready-made wheels, once chosen, are kept by a set-up that does not choose again."""
    url = {"PORTHOLE_LLAMA_WHEELS": "URL"}
    chosen = llama.plan_key(url, "1.0", "3.11.7", "")
    assert llama.plan_key({}, "1.0", "3.11.7", chosen) == chosen
    assert llama.plan_key({}, "1.1", "3.11.7", chosen) != chosen
    assert llama.plan_key(url, "1.0", "3.11.7", "ok 1.0 python 3.11.7 built") == chosen


def test_build_tells_percent_and_time_left():
    """A line at every ten percent, the time from the mean so far; other output is no progress."""
    progress = llama.BuildProgress(started=100.0)
    said = [progress.read(f"[{done}/80] Building x.o", 100.0 + done) for done in range(1, 81)]
    assert progress.read("warning: something", 200.0) == ""
    assert [text for text in said if text][:2] == ["10 % (8 of 80), 1 min 12 s left",
                                                   "20 % (16 of 80), 1 min 04 s left"]  # fmt: skip
    assert len([text for text in said if text]) == 10
    assert progress.text == "100 % (80 of 80), 0 s left"


@given(st.integers(1, 256), st.integers(0, 2**42))
def test_compilers_leave_memory(cores, memory):
    """At least one compiler at once, never more than cores, never more than memory for each."""
    jobs = system.plan_jobs(cores, memory)
    assert 1 <= jobs <= cores
    assert jobs == 1 or jobs * 1_500_000_000 <= memory


@pytest.mark.parametrize(
    ("family", "is_root", "command"),
    [
        ("debian", True, "apt-get install -y g++"),
        ("debian", False, "sudo apt-get install -y g++"),
        ("fedora", False, "sudo dnf install -y gcc-c++"),
        ("macos", False, "xcode-select --install"),
    ],
)
def test_missing_compiler_is_told_with_the_command(family, is_root, command):
    """Each system gets the command to type."""
    assert system.plan_command(system.Machine(family, is_root), "compiler") == command


@pytest.mark.parametrize(
    ("family", "command"),
    [
        ("debian", "apt-get install -y xvfb"),
        ("fedora", "dnf install -y xorg-x11-server-Xvfb"),
        ("macos", "install Xvfb with your package manager"),
    ],
)
def test_missing_screen_is_told_with_the_command(family, command):
    """A screen for the tests is asked for by its package."""
    assert system.plan_command(system.Machine(family, is_root=True), "screen") == command


def test_screen_is_installed_only_where_that_is_allowed(monkeypatch, tmp_path):
    """Nobody may install: told as left out, tried again once there is one; then nothing is done."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(work.SetUpFailed, match="There is no Xvfb: "):
        testing.provide_screen(None, None)
    left_out = testing.screen_failure_key()
    shutil.copy(sys.executable, tmp_path / "Xvfb")
    assert testing.screen_failure_key() != left_out
    testing.provide_screen(None, None)


def test_only_root_on_debian_installs_by_itself():
    """Elsewhere the user types the command."""
    able = [(family, root) for family in ("debian", "fedora", "macos", "other")
            for root in (True, False) if system.Machine(family, root).installs]  # fmt: skip
    assert able == [("debian", True)]


def test_processor_is_known_by_its_instructions():
    """Flags that come and go with kernel updates do not make a kept build useless."""
    assert system.processor_features(CPUINFO) == ["avx2", "bmi2", "fma", "fpu", "sse2"]
    assert system.processor_features("Apple M4\n") == ["Apple M4"]


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({"HOME": "/h"}, "linux", "/h/.cache/porthole"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "linux", "/c/porthole"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "relative"}, "linux", "/h/.cache/porthole"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/porthole"),
    ],
)
def test_cache_lies_where_the_platform_wants_it(environ, platform, folder):
    """The same folder that the application uses."""
    assert site.cache_folder(environ, platform) == Path(folder)


def test_cache_that_cannot_be_written_moves_into_the_environment(tmp_path):
    """A home that is a file, or none: the set-up still has a cache."""
    (tmp_path / "home").touch()
    found = site.find_site(tmp_path / "root", {"HOME": str(tmp_path / "home")}, "linux")
    assert found.cache == tmp_path / "root" / ".venv" / "porthole" / "cache"
    assert found.cache.is_dir()


def test_damaged_stamps_count_as_none(tmp_path):
    """A stamp file that cannot be read means that everything is checked again."""
    stamps = site.Stamps(tmp_path / "stamps.json")
    stamps.put("a", "1")
    stamps.put("b", "2")
    assert stamps.read() == {"a": "1", "b": "2"}
    stamps.path.write_text("{", encoding="utf-8")
    assert stamps.read() == {}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Collecting platformdirs>=4.3 (from porthole==0.1.0)", "looking for platformdirs"),
        ("  Downloading pyside6_essentials-6.11.3-cp310-abi3-manylinux.whl (95.0 MB)",
         "downloading pyside6_essentials (95.0 MB)"),
        ("Installing collected packages: a, b, c", "installing 3 packages"),
        ("Requirement already satisfied: a", ""),
    ],
)  # fmt: skip
def test_pip_progress_is_shortened(line, shown):
    """A line of pip becomes a word on the terminal."""
    assert environment.shorten_pip_line(line) == shown


def test_half_installed_packages_are_swept(tmp_path):
    """Records that pip did not finish are removed, so that it installs those packages again."""
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name, record in {
        "whole": "whole-1.dist-info/INSTALLER,sha256=x,4\n",
        "cut": "cut/__init__.py,sha256=x,0\n",  # the wheel's own list, not yet pip's
        "bare": None,
    }.items():
        (packages / f"{name}-1.dist-info").mkdir(parents=True)
        if record:
            (packages / f"{name}-1.dist-info" / "RECORD").write_text(record, encoding="utf-8")
    (packages / "~hole").mkdir()
    assert environment.sweep_half_installed(tmp_path) == ["bare-1", "cut-1"]
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


def test_libraries_become_part_of_the_wheel(tmp_path):
    """The new wheel lists every file with its right hash and keeps its metadata last."""
    built = tmp_path / "bin"
    built.mkdir()
    (built / "liba.so").write_bytes(b"\x7fELF a")
    (built / "libb.dylib").write_bytes(b"b")
    (built / "tool").touch()
    old = tmp_path / "p-1-py3-none-any.whl"
    with zipfile.ZipFile(old, "w") as archive:
        archive.writestr("p-1.dist-info/METADATA", "Name: p\n")
        archive.writestr("p-1.dist-info/RECORD", "")
        archive.writestr("p/__init__.py", "x = 1\n")
    (tmp_path / "kept").mkdir()
    new = wheel.add_libraries(old, "p/lib", wheel.libraries_of(built), tmp_path / "kept")
    with zipfile.ZipFile(new) as archive:
        assert archive.namelist() == ["p/__init__.py", "p/lib/liba.so", "p/lib/libb.dylib",
                                      "p-1.dist-info/METADATA", "p-1.dist-info/RECORD"]  # fmt: skip
        listed = list(csv.reader(archive.read("p-1.dist-info/RECORD").decode().splitlines()))
        for name, digest, size in listed[:-1]:
            content = archive.read(name)
            right = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            assert (digest, int(size)) == (f"sha256={right.rstrip('=')}", len(content))
        assert listed[-1] == ["p-1.dist-info/RECORD", "", ""]
    assert list((tmp_path / "kept").iterdir()) == [new]


def test_durations_are_told_in_minutes_and_seconds():
    """What people read in progress lines."""
    assert [work.format_seconds(value) for value in (0.4, 7, 59.6, 185)] == [
        "0 s", "7 s", "1 min 00 s", "3 min 05 s",
    ]  # fmt: skip


def test_failed_program_is_reported_with_its_last_words(tmp_path):
    """The sentence, the end of what was said, and where all of it is."""
    worker = work.Worker(work.Console(), tmp_path / "log")
    with pytest.raises(work.CommandFailed) as caught:
        worker.run(["sh", "-c", "echo first; echo last >&2; exit 3"], failure="It broke.")
    assert str(caught.value).splitlines() == [
        "It broke.", "  | first", "  | last", f"  All it said: {tmp_path / 'log'}",
    ]  # fmt: skip
    assert "first\nlast\n" in (tmp_path / "log").read_text(encoding="utf-8")


# ---- a whole set-up -----------------------------------------------------------------------------

TOOLS = ("sh", "cat", "cksum", "dirname", "grep", "id", "uname", "sysctl")
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "porthole"
version = "1"
[project.optional-dependencies]
llama = ["llama-cpp-python==0.0.1"]
"""
BACKEND = """
import pathlib, zipfile
def build_editable(directory, config_settings=None, metadata_directory=None):
    name = "porthole-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w") as wheel:
        wheel.writestr("porthole.pth", str(pathlib.Path.cwd()))
        put(wheel, "porthole", "1")
        wheel.writestr("porthole-1.dist-info/entry_points.txt",
                       "[console_scripts]\\nporthole = app.__main__:main\\n")
        wheel.writestr("porthole-1.dist-info/RECORD", "")
    return name
def put(wheel, name, version):
    info = f"{name}-{version}.dist-info"
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
"""
APP = """
import sys
def main():
    print("application", *sys.argv[1:])
    return 7
"""


class Copy:
    """A copy of the set-up around a tiny application, on a machine with next to nothing."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "copy"
        self.tools = folder / "tools"
        self.wheels = folder / "wheels"
        for path in (self.tools, self.wheels, self.root / "app"):
            path.mkdir(parents=True)
        shutil.copytree(PACKAGING, self.root / "packaging")
        (self.root / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
        (self.root / "backend.py").write_text(BACKEND, encoding="utf-8")
        (self.root / "app" / "__main__.py").write_text(APP, encoding="utf-8")
        for name in TOOLS:
            if found := shutil.which(name):
                (self.tools / name).symlink_to(found)
        base = getattr(sys, "_base_executable", sys.executable)
        (self.tools / "python3").symlink_to(os.path.realpath(base))
        self.environ = {
            "PATH": str(self.tools),
            "HOME": str(folder / "home"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
        }

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "packaging" / "run", *arguments], env={**self.environ, **environ},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, **environ) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Copy:
    """The copy that the following tests use one after the other."""
    return Copy(tmp_path_factory.mktemp("set-up"))


@pytest.fixture(scope="module")
def first(machine) -> subprocess.CompletedProcess[str]:
    """The first run: no compiler, no PySide6, a home that does not exist yet."""
    return machine.run("say", "two words")


def test_first_run_sets_up_and_starts(first):
    """stdout and the exit code are the application's; progress is numbered, on stderr."""
    assert (first.stdout, first.returncode) == ("application say two words\n", 7), first.stderr
    assert "[1/4] Python environment: done in" in first.stderr
    assert "[2/4] Porthole's libraries: done in" in first.stderr


def test_missing_compiler_leaves_llama_out(first):
    """The application runs without; what is missing and what still works is said."""
    assert "[3/4] llama.cpp, made for this machine: left out" in first.stderr
    assert "needs a C++ compiler to be built: " in first.stderr
    assert "works with Ollama" in first.stderr


def test_missing_qt_libraries_leave_the_window_out(first):
    """The same for Qt."""
    assert "[4/4] Qt's system libraries: left out" in first.stderr
    assert "works in the terminal" in first.stderr


def test_failure_is_not_tried_at_every_start(machine, first):
    """The second run starts the application and says nothing."""
    again = machine.run("x")
    assert (again.stdout, again.stderr, again.returncode) == ("application x\n", "", 7)


def test_failure_is_tried_again_when_asked(machine, first):
    """The user's word is enough, for llama.cpp alone."""
    again = machine.run(PORTHOLE_RETRY_LLAMA="1")
    assert "[1/1] llama.cpp, made for this machine: left out" in again.stderr
    assert again.returncode == 7


def test_second_set_up_waits_for_the_first(machine, first):
    """Two at once: the second says that it waits, and goes on when the first is done."""
    with (machine.root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('[tool.setuptools]\npackages = ["app"]\n')  # something to do
    with (machine.root / ".venv" / "porthole" / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = machine.start("x")
        said = process.stderr.readline()
    out, err = process.communicate()
    assert said == "Another set-up of this folder is running; waiting for it ...\n"
    assert (out, process.returncode) == ("application x\n", 7)
    assert "Porthole's libraries: done" in err


def test_ready_made_llama_is_taken_from_where_the_user_says(machine, first):
    """PORTHOLE_LLAMA_WHEELS installs the wheel; the next run without it leaves it in place."""
    path = machine.wheels / "llama_cpp_python-0.0.1-py3-none-any.whl"
    info = "llama_cpp_python-0.0.1.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llama_cpp/__init__.py", "")
        archive.writestr("llama_cpp/llama_cpp.py", "llama_print_system_info = lambda: b'x'\n")
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llama-cpp-python\nVersion: 0.0.1\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")  # fmt: skip
    done = machine.run(PORTHOLE_LLAMA_WHEELS=str(machine.wheels))
    assert "llama.cpp, made for this machine: done" in done.stderr
    assert machine.run().stderr == ""


def test_complete_set_up_starts_at_once(machine, first):
    """Once all is in place the shell starts the application by itself, without looking further."""
    stamps = site.Stamps(machine.root / ".venv" / "porthole" / "stamps.json")
    stamps.put("llama", f"ok 0.0.1 python {environment.RUNNING} built")
    stamps.put("qt", f"ok {stamps.read()['libraries']}")
    assert machine.run().returncode == 7
    kept = stamps.path.rename(stamps.path.with_name("kept"))  # missed by any longer look
    done = machine.run("x", "y z")
    kept.rename(stamps.path)
    assert (done.stdout, done.stderr, done.returncode) == ("application x y z\n", "", 7)


def test_moved_copy_is_set_up_anew(machine, first):
    """The scripts of an environment name its folder: one that was moved is made again."""
    machine.root = machine.root.rename(machine.root.with_name("moved"))
    done = machine.run("here")
    assert "Python environment: done" in done.stderr
    assert (done.stdout, done.returncode) == ("application here\n", 7)
