"""A model's vocabulary: text to token ids and back, byte for byte.

The package's own detokenizer loses every token longer than 32 bytes; this one does not.
"""

import ctypes
import hashlib
from typing import Any

from engine.backends.llamacpp_worker.native import Model, bindings

_PIECE_BYTES = 512
_GUARD = b"\x01"
"""Stands before a fragment while it is tokenised: it joins with nothing that follows."""


class Vocabulary:
    """The tokenizer of a loaded model.

    Attributes:
        tokens: how many tokens it has.
        fingerprint: names the tokenizer, equal for all files that share it, wherever they are.
    """

    def __init__(self, model: Model) -> None:
        self._api = api = bindings()
        self._pointer = model.vocabulary_pointer
        self.tokens = int(api.llama_vocab_n_tokens(self._pointer))
        self._begin = int(api.llama_vocab_bos(self._pointer))
        self._adds_begin = bool(api.llama_vocab_get_add_bos(self._pointer)) and self._begin >= 0
        self._is_end = api.llama_vocab_is_eog
        self._pieces: dict[int, bytes] = {}
        self._shown_texts: tuple[str, ...] = ()
        self._shown: frozenset[int] = frozenset()
        self._guard: tuple[int, ...] = ()
        if self._prefixes_space():
            self._guard = self.tokenize(_GUARD, special=False, first=True)
        self.fingerprint = self._fingerprint(model)

    def show(self, texts: tuple[str, ...]) -> None:
        """Let the control tokens that `texts` (thinking tags) are spelled with be seen as text.

        All others spell nothing.
        """
        if texts == self._shown_texts:
            return
        self._shown_texts = texts
        tokens = {token for text in texts for token in self._tokenize(text.encode(), special=True)}
        self._shown = frozenset(filter(self._is_control, tokens))
        self._pieces.clear()

    def tokenize(self, text: bytes, *, special: bool, first: bool) -> tuple[int, ...]:
        """The ids of a fragment of a prompt.

        Args:
            text: the fragment, valid UTF-8 (anything else may end the process).
            special: whether control tokens may be spelled out; never for what people wrote.
            first: whether it begins the prompt; later ones get no space put before them.
        """
        guard = () if first else self._guard
        ids = self._tokenize(_GUARD + text if guard else text, special=special)
        if not guard:
            return ids
        if ids[: len(guard)] == guard:
            return ids[len(guard) :]
        return self._tokenize(text, special=special)

    def with_begin(self, ids: list[int]) -> list[int]:
        """A prompt's ids with the begin token this vocabulary wants, if it is not there yet."""
        if self._adds_begin and (not ids or ids[0] != self._begin):
            return [self._begin, *ids]
        return ids

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for: possibly a part of a character, empty for control."""
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._spell(token)
        return piece

    def is_end(self, token: int) -> bool:
        """Whether a model ends its reply with this token."""
        return bool(self._is_end(self._pointer, token))

    def _is_control(self, token: int) -> bool:
        return bool(self._api.llama_vocab_is_control(self._pointer, token))

    def _tokenize(self, text: bytes, *, special: bool) -> tuple[int, ...]:
        size = len(text) + 8
        while True:
            buffer = (self._api.llama_token * size)()
            count = self._api.llama_tokenize(
                self._pointer, text, len(text), buffer, size, False, special
            )
            if count >= 0:
                return tuple(buffer[:count])
            size = -count  # a vocabulary that makes more tokens than bytes

    def _spell(self, token: int) -> bytes:
        special = token in self._shown
        size = _PIECE_BYTES
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._api.llama_token_to_piece(self._pointer, token, buffer, size, 0, special)
            if length >= 0:
                return buffer.raw[:length]
            size = -length

    def _prefixes_space(self) -> bool:
        ids = self._tokenize(b"a", special=False)
        return b"".join(self._spell(token) for token in ids).startswith(b" ")

    def _fingerprint(self, model: Model) -> str:
        """Count, kind and every so-manieth token's text; a path or a quantisation plays no part."""
        kind = _metadata(self._api, model, "tokenizer.ggml.model")
        step = max(1, self.tokens // 1024)
        digest = hashlib.sha256()
        for name in ("tokenizer.ggml.model", "tokenizer.ggml.pre"):
            digest.update(_metadata(self._api, model, name).encode() + b"\0")
        for token in range(0, self.tokens, step):
            digest.update(self._api.llama_vocab_get_text(self._pointer, token) or b"")
            digest.update(b"\0")
        return f"{kind or 'unknown'}-{self.tokens}-{digest.hexdigest()[:16]}"


def _metadata(api: Any, model: Model, key: str) -> str:
    buffer = ctypes.create_string_buffer(256)
    length = api.llama_model_meta_val_str(model.pointer, key.encode(), buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace") if length >= 0 else ""
