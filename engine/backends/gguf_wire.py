"""The GGUF container: magic, counts, key/values, tensor directory; never a weight.

::

    "GGUF"  version u32  n_tensors i64  n_kv i64
    n_kv      × key, type, value                       tokens, merges: skipped, not stored
    n_tensors × name, dims, type, offset
    padding to the alignment
    weights                                            never read; only their extent is checked

`read_container` promises: memory in proportion to what it returns (bounded by the constants
below), time in proportion to the header, whatever the bytes say; anything the format does not
allow is `Damaged`. It knows the container only; what the values mean is `engine.backends.gguf`.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

Scalar = int | float | bool | str

MAX_ENTRIES: Final = 65_536
"""Most key/values, and most tensors, a file may have; real files have a few dozen and a few thousand."""
MAX_KEPT_BYTES: Final = 16 * 1024 * 1024
"""Most text kept of one header, in bytes; a longer single string than `MAX_TEXT_BYTES` is skipped."""
MAX_TEXT_BYTES: Final = 4 * 1024 * 1024
MAX_KEPT_ITEMS: Final = 4096
"""Numeric arrays up to this length are kept (they are per layer); longer ones are skipped."""
MAX_NAME_BYTES: Final = 65_535
_BLOCK_BYTES: Final = 1024 * 1024
_MARK_EVERY: Final = 1024

_STRING, _ARRAY = 8, 9
_NUMBERS: Final[Mapping[int, struct.Struct]] = {
    code: struct.Struct("<" + letter)
    for code, letter in {
        0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
    }.items()
}  # fmt: skip
_U64: Final = struct.Struct("<Q")

TENSOR_TYPES: Final[Mapping[int, tuple[str, int, int]]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36),
    10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2),
    26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18), 42: ("Q2_0", 64, 18),
}  # fmt: skip
"""ggml's tensor types: code -> (name, elements per block, bytes per block)."""


DAMAGED_REMEDY: Final = "Fetch the file again, and compare its size with the one at the source."


