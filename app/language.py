"""The window's language: which one, and everything that has to know it.

::

    --lang ─▶ the setting `language` ─▶ the system's languages ─▶ "en" or "zh_CN"

English is what the texts are written in. Without the compiled catalogue of another language
(packaging makes it) the window speaks English.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app import words
from app.theme import theme_of
from engine.paths import resources_dir

Language = Literal["en", "zh_CN"]
_NAME = "porthole-language"
_OLD_FORMS = ("hant", "tw", "hk", "mo")
"""Traditional Chinese is another language to read: it is not what `zh_CN` says."""


def plan_language(wishes: Iterable[str]) -> Language:
    """The first language of these that the window speaks, else English.

    A wish is a code as `--lang`, the setting and systems write it ("zh", "zh_CN", "zh-Hans-CN");
    "", "auto" and unknown ones say nothing.
    """
    for wish in wishes:
        parts = wish.replace("_", "-").casefold().split("-")
        if parts[0] == "en":
            return "en"
        if parts[0] == "zh" and not set(parts) & set(_OLD_FORMS):
            return "zh_CN"
    return "en"


def plan_locale(language: Language, system: QLocale) -> QLocale:
    """How numbers, dates and times are written: as the system does, if it speaks the language.

    A system that says nothing (the C locale) groups no thousands; it gets the day before the month
    and 24 hours.
    """
    if system.language() != QLocale.Language.C and system.name().startswith(language[:2]):
        return system
    return QLocale(
        QLocale.Language.Chinese if language == "zh_CN" else QLocale.Language.English,
        QLocale.Country.China if language == "zh_CN" else QLocale.Country.UnitedKingdom,
    )


def speak(app: QCoreApplication, wishes: Iterable[str], folder: Path | None = None) -> Language:
    """Have the application speak the first language wished for that it can; that language.

    Call it before the first widget is made: what is shown already stays in its language. The
    system's own languages are wished for last.

    Args:
        app: owns the translators.
        wishes: see `plan_language`.
        folder: where the compiled catalogues are; the bundled ones when None.
    """
    for before in app.findChildren(QTranslator, _NAME):
        app.removeTranslator(before)
        before.setParent(None)
    system = QLocale.system()
    language = plan_language((*wishes, *system.uiLanguages()))
    if language != "en" and not _install(app, language, folder):
        language = "en"
    words.install(words.plain if language == "en" else _translated)
    QLocale.setDefault(plan_locale(language, system))
    theme_of().set_language(language)
    return language


def _install(app: QCoreApplication, language: Language, folder: Path | None) -> bool:
    """Load our catalogue and Qt's own; False without ours."""
    ours, qts = QTranslator(app), QTranslator(app)
    ours.setObjectName(_NAME)
    qts.setObjectName(_NAME)
    if not ours.load(f"porthole_{language}", str(folder or resources_dir() / "translations")):
        return False
    place = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if qts.load(f"qtbase_{language}", place):
        app.installTranslator(qts)
    app.installTranslator(ours)  # the last one installed is asked first
    return True


def _translated(context: str, text: str, disambiguation: str = "", n: int = -1) -> str:
    """As Qt translates it; a text the catalogue lacks is English. May be called on any thread."""
    found = QCoreApplication.translate(context, text, disambiguation or None, n)
    if n >= 0 and found == text.replace("%n", str(n)):
        return words.plain(context, text, disambiguation, n)
    return found
