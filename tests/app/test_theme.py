"""The theme: colours, type, sizes, icons, and the clothes of the application."""

import ast
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QIcon,
    QImage,
    QPainter,
    QPalette,
)
from PySide6.QtWidgets import QApplication

from app.theme import DARK, LIGHT, app_icon, apply_theme, load_fonts, theme_of
from app.theme.fonts import TYPES, families, plan_hinting
from app.theme.icons import icon_names
from app.theme.painting import draw_focus_ring, draw_key_tag, hairline, line_width, rounded, snap
from app.theme.qss import style_sheet
from app.theme.theme import _wants_contrast, plan_scheme
from engine.paths import resources_dir

RATIOS = (1.0, 1.25, 1.5, 1.75, 2.0, 3.0)
INK, FILL = QColor(LIGHT.accent), QColor(LIGHT.raised)


@pytest.fixture
def theme(qapp):
    theme = theme_of()
    yield theme
    theme.set_scheme("system")
    theme.set_zoom(1)
    theme.set_language("en")
    theme.set_reading_face("book")
    theme.set_motion(True)
    theme.set_more_contrast(None)


def canvas(dpr: float, side: int = 40) -> QImage:
    """A transparent picture of `side` logical px at a ratio."""
    image = QImage(round(side * dpr), round(side * dpr), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    image.setDevicePixelRatio(dpr)
    return image


def column(image: QImage, x: int) -> list[str]:
    """The colours of one column of device pixels."""
    return [image.pixelColor(x, y).name().upper() for y in range(image.height())]


# -- the theme -------------------------------------------------------------------------------


def test_there_is_one_theme(theme):
    """Whoever asks gets the same object."""
    assert theme_of() is theme
    assert theme.parent() is QCoreApplication.instance()


def test_no_application_no_theme():
    """Without a QApplication the fault is named."""
    code = "from app.theme import theme_of\ntry:\n theme_of()\nexcept RuntimeError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "QApplication" in done.stdout


def test_a_chosen_scheme_gives_its_tokens(theme, qtbot):
    """Choosing dark gives the dark colours and says so."""
    with qtbot.waitSignal(theme.changed):
        theme.set_scheme("dark")
    assert (theme.scheme, theme.choice, theme.tokens) == ("dark", "dark", DARK)
    assert theme.color("paper") == QColor(DARK.paper)
    theme.set_scheme("light")
    assert theme.tokens == LIGHT


@pytest.mark.parametrize(
    ("choice", "system", "expected"),
    [
        ("system", Qt.ColorScheme.Dark, "dark"),
        ("system", Qt.ColorScheme.Light, "light"),
        ("system", Qt.ColorScheme.Unknown, "light"),
        ("light", Qt.ColorScheme.Dark, "light"),
        ("dark", Qt.ColorScheme.Light, "dark"),
    ],
)
def test_the_scheme_follows_the_system_when_asked_to(choice, system, expected):
    """A choice holds against the system; "system" follows it, and is light when it is silent."""
    assert plan_scheme(choice, system) == expected


def test_a_change_of_the_system_is_noticed_once(theme, qtbot):
    """The system's signal renews what differs, and is silent when nothing does."""
    hints = QApplication.styleHints()
    with qtbot.assertNotEmitted(theme.changed):
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    theme._more_contrast = True
    with qtbot.waitSignal(theme.changed):
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.tokens.line == LIGHT.control


def test_zoom_multiplies_sizes_within_bounds(theme, qtbot):
    """Sizes, lines and fonts grow together; the bounds hold; the same zoom is no change."""
    theme.set_zoom(1.5)
    assert (theme.px(10), theme.line_height("reading")) == (15, 39)
    assert theme.font("interface").pixelSize() == 20
    theme.set_zoom(9)
    assert theme.zoom == 2.0
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_zoom(3)
    theme.set_zoom(0.1)
    assert theme.zoom == 0.8


def test_high_contrast_can_be_asked_for(theme):
    """Hairlines become real borders; without a choice the system decides."""
    theme.set_more_contrast(True)
    assert theme.more_contrast
    assert theme.tokens.line == LIGHT.control
    theme.set_more_contrast(None)
    assert theme.tokens == LIGHT


def test_the_systems_wish_for_contrast_is_heard():
    """High contrast counts; no preference, and a Qt that cannot tell, do not."""

    def hints(preference: Qt.ContrastPreference) -> object:
        said = SimpleNamespace(contrastPreference=lambda: preference)
        return SimpleNamespace(accessibility=lambda: said)

    assert _wants_contrast(hints(Qt.ContrastPreference.HighContrast))
    assert not _wants_contrast(hints(Qt.ContrastPreference.NoPreference))
    assert not _wants_contrast(object())


def test_motion_can_be_switched_off(theme):
    """Durations are as asked, or nothing."""
    theme.set_motion(False)
    assert theme.reduced_motion
    assert theme.duration(160) == 0
    theme.set_motion(True)
    assert theme.duration(160) == (0 if theme.reduced_motion else 160)


# -- type ------------------------------------------------------------------------------------


def test_the_bundled_families_are_there(theme):
    """Three families of static cuts come with the program, each with its licence."""
    assert {"Inter", "Literata", "JetBrains Mono"} <= set(load_fonts())
    texts = (resources_dir() / "fonts").glob("OFL-*.txt")
    assert all("SIL Open Font License" in path.read_text(encoding="utf-8") for path in texts)
    assert sum(path.stat().st_size for path in (resources_dir() / "fonts").iterdir()) < 4_000_000


def test_missing_and_broken_font_files_are_left_out(qapp, tmp_path):
    """A folder that is missing gives no fonts; a file that is none is passed over."""
    assert load_fonts(tmp_path / "nowhere") == ()
    (tmp_path / "broken.ttf").write_text("not a font")
    assert load_fonts(tmp_path) == ()


@pytest.mark.parametrize("role", TYPES)
def test_every_role_has_its_face_weight_and_size(theme, role):
    """What is drawn is the bundled cut of the role, not a stand-in."""
    kind = TYPES[role]
    font = theme.font(role)
    face = {"sans": "Inter", "serif": "Literata", "mono": "JetBrains Mono"}[kind.face]
    assert font.families()[0] == face
    assert QFontInfo(font).family() == face
    assert font.pixelSize() == round(kind.size)
    assert font.weight() == QFont.Weight(kind.weight)


def test_weights_differ(theme):
    """A variable font would ignore the weight; the cuts do not."""
    widths = [
        QFontMetricsF(theme.face_font("sans", weight, 20)).horizontalAdvance("Hamburgefonstiv")
        for weight in (400, 500, 600)
    ]
    assert widths == sorted(set(widths))


@pytest.mark.parametrize(
    ("ratios", "platform", "expected"),
    [
        ((1.0, 2.0), "linux", QFont.HintingPreference.PreferVerticalHinting),
        ((1.0, 1.5), "win32", QFont.HintingPreference.PreferNoHinting),
        ((2.0,), "darwin", QFont.HintingPreference.PreferNoHinting),
    ],
)
def test_hinting_suits_the_screens(ratios, platform, expected):
    """Broken scales and macOS get none: it would bend the letters."""
    assert plan_hinting(ratios, platform) == expected


def test_figures_are_tabular(theme):
    """Every figure is as wide as every other, in all weights."""
    for role in ("interface", "interface_bold", "small_medium", "reading"):
        metrics = QFontMetricsF(theme.font(role))
        assert len({metrics.horizontalAdvance(figure * 4) for figure in "0123456789"}) == 1


def test_code_has_no_ligatures(theme):
    """An arrow of two characters is as wide as two characters."""
    metrics = QFontMetricsF(theme.font("code"))
    assert metrics.horizontalAdvance("->") == metrics.horizontalAdvance("aa")


def test_a_font_given_is_a_copy(theme):
    """Changing it changes nobody else's."""
    theme.font("small").setPixelSize(99)
    assert theme.font("small").pixelSize() == 12


def test_the_reading_face_is_a_choice(theme):
    """Plain and system set replies in a sans; the system's leaves the bundled one out."""
    theme.set_reading_face("plain")
    assert theme.reading_face == "plain"
    assert theme.font("reading").families()[0] == "Inter"
    assert theme.font("reading").pixelSize() == 15
    assert theme.font("display").families()[0] == "Literata"
    theme.set_reading_face("system")
    assert "Inter" not in theme.font("reading").families()
    assert theme.font("interface").families()[0] == "Inter"
    assert theme.line_height("summary") == 22


def test_the_language_puts_its_han_forms_first(theme):
    """Chinese, Japanese and Korean draw some characters differently."""
    theme.set_language("ja")
    assert theme.language == "ja"
    names = theme.font("interface").families()
    assert any("JP" in name or "Hiragino" in name or "Yu Gothic" in name for name in names[:5])
    theme.set_language("zh_CN")
    assert theme.font("summary").families()[0] == "Inter"


@pytest.mark.parametrize(
    ("platform", "face", "second"),
    [
        ("darwin", "sans", ".AppleSystemUIFont"),
        ("win32", "mono", "Cascadia Mono"),
        ("linux", "serif", "Noto Serif"),
        ("freebsd14", "serif", "Noto Serif"),
    ],
)
def test_every_platform_has_fall_backs(platform, face, second):
    """After the bundled family comes the system's; emoji come last."""
    names = families(face, platform=platform)
    assert names[1] == second
    assert "Emoji" in names[-1]


# -- icons -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", icon_names())
def test_every_icon_paints_something(theme, name):
    """Each drawing leaves pixels at the size and ratio asked for."""
    pixmap = theme.pixmap(name, "ink", 16, 1.5)
    assert (pixmap.width(), pixmap.devicePixelRatio()) == (24, 1.5)
    image = pixmap.toImage()
    assert any(image.pixelColor(x, y).alpha() for x in range(24) for y in range(24))


def test_an_icon_has_the_colour_asked_for(theme):
    """The stop sign's middle is the token's colour, in either scheme."""
    assert theme.pixmap("stop", "red", 20, 1).toImage().pixelColor(10, 10) == QColor(LIGHT.red)
    theme.set_scheme("dark")
    assert theme.pixmap("stop", "red", 20, 1).toImage().pixelColor(10, 10) == QColor(DARK.red)


def test_pictures_are_kept_and_bounded(theme):
    """The same question gives the same picture; a flood of questions does not grow for ever."""
    first = theme.pixmap("pin", "ink2", 14, 1)
    assert theme.pixmap("pin", "ink2", 14, 1).cacheKey() == first.cacheKey()
    for step in range(1030):
        theme.pixmap("stop", "ink", 1, 1 + step / 1000)
    assert len(theme._pictures) <= 1024


def test_an_unknown_icon_is_empty_and_logged(theme, caplog):
    """A slip of the pen must not stop the painting; the log names it."""
    with caplog.at_level(logging.WARNING):
        pixmap = theme.pixmap("no-such-thing", "ink", 16, 1)
    assert pixmap.size() == QSize(16, 16)
    assert "no-such-thing" in caplog.text
    caplog.clear()


def test_an_icon_has_a_disabled_look(theme):
    """A menu's disabled action shows its icon in the colour of disabled text."""
    icon = theme.icon("stop", "ink", 20)
    image = icon.pixmap(QSize(20, 20), 1.0, QIcon.Mode.Disabled).toImage()
    assert image.pixelColor(10, 10) == QColor(LIGHT.disabled)


def test_the_app_icon_has_every_size(qapp):
    """From a title bar to a dock."""
    sides = {size.width() for size in app_icon().availableSizes()}
    assert {16, 32, 256} <= sides


# -- the clothes -----------------------------------------------------------------------------


def test_the_application_is_dressed_and_changes_clothes(theme, qapp):
    """Palette, font and sheet are the theme's, at once and after every change."""
    apply_theme(qapp, theme)
    apply_theme(qapp, theme)  # a second time adds nothing
    window = QPalette.ColorRole.Window
    assert qapp.palette().color(window) == QColor(LIGHT.paper)
    theme.set_scheme("dark")
    assert qapp.palette().color(window) == QColor(DARK.paper)
    assert DARK.raised in qapp.styleSheet()
    assert LIGHT.raised not in qapp.styleSheet()
    disabled = qapp.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled == QColor(DARK.disabled)
    theme.set_zoom(1.5)
    assert qapp.font().pixelSize() == 20


def test_the_sheet_scales_sizes_but_not_lines():
    """At twice the size a row is twice as high and a border still one pixel."""
    sheet = style_sheet(LIGHT, 2.0)
    assert "min-height: 56px" in sheet
    assert "border: 1px solid" in sheet
    assert "$" not in sheet


# -- painting --------------------------------------------------------------------------------


@pytest.mark.parametrize("dpr", RATIOS)
def test_places_and_lines_are_whole_device_pixels(dpr):
    """Snapped places and hairlines fall on the device's grid; a line is never thinner than one."""
    for step in range(200):
        assert (snap(step * 0.37, dpr) * dpr) == pytest.approx(round(snap(step * 0.37, dpr) * dpr))
    assert line_width(dpr) * dpr == pytest.approx(max(1, int(dpr + 0.5)))


@pytest.mark.parametrize("dpr", RATIOS)
def test_a_border_is_crisp_at_every_scale(qapp, dpr):
    """Across the middle: the line's colour, then the fill's, and nothing blended between."""
    image = canvas(dpr)
    painter = QPainter(image)
    rounded(painter, QRectF(4, 4, 30, 30), 8, FILL, INK)
    painter.end()
    middle = column(image, image.width() // 2)
    edge = round(line_width(dpr) * dpr)
    top = round(snap(4, dpr) * dpr)
    line, fill = INK.name().upper(), FILL.name().upper()
    assert middle[top : top + edge] == [line] * edge
    assert middle[top + edge] == fill
    assert set(middle) == {"#000000", line, fill}


def test_a_box_may_be_only_border_or_only_fill(qapp):
    """Without a fill the inside stays; without a line the edge is the fill's; without both, empty."""
    image = canvas(1)
    painter = QPainter(image)
    rounded(painter, QRectF(0, 0, 20, 20), 4, None, INK)
    rounded(painter, QRectF(20, 20, 20, 20), 4, FILL)
    rounded(painter, QRectF(20, 0, 20, 20), 4)
    painter.end()
    assert image.pixelColor(10, 0) == INK
    assert image.pixelColor(10, 10).alpha() == 0
    assert image.pixelColor(30, 20) == FILL
    assert image.pixelColor(30, 10).alpha() == 0


@pytest.mark.parametrize("dpr", RATIOS)
def test_a_hairline_is_one_crisp_line(qapp, dpr):
    """Horizontal or vertical, as many device pixels as a hairline has, in its own colour."""
    image = canvas(dpr)
    painter = QPainter(image)
    hairline(painter, 0, 10.3, 20, INK)
    hairline(painter, 30.3, 0, 40, INK, vertical=True)
    painter.end()
    wide = round(line_width(dpr) * dpr)
    assert column(image, 5).count(INK.name().upper()) == wide
    row = [image.pixelColor(x, 1).name().upper() for x in range(image.width())]
    assert row.count(INK.name().upper()) == wide


def test_the_focus_ring_stands_off_or_lies_inside(qapp):
    """Outside: 2 px thick, 2 px away. Inside: 2 px within the edge."""
    image = canvas(1)
    painter = QPainter(image)
    draw_focus_ring(painter, QRectF(10, 10, 20, 20), 6, INK)
    painter.end()
    down = [image.pixelColor(20, y).alpha() for y in range(12)]
    assert down == [0] * 6 + [255] * 2 + [0] * 4
    image = canvas(1)
    painter = QPainter(image)
    draw_focus_ring(painter, QRectF(10, 10, 20, 20), 6, INK, inside=True)
    painter.end()
    down = [image.pixelColor(20, y).alpha() for y in range(14)]
    assert down == [0] * 10 + [255] * 2 + [0] * 2


def test_a_key_tag_ends_where_it_was_told(theme):
    """It is drawn leftwards, and says where it begins."""
    image = canvas(1, 120)
    painter = QPainter(image)
    left = draw_key_tag(painter, theme, "Ctrl K", 100, 20)
    painter.end()
    assert 40 < left < 80
    row = [image.pixelColor(x, 20).alpha() for x in range(120)]
    assert row[round(left) - 2] == 0
    assert row[99] > 0
    assert row[101] == 0


# -- house rules -----------------------------------------------------------------------------


def test_no_widget_names_a_colour():
    """Colours are named in the tokens alone."""
    root = Path(__file__).parents[2] / "app"
    guilty = []
    for path in root.rglob("*.py"):
        if path.name == "tokens.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and len(text) == 7 and text[0] == "#":
                guilty.append(f"{path.name}: {text}")
    assert not guilty


def test_the_terminal_front_needs_no_qt():
    """Importing the terminal front imports neither the theme nor PySide6."""
    code = "import sys, app.terminal, app.terminal.console; print([m for m in sys.modules if 'PySide' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
