"""Keeps the catalogues of resources/translations: `translate.py [check | fill FILE | compile]`.

Without a word: collects every text of the application that people read (Qt's lupdate over app/, the
templates of app/sentences, the titles and helps of the settings), puts what is new into each
catalogue as unfinished, drops what is gone, and prints what has to be translated as JSON. Such a
file, with the translations filled in, is taken by `fill`. `check` changes nothing and fails when a
catalogue is not up to date or not finished. `compile` makes the .qm files that Qt loads.

The catalogues are Qt Linguist's own format and can be edited with it. Locations are left out, so
that a catalogue changes only when a text does.
"""

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = ROOT / "resources" / "translations"
_PARTED = "|||"
_BEGIN = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Names a text: its context, itself, and what tells it from the same words elsewhere."""

    context: str
    source: str
    comment: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether it has a number, and so perhaps several forms."""
        return "%n" in self.source


Forms = tuple[str, ...]
"""A translation: one text, or one a plural form; empty for an unfinished one."""


def collect() -> list[Key]:
    """Every text there is, in the order of a catalogue. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        words, found = Path(folder) / "words.py", Path(folder) / "found.ts"
        words.write_text(_further_words(), encoding="utf-8")
        sources = [str(path) for path in sorted((ROOT / "app").rglob("*.py"))]
        lists = Path(folder) / "sources"
        lists.write_text("\n".join([*sources, str(words)]), encoding="utf-8")
        command = [_tool("pyside6-lupdate"), f"@{lists}", "-ts", found]
        subprocess.run([*command, "-locations", "none"], check=True, stdout=subprocess.DEVNULL)
        return sorted(read(found))


def _further_words() -> str:
    """What lupdate does not find by itself, as a module that it understands."""
    sys.path.insert(0, str(ROOT))
    from app.sentences import CONTEXT
    from app.sentences.table import TEMPLATES
    from engine.settings import MODEL_SETTINGS, SETTINGS

    texts = [*_counted(), *((CONTEXT, template) for template in TEMPLATES)]
    for setting in (*SETTINGS.values(), *MODEL_SETTINGS.values()):
        texts += [("Settings", setting.title), ("Settings", setting.help)]
    return "\n".join(
        f"QT_TRANSLATE_NOOP({json.dumps(context)}, {json.dumps(text, ensure_ascii=False)})"
        for context, text in texts
    )


def _counted() -> Iterator[tuple[str, str]]:
    """Context and text of what app.words translates: lupdate overlooks calls with some numbers."""
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="translate"),
                    args=[ast.Constant(str(context)), ast.Constant(str(text)), *rest],
                ) if not rest or getattr(rest[0], "value", None) == "":
                    yield context, text


def _tool(name: str) -> str:
    """One of PySide6's programs: they lie beside the Python of the environment."""
    return str(Path(sys.executable).parent / name)


def read(catalogue: Path) -> dict[Key, Forms]:
    """The entries of a catalogue; unfinished ones have no forms. None where there is no file."""
    entries: dict[Key, Forms] = {}
    if not catalogue.is_file():
        return entries
    for context in ElementTree.parse(catalogue).getroot().iter("context"):
        name = context.findtext("name", "")
        for message in context.iter("message"):
            key = Key(name, message.findtext("source", ""), message.findtext("comment", ""))
            entries[key] = _forms(message)
    return entries


def _forms(message: ElementTree.Element) -> Forms:
    found = message.find("translation")
    if found is None or found.get("type"):  # unfinished, obsolete, vanished
        return ()
    forms = tuple(form.text or "" for form in found.iter("numerusform")) or (found.text or "",)
    return forms if all(forms) else ()


def plan(keys: Iterable[Key], known: Mapping[Key, Forms]) -> dict[Key, Forms]:
    """What a catalogue has to hold: all that is said now, as far as its translation is known."""
    return {key: known.get(key, ()) for key in sorted(keys)}


def written(entries: Mapping[Key, Forms], language: str) -> str:
    """A catalogue's file."""
    lines = [f'<TS version="2.1" language="{language}" sourcelanguage="en">']
    context = None
    for key, forms in sorted(entries.items()):
        if key.context != context:
            lines += ["</context>"] if context is not None else []
            lines += ["<context>", f"    <name>{escape(key.context)}</name>"]
            context = key.context
        lines += _message(key, forms)
    lines += ["</context>"] if context is not None else []
    return _BEGIN + "\n".join([*lines, "</TS>", ""])


