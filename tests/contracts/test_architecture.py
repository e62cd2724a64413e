"""The layers hold, at rest and at run time; what must stay light stays light."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import app
import engine

ROOT = Path(engine.__file__).parents[1]
ENGINE = sorted(m.name for m in pkgutil.walk_packages(engine.__path__, "engine."))
MODULES = sorted([*ENGINE, *(m.name for m in pkgutil.walk_packages(app.__path__, "app."))])


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_module_imports(name):
    """Every module loads by itself."""
    importlib.import_module(name)


def test_engine_imports_without_qt():
    """Every engine module loads in an interpreter where PySide6 cannot be imported."""
    names = [name for name in ENGINE if not name.endswith("__main__")]
    done = run_python(
        "import sys; sys.modules['PySide6'] = None; import importlib\n"
        f"for n in {names!r}: importlib.import_module(n)\n"
        "assert not [m for m in sys.modules if m.startswith(('PySide6.', 'app'))]"
    )
    assert done.returncode == 0, done.stderr


def test_terminal_front_imports_no_qt():
    """The terminal front works where Qt cannot be loaded."""
    names = [name for name in MODULES if name.startswith("app.terminal")]
    done = run_python(
        "import sys; sys.modules['PySide6'] = None; import importlib\n"
        f"for n in {[*names, 'app.__main__']!r}: importlib.import_module(n)"
    )
    assert done.returncode == 0, done.stderr


def test_status_imports_nothing_heavy(tmp_path):
    """`porthole status` starts at once: none of the slow packages is loaded for it."""
    heavy = ["sqlite_utils", "tomlkit", "httpx", "ollama", "llama_cpp", "jinja2", "numpy"]
    heavy += ["prompt_toolkit", "psutil", "asyncio", "PySide6", "pydantic"]
    script = (
        "import sys\n"
        "from app.__main__ import main\n"
        f"code = main(['--profile', {str(tmp_path)!r}, 'status'])\n"
        f"loaded = [name for name in {heavy!r} if name in sys.modules]\n"
        "sys.exit(f'loaded: {loaded}' if loaded or code else 0)\n"
    )
    run_python(script)  # the first start makes the profile
    done = run_python(script)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted([*ROOT.glob("app/**/*.py"), *ROOT.glob("engine/**/*.py")]))
def test_module_has_reading_size(path):
    """No module is longer than 500 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_exemptions_carry_a_reason():
    """Every `noqa` and `type: ignore` says which rule and why."""
    lines = [
        (path.name, number, line)
        for path in [*ROOT.glob("app/**/*.py"), *ROOT.glob("engine/**/*.py")]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]
    bare = [
        f"{name}:{number}"
        for name, number, line in lines
        for mark in ("# noqa", "# type: ignore")
        if mark in line and "#" not in line.split(mark, 1)[1]
    ]
    assert not bare


def test_top_level_holds_only_the_house():
    """Nothing else lies at the top level of what is committed."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    top = {name.split("/")[0] for name in listed if name}
    house = {"pyproject.toml", "app", "engine", "resources", "tests", "packaging", "README.md"}
    assert not {name for name in top - house if not name.startswith(".")}