class Damaged(Exception):
    """The bytes are not a GGUF file this application can run: why ("it is…"), and what to do."""

    def __init__(self, reason: str, remedy: str = DAMAGED_REMEDY) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Array:
    """An array value: its element type code, its length, and its numbers when they were kept.

    For strings, `marks` are the file offsets of every `_MARK_EVERY`th one.
    """

    type: int
    count: int
    numbers: tuple[int | float | bool, ...] | None = None
    marks: tuple[int, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether the elements are strings."""
        return self.type == _STRING


@dataclass(frozen=True, slots=True)
class Tensor:
    """One line of the tensor directory; `nbytes` is its extent in the data section."""

    name: str
    type: str
    elements: int
    nbytes: int
    offset: int


@dataclass(frozen=True, slots=True)
class Container:
    """What the header holds. `data_offset` is where the weights start in the file, in bytes."""

    version: int
    scalars: Mapping[str, Scalar]
    arrays: Mapping[str, Array]
    tensors: tuple[Tensor, ...]
    data_offset: int


class Cursor:
    """A bounds-checked reader over an open file; reads blocks, remembers one."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.size = size
        self.at = 0
        self.kept = 0
        self._file = file
        self._block = b""
        self._start = 0

    def _hold(self, count: int) -> int:
        """Make `count` bytes at `at` available; the index of the first in the block."""
        if count > self.size - self.at:
            raise Damaged("it ends in the middle of its header")
        index = self.at - self._start
        if index >= 0 and index + count <= len(self._block):
            return index
        self._file.seek(self.at)
        self._block = self._file.read(max(count, min(_BLOCK_BYTES, self.size - self.at)))
        self._start = self.at
        if len(self._block) < count:
            raise Damaged("it ends in the middle of its header")
        return 0

    def skip(self, count: int) -> None:
        """Go on without reading."""
        if count > self.size - self.at:
            raise Damaged("it ends in the middle of its header")
        self.at += count

    def number(self, code: int) -> int | float | bool:
        """One number of GGUF type `code`."""
        form = _NUMBERS[code]
        index = self._hold(form.size)
        self.at += form.size
        value: int | float | bool = form.unpack_from(self._block, index)[0]
        return value

    def count(self) -> int:
        """An unsigned 64-bit length."""
        return int(self.number(10))

    def numbers(self, code: int, count: int) -> tuple[int | float | bool, ...]:
        """`count` numbers of one type."""
        form = struct.Struct(f"<{count}{_NUMBERS[code].format[1:]}")
        index = self._hold(form.size)
        self.at += form.size
        return form.unpack_from(self._block, index)

    def text(self, limit: int) -> str | None:
        """A string; None when it is longer than `limit` bytes (it is skipped then)."""
        length = self.count()
        if length > limit:
            self.skip(length)
            return None
        self.kept += length
        if self.kept > MAX_KEPT_BYTES:
            raise Damaged("its header holds too much text")
        index = self._hold(length)
        self.at += length
        return self._block[index : index + length].decode("utf-8", "replace")

    def pass_texts(self, count: int) -> tuple[int, ...]:
        """Skip `count` strings fast; the file offsets of every `_MARK_EVERY`th."""
        marks = []
        while count > 0:
            marks.append(self.at)
            batch = min(count, _MARK_EVERY)
            self._pass_batch(batch)
            count -= batch
        return tuple(marks)

    def _pass_batch(self, count: int) -> None:
        length_at = _U64.unpack_from
        while count:
            index = self._hold(8)
            block, start = self._block, self._start
            last = len(block) - 8
            while count and index <= last:
                index += 8 + length_at(block, index)[0]
                count -= 1
            if start + index > self.size:
                raise Damaged("it ends in the middle of its header")
            self.at = start + index


def read_container(file: BinaryIO, size: int) -> Container:
    """The header of an open GGUF file of `size` bytes. Raises Damaged, and OSError from reading."""
    cursor = Cursor(file, size)
    version, n_tensors, n_kv = _read_start(cursor)
    scalars: dict[str, Scalar] = {}
    arrays: dict[str, Array] = {}
    seen: set[str] = set()
    for _ in range(n_kv):
        _read_entry(cursor, scalars, arrays, seen)
    alignment = scalars.get("general.alignment", 32)
    if not isinstance(alignment, int) or not _is_alignment(alignment):
        raise Damaged("its alignment is not a power of two")
    tensors = _read_tensors(cursor, n_tensors, alignment)
    data_offset = _padded(cursor.at, alignment)
    return Container(version, scalars, arrays, tensors, data_offset)


def text_at(file: BinaryIO, size: int, array: Array, index: int) -> str:
    """The string `index` of an array of strings that was skipped; "" when there is none."""
    if not array.is_text or not 0 <= index < array.count:
        return ""
    cursor = Cursor(file, size)
    cursor.at = array.marks[index // _MARK_EVERY]
    cursor.pass_texts(index % _MARK_EVERY)
    return cursor.text(MAX_NAME_BYTES) or ""


def _read_start(cursor: Cursor) -> tuple[int, int, int]:
    if cursor.size < 24:
        raise Damaged("it is empty" if cursor.size == 0 else "it is too short to be a model")
    magic = bytes(int(cursor.number(0)) for _ in range(4))
    if magic != b"GGUF":
        raise Damaged("it is not a GGUF file")
    version = int(cursor.number(4))
    if version & 0xFFFF == 0:
        raise Damaged(
            "it was made for a machine with the opposite byte order",
            "Look for the usual (little-endian) conversion of the model.",
        )
    if version not in (2, 3):
        raise Damaged(
            f"its GGUF version {version} is not supported (2 and 3 are)",
            "Look for a newer conversion of the model, or a newer version of this application.",
        )
    n_tensors, n_kv = cursor.count(), cursor.count()
    for found, what in ((n_kv, "settings"), (n_tensors, "tensors")):
        if found > MAX_ENTRIES:
            raise Damaged(f"it claims to have {found:,} {what}")
    return version, n_tensors, n_kv


def _read_entry(
    cursor: Cursor, scalars: dict[str, Scalar], arrays: dict[str, Array], seen: set[str]
) -> None:
    key = cursor.text(MAX_NAME_BYTES)
    if not key:
        raise Damaged("one of its settings has no usable name")
    if key in seen:
        raise Damaged(f"it has the setting {key[:80]!r} twice")
    seen.add(key)
    code = int(cursor.number(4))
    if code == _ARRAY:
        arrays[key] = _read_array(cursor, key)
    elif code == _STRING:
        text = cursor.text(MAX_TEXT_BYTES)
        if text is not None:
            scalars[key] = text
    elif code in _NUMBERS:
        scalars[key] = cursor.number(code)
    else:
        raise Damaged(f"the setting {key[:80]!r} has the unknown type {code}")


def _read_array(cursor: Cursor, key: str) -> Array:
    code, count = int(cursor.number(4)), cursor.count()
    if code == _STRING:
        _check_length(cursor, key, count, 8)
        return Array(code, count, marks=cursor.pass_texts(count))
    if code not in _NUMBERS:
        raise Damaged(f"the list {key[:80]!r} has the unknown type {code}")
    width = _NUMBERS[code].size
    _check_length(cursor, key, count, width)
    if count <= MAX_KEPT_ITEMS:
        return Array(code, count, cursor.numbers(code, count))
    cursor.skip(count * width)
    return Array(code, count)


def _check_length(cursor: Cursor, key: str, count: int, width: int) -> None:
    if count * width > cursor.size - cursor.at:
        raise Damaged(f"the list {key[:80]!r} is longer than the file")


def _read_tensors(cursor: Cursor, count: int, alignment: int) -> tuple[Tensor, ...]:
    tensors: list[Tensor] = []
    names: set[str] = set()
    expected = 0
    for _ in range(count):
        tensor = _read_tensor(cursor)
        if tensor.name in names:
            raise Damaged(f"it has the tensor {tensor.name!r} twice")
        if tensor.offset != expected:
            raise Damaged(f"the tensor {tensor.name!r} is not where it should be")
        names.add(tensor.name)
        tensors.append(tensor)
        expected += _padded(tensor.nbytes, alignment)
    return tuple(tensors)


def _read_tensor(cursor: Cursor) -> Tensor:
    name = cursor.text(63)
    if name is None:
        raise Damaged("one of its tensors has a name of more than 63 bytes")
    dimensions = int(cursor.number(4))
    if dimensions > 4:
        raise Damaged(f"the tensor {name!r} has {dimensions:,} dimensions")
    shape = [cursor.count() for _ in range(dimensions)]
    elements = 1
    for length in shape:
        elements *= length
    code = int(cursor.number(4))
    offset = cursor.count()
    if code not in TENSOR_TYPES:
        raise Damaged(f"the tensor {name!r} has the unknown type {code}")
    label, block, block_bytes = TENSOR_TYPES[code]
    if elements >= 2**60 or (shape or [1])[0] % block:
        raise Damaged(f"the tensor {name!r} has an impossible shape")
    return Tensor(name, label, elements, elements // block * block_bytes, offset)


def _is_alignment(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _padded(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment
