"""Child process: real token counts of texts, out of GGUF vocabularies.

stdin: ``{"vocabularies": {name: path}, "texts": {vocabulary: {name: text}}}``; stdout: the counts in
place of the texts. One vocabulary is in memory at a time; weights are never read.
"""

import json
import sys
from types import SimpleNamespace
from typing import Any

from engine.backends.llamacpp_worker.native import bindings, native_log
from engine.backends.llamacpp_worker.vocabulary import Vocabulary


def _count(path: str, texts: dict[str, str]) -> dict[str, int]:
    api: Any = bindings()
    params = api.llama_model_default_params()
    params.vocab_only = True
    model = api.llama_model_load_from_file(path.encode(), params)
    assert model, f"{path}: {native_log().reason()}"
    loaded: Any = SimpleNamespace(
        pointer=model, vocabulary_pointer=api.llama_model_get_vocab(model)
    )
    vocabulary = Vocabulary(loaded)
    counts = {
        name: len(vocabulary.tokenize(text.encode(), special=True, first=True))
        for name, text in texts.items()
    }
    api.llama_model_free(model)
    return counts


def main() -> None:
    """Judge what is asked for."""
    native_log()  # llama.cpp speaks to it, not to stderr
    asked = json.load(sys.stdin)
    counts = {
        name: _count(path, asked["texts"][name]) for name, path in asked["vocabularies"].items()
    }
    json.dump(counts, sys.stdout)


if __name__ == "__main__":
    main()
