"""Some sixty kinds of text for the token estimator: written ones in tests/data, generated ones here."""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable
from pathlib import Path

_WRITTEN = Path(__file__).parent.parent / "data" / "estimator"
_LENGTH = 1200
"""Characters of a generated text, about."""


def texts() -> dict[str, str]:
    """Every kind of text by its name; the same in every run."""
    written = {file.stem: file.read_text("utf-8") for file in sorted(_WRITTEN.glob("*.txt"))}
    made = {name: make(random.Random(name)) for name, make in sorted(_GENERATORS.items())}
    return {**written, **made}


def _base64(rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(_LENGTH * 3 // 4)).decode()


def _base64_lines(rng: random.Random) -> str:
    return base64.encodebytes(rng.randbytes(_LENGTH * 3 // 4)).decode()


def _hex(rng: random.Random) -> str:
    return rng.randbytes(_LENGTH // 2).hex()


def _hex_dump(rng: random.Random) -> str:
    rows = (rng.randbytes(16) for _ in range(_LENGTH // 60))
    return "\n".join(f"{16 * n:08x}  {row.hex(' ')}" for n, row in enumerate(rows))


def _hashes(rng: random.Random) -> str:
    return "\n".join(f"{rng.randbytes(20).hex()}  file-{n:03}.bin" for n in range(_LENGTH // 55))


def _digits(rng: random.Random) -> str:
    return "".join(rng.choices(string.digits, k=_LENGTH))


def _csv_numbers(rng: random.Random) -> str:
    rows = ([rng.uniform(-99, 99) for _ in range(6)] for _ in range(_LENGTH // 40))
    return "\n".join(",".join(f"{value:.3f}" for value in row) for row in rows)


def _csv_words(rng: random.Random) -> str:
    names = ("north", "Harbour", "pier 4", "old mill", "Lighthouse")
    head = "id,name,date,level,valid\n"
    return head + "\n".join(
        f'{n},"{rng.choice(names)}",2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02},'
        f"{rng.random() * 9:.2f},{rng.choice(('true', 'false'))}"
        for n in range(1000, 1000 + _LENGTH // 38)
    )


def _uuids(rng: random.Random) -> str:
    return "\n".join(str(uuid.UUID(bytes=rng.randbytes(16))) for _ in range(_LENGTH // 37))


def _urls(rng: random.Random) -> str:
    def letters(least: int, most: int) -> str:
        return "".join(
            rng.choices(string.ascii_letters + string.digits, k=rng.randint(least, most))
        )

    sites = ("example.org", "cdn.example.net", "shop.example.com", "10.0.0.7:8443")
    paths = ("api/v1/items", "static/img", "blog/2023/11/how-to-mend-a-net", "search", "u/profile")
    return "\n".join(
        f"https://{rng.choice(sites)}/{rng.choice(paths)}/{rng.randint(1, 99999)}"
        f"?q={letters(5, 12)}&page={rng.randint(1, 40)}&utm_source=mail#{letters(4, 8)}"
        for _ in range(_LENGTH // 90)
    )


def _json_value(rng: random.Random, depth: int) -> object:
    if depth == 0:
        kinds = (rng.randint(0, 99_999), round(rng.random() * 100, 3), rng.random() < 0.5, None)
        words = ("Whitby", "tide reader", "ok", "2024-03-07T09:14:22Z", "a.b.c", "/srv/data")
        return rng.choice((*kinds, rng.choice(words), rng.choice(words)))
    keys = rng.sample(("id", "name", "level_mm", "createdAt", "tags", "isActive", "owner"), 4)
    if rng.random() < 0.3:
        return [_json_value(rng, depth - 1) for _ in range(3)]
    return {key: _json_value(rng, depth - 1) for key in keys}


def _json_pretty(rng: random.Random) -> str:
    return json.dumps([_json_value(rng, 3) for _ in range(3)], indent=2)[:_LENGTH]


def _json_compact(rng: random.Random) -> str:
    return json.dumps([_json_value(rng, 3) for _ in range(5)], separators=(",", ":"))[:_LENGTH]


def _indentation(rng: random.Random) -> str:
    return "\n".join(" " * (4 * rng.randint(1, 9)) + "x" for _ in range(60))


def _lone_indentation(rng: random.Random) -> str:
    """Lines of every depth with next to nothing on them: what costs most of white space."""
    return "\n".join(" " * rng.randint(1, 23) + rng.choice("{}();") for _ in range(90))


def _blank(rng: random.Random) -> str:
    return "".join(rng.choice((" ", "\t", "\n", "  ", "\n\n", "    ")) for _ in range(500))


def _random_ascii(rng: random.Random) -> str:
    return "".join(
        rng.choices(string.ascii_letters + string.digits + string.punctuation, k=_LENGTH)
    )


def _random_printable(rng: random.Random) -> str:
    return "".join(rng.choices(string.printable[:95], k=_LENGTH))


def _random_letters(rng: random.Random) -> str:
    return " ".join(
        "".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 10)))
        for _ in range(_LENGTH // 8)
    )


def _tsv_codes(rng: random.Random) -> str:
    def code() -> str:
        return "".join(rng.choices(string.ascii_uppercase, k=3)) + f"-{rng.randint(0, 9999):04}"

    return "\n".join("\t".join(code() for _ in range(5)) for _ in range(_LENGTH // 45))


def _punctuation(rng: random.Random) -> str:
    return "".join(rng.choices(string.punctuation, k=_LENGTH // 2))


def _rare_characters(rng: random.Random) -> str:
    """A few of everything: no vocabulary knows most of them."""
    blocks = (0x1400, 0x2C00, 0x2C80, 0xA000, 0xA500, 0x10330, 0x12000, 0x13000, 0x1D400, 0x1F0A0)
    return " ".join(chr(rng.choice(blocks) + rng.randint(1, 13)) for _ in range(200))


_GENERATORS: dict[str, Callable[[random.Random], str]] = {
    "base64": _base64,
    "base64_lines": _base64_lines,
    "hex": _hex,
    "hex_dump": _hex_dump,
    "hashes": _hashes,
    "digits": _digits,
    "csv_numbers": _csv_numbers,
    "csv_words": _csv_words,
    "uuids": _uuids,
    "urls": _urls,
    "json_pretty": _json_pretty,
    "json_compact": _json_compact,
    "indentation": _indentation,
    "lone_indentation": _lone_indentation,
    "blank": _blank,
    "random_ascii": _random_ascii,
    "random_printable": _random_printable,
    "random_letters": _random_letters,
    "tsv_codes": _tsv_codes,
    "punctuation": _punctuation,
    "rare_characters": _rare_characters,
}
