"""The catalogue: complete, up to date with the sources, and true to their places."""

import ast
import importlib.util
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
sys.path.insert(0, str(PACKAGING))

from steps import translations, work  # noqa: E402  # path set above
from steps.plan import is_pending, plan_steps  # noqa: E402  # as above
from steps.site import Site  # noqa: E402  # as above

_SPEC = importlib.util.spec_from_file_location("translate", PACKAGING / "translate.py")
translate = importlib.util.module_from_spec(_SPEC)
sys.modules["translate"] = translate
_SPEC.loader.exec_module(translate)

CATALOGUE = ROOT / "resources" / "translations" / "porthole_zh_CN.ts"
ENTRIES = translate.read(CATALOGUE)


@pytest.fixture(scope="module")
def keys():
    """Every text the sources hold now, as lupdate finds it."""
    return translate.collect()


def test_catalogue_is_up_to_date(keys):
    """Collecting again changes no byte: `poe translate` does it."""
    now = translate.written(translate.plan(keys, ENTRIES), "zh_CN")
    assert CATALOGUE.read_text(encoding="utf-8") == now


def test_every_entry_is_finished():
    """简体中文 is complete."""
    assert translate.unfinished(ENTRIES) == {}


def _calls(tree):
    """Every text that is marked for translation in a module, by what the code says."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        place = {"tr": 0, "translate": 1, "QT_TRANSLATE_NOOP": 1}.get(name)
        if place is None or len(node.args) <= place:
            continue
        text = node.args[place]
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield node, name, text.value


def _modules():
    for path in sorted((ROOT / "app").rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_lupdate_finds_every_text(keys):
    """It misses a tr() within an f-string, and counted texts of which translate.py knows."""
    found = {key.source for key in keys}
    missed = {
        f"{path.relative_to(ROOT)}:{node.lineno} {text}"
        for path, tree in _modules()
        for node, _, text in _calls(tree)
        if text not in found
    }
    assert not missed


def test_translate_has_no_other_names():
    """lupdate knows calls by their names only."""
    others = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and getattr(node.value, "attr", getattr(node.value, "id", "")) in ("translate", "tr")
    }
    assert not others


def test_counted_texts_are_translated_by_words():
    """Only app.words says 1 message and 2 messages in English; Qt says 1 message(s)."""
    wrong = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in _modules()
        for node, name, text in _calls(tree)
        if "%n" in text and (name == "tr" or isinstance(node.func, ast.Attribute))
    }
    assert not wrong


_SHOWN = {
    "setText", "setToolTip", "setStatusTip", "setWhatsThis", "setPlaceholderText", "setWindowTitle",
    "setAccessibleName", "setAccessibleDescription", "addAction", "addMenu", "setTitle",
}  # fmt: skip


def test_no_text_is_shown_untranslated():
    """What is written into a widget is no bare text with a word in it."""
    bare = {
        f"{path.relative_to(ROOT)}:{node.lineno} {argument.value}"
        for path, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _SHOWN
        for argument in node.args
        if isinstance(argument, ast.Constant) and re.search("[A-Za-z]{2}", str(argument.value))
        if argument.value != "Porthole"
    }
    assert not bare


def _places(text):
    """The places of a format text, each as often as it is there."""
    plain = text.replace("%Ln", "").replace("%n", "")
    return sorted(
        name if name else f"#{number}"
        for number, (_, name, _, _) in enumerate(string.Formatter().parse(plain))
        if name is not None
    )


def _each():
    return [(key, form) for key, forms in ENTRIES.items() for form in forms]


def test_places_are_the_same():
    """What is filled in has its place in both, and counts count."""
    wrong = [
        key
        for key, form in _each()
        if ("{" in key.source and len(_places(key.source)) != len(_places(form)))
        or {p for p in _places(key.source) if p[0] != "#"}
        != {p for p in _places(form) if p[0] != "#"}
        or ("%n" in key.source) != bool(re.search("%L?n", form))
    ]
    assert not wrong


def test_menus_keep_a_key():
    """A title with an accelerator has one in Chinese too: 文件(&F)."""
    for key, form in _each():
        accelerator = re.search("&([A-Za-z])", key.source)
        if accelerator:
            assert f"(&{accelerator[1]})" in form
        else:
            assert "&" not in form


_LATIN = "A-Za-z0-9"
_HAN = "\u4e00-\u9fff"


def test_chinese_is_set_as_chinese():
    """A space between Chinese and Latin or figures; full-width marks after Chinese; 你, not 您."""
    for key, form in _each():
        assert not re.search(f"[{_HAN}][{_LATIN}]|[{_LATIN}][{_HAN}]", form), (key, form)
        assert not re.search(f"[{_HAN}][,;:?!.](?!\\d)", form), (key, form)
        assert not re.search(f"[{_HAN}]\\{{|\\}}[{_HAN}]", _without_glued(form)), (key, form)
        assert "您" not in form
        assert form.strip() == form or key.source.strip() != key.source, (key, form)


def _without_glued(form):
    """Places that hold a Chinese name or word stand without a space."""
    return re.sub(r"\{(name|reason|words|version_words)\}", "", form)


GIVEN = {
    "What is on your mind?": "想聊点什么？",
    "Conversations appear here.": "对话会列在这里。",
    "Nothing found for “{}”. Folded messages were searched too.": "没有找到“{}”。已折叠的消息也搜过了。",
}


@pytest.mark.parametrize("source", sorted(GIVEN))
def test_given_phrases_are_used(source):
    """The voice of the design."""
    assert {forms[0] for key, forms in ENTRIES.items() if key.source == source} == {GIVEN[source]}


# ---- the tool -----------------------------------------------------------------------------------


def test_new_texts_come_unfinished_and_old_ones_go():
    """A catalogue holds what is said now, with what is known of it."""
    old, new, kept = (translate.Key("C", text) for text in ("old", "new", "kept"))
    planned = translate.plan([new, kept], {old: ("alt",), kept: ("behalten",)})
    assert planned == {kept: ("behalten",), new: ()}
    assert translate.unfinished(planned) == {"C": {"new": ""}}


def test_unfinished_text_comes_with_what_it_is_elsewhere():
    """To be looked at, not to be typed again."""
    here, there = translate.Key("A", "Open"), translate.Key("B", "Open")
    assert translate.unfinished({here: (), there: ("打开",)}) == {"A": {"Open": "打开"}}


def test_what_is_written_is_read_again(tmp_path):
    """Marks, plural forms and comments survive."""
    entries = {
        translate.Key("A", "a < “b” & 'c'"): ("一 < “二” & '三'",),
        translate.Key("A", "%n day(s)"): ("eins", "viele"),
        translate.Key("B", "open", "a door"): (),
    }
    file = tmp_path / "porthole_xx.ts"
    file.write_text(translate.written(entries, "xx"), encoding="utf-8")
    assert translate.read(file) == entries
    assert translate.language_of(file) == "xx"
    assert translate.read(tmp_path / "none.ts") == {}


def test_filling_replaces_only_what_is_given():
    """An empty text leaves an entry as it is; plural forms are parted."""
    one, many, left = (translate.Key("A", text) for text in ("one", "%n x", "left"))
    filled = translate.filled(
        {one: (), many: (), left: ("war da",)}, {"A": {"one": "eins", "%n x": "a|||b", "left": ""}}
    )
    assert filled == {one: ("eins",), many: ("a", "b"), left: ("war da",)}


def test_check_changes_nothing_and_says_what_is_missing(tmp_path, monkeypatch, capsys):
    """A stale catalogue fails, stays, and is mended by a run without a word."""
    file = tmp_path / "porthole_xx.ts"
    file.write_text(translate.written({}, "xx"), encoding="utf-8")
    monkeypatch.setattr(translate, "CATALOGUES", tmp_path)
    monkeypatch.setattr(translate, "collect", lambda: [translate.Key("A", "one")])
    assert translate.main(["check"]) == 1
    assert "1 unfinished, not up to date" in capsys.readouterr().err
    assert translate.read(file) == {}
    assert translate.main([]) == 1
    words = tmp_path / "words.json"
    words.write_text('{"A": {"one": "eins"}}', encoding="utf-8")
    assert translate.main(["fill", str(words)]) == 0
    assert translate.main(["check"]) == 0
    assert translate.main(["nonsense"]) == 2


# ---- the set-up ---------------------------------------------------------------------------------


def _site(folder: Path) -> Site:
    place = folder / "resources" / "translations"
    place.mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\nname = 'porthole'\n", encoding="utf-8")
    (folder / "resources" / "starter.toml").write_text("[file]\nname='x'\n", encoding="utf-8")
    (place / "porthole_xx.ts").write_text("<TS/>", encoding="utf-8")
    return Site(folder, folder / "cache")


def _step(site: Site):
    return {step.name: step for step in plan_steps(site, "run", {}, "3.11.7", {})}["translations"]


def test_catalogues_are_compiled_again_when_they_change(tmp_path):
    """The stamp is made of their content; a compiled file that is gone is made again."""
    site = _site(tmp_path)
    before = _step(site)
    assert is_pending(before, "")
    assert is_pending(before, before.done), "the compiled file is not there"
    translations.compiled(translations.catalogues(site)[0]).write_bytes(b"")
    assert not is_pending(_step(site), before.done)
    translations.catalogues(site)[0].write_text("<TS></TS>", encoding="utf-8")
    assert is_pending(_step(site), before.done)
    assert not is_pending(_step(site), _step(site).failed())


def test_copy_without_catalogues_has_no_such_step(tmp_path):
    """There is nothing to compile."""
    site = _site(tmp_path)
    translations.catalogues(site)[0].unlink()
    assert "translations" not in [step.name for step in plan_steps(site, "run", {}, "3", {})]


def test_set_up_compiles_with_pyside6s_own_tool(tmp_path):
    """The file Qt loads lies beside the catalogue; a failure is told, and nothing needs it."""
    site = _site(tmp_path)
    programs = site.venv / "bin"
    programs.mkdir(parents=True)
    worker = work.Worker(work.Console(), tmp_path / "log")
    with pytest.raises(work.SetUpFailed, match="could not be compiled"):
        translations.compile_translations(site, worker)
    real = Path(sys.executable).parent / "pyside6-lrelease"
    (programs / "pyside6-lrelease").symlink_to(real)
    catalogue = translations.catalogues(site)[0]
    catalogue.write_bytes(CATALOGUE.read_bytes())
    translations.compile_translations(site, worker)
    assert translations.compiled(catalogue).stat().st_size > 10_000


def test_shell_looks_at_the_catalogues(tmp_path):
    """A changed catalogue makes the fast start look again: its key is made of them too."""
    start = (PACKAGING / "start.sh").read_text(encoding="utf-8")
    line = re.search(r"^key=\$\((.*?)\)$", start, re.MULTILINE | re.DOTALL)[0]
    (tmp_path / "resources" / "translations").mkdir(parents=True)
    script = f'root={tmp_path}\n{line}\nprintf %s "$key"'

    def key():
        return subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, check=True
        ).stdout

    bare = key()
    (tmp_path / "resources" / "translations" / "x.ts").write_text("a", encoding="utf-8")
    first = key()
    (tmp_path / "resources" / "translations" / "x.ts").write_text("b", encoding="utf-8")
    assert len({bare, first, key()}) == 3