def _message(key: Key, forms: Forms) -> list[str]:
    numerus = ' numerus="yes"' if key.is_counted else ""
    lines = [f"    <message{numerus}>", f"        <source>{_text(key.source)}</source>"]
    if key.comment:
        lines.append(f"        <comment>{_text(key.comment)}</comment>")
    state = "" if forms else ' type="unfinished"'
    if key.is_counted:
        shown = "".join(f"<numerusform>{_text(form)}</numerusform>" for form in forms or ("",))
    else:
        shown = _text("".join(forms))
    return [*lines, f"        <translation{state}>{shown}</translation>", "    </message>"]


def _text(text: str) -> str:
    return escape(text, {'"': "&quot;", "'": "&apos;"})


def unfinished(entries: Mapping[Key, Forms]) -> dict[str, dict[str, str]]:
    """What has to be translated, by context, as `fill` takes it.

    A text that is translated elsewhere comes with that translation, to be looked at.
    """
    elsewhere = {key.source: _PARTED.join(forms) for key, forms in entries.items() if forms}
    left: dict[str, dict[str, str]] = {}
    for key, forms in sorted(entries.items()):
        if not forms:
            left.setdefault(key.context, {})[key.source] = elsewhere.get(key.source, "")
    return left


def filled(
    entries: Mapping[Key, Forms], translations: Mapping[str, Mapping[str, str]]
) -> dict[Key, Forms]:
    """The entries with translations put in; others are kept. Plural forms are parted by `|||`."""
    result = dict(entries)
    for key in entries:
        found = translations.get(key.context, {}).get(key.source, "")
        if found:
            result[key] = tuple(found.split(_PARTED)) if key.is_counted else (found,)
    return result


def language_of(catalogue: Path) -> str:
    """The language a catalogue's file is named for: porthole_zh_CN.ts is zh_CN."""
    return catalogue.stem.partition("_")[2]


def compile_catalogue(catalogue: Path) -> Path:
    """Make the file Qt loads, beside the catalogue. Raises CalledProcessError."""
    made = catalogue.with_suffix(".qm")
    command = [_tool("pyside6-lrelease"), "-silent", catalogue, "-qm", made]
    subprocess.run(command, check=True)
    return made


def renew(catalogue: Path, translations: Mapping[str, Mapping[str, str]]) -> bool:
    """Bring a catalogue up to date, with `translations` put in; whether it is finished."""
    entries = filled(plan(collect(), read(catalogue)), translations)
    text = written(entries, language_of(catalogue))
    if catalogue.read_text(encoding="utf-8") != text:
        catalogue.write_text(text, encoding="utf-8")
    return _report(catalogue, entries, "")


def check(catalogue: Path) -> bool:
    """Whether a catalogue is up to date and finished; it stays as it is."""
    entries = plan(collect(), read(catalogue))
    is_current = catalogue.read_text(encoding="utf-8") == written(entries, language_of(catalogue))
    return _report(catalogue, entries, "" if is_current else ", not up to date") and is_current


def _report(catalogue: Path, entries: Mapping[Key, Forms], state: str) -> bool:
    left = unfinished(entries)
    if left:
        sys.stdout.write(json.dumps(left, ensure_ascii=False, indent=1) + "\n")
    count = sum(map(len, left.values()))
    sys.stderr.write(f"{catalogue.name}: {len(entries)} texts, {count} unfinished{state}\n")
    return not count


def main(words: Sequence[str]) -> int:
    """Do what is asked of every catalogue; the exit code."""
    catalogues = sorted(CATALOGUES.glob("*.ts"))
    match words:
        case []:
            done = [renew(catalogue, {}) for catalogue in catalogues]
        case ["fill", file]:
            translations = json.loads(Path(file).read_text(encoding="utf-8"))
            done = [renew(catalogue, translations) for catalogue in catalogues]
        case ["check"]:
            done = [check(catalogue) for catalogue in catalogues]
        case ["compile"]:
            done = [compile_catalogue(catalogue).is_file() for catalogue in catalogues]
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
