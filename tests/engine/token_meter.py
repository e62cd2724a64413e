"""Child process: counts texts with one real vocabulary for as long as somebody asks.

argv: the path of a GGUF; stdin: a JSON list of texts a line; stdout: the list of their tokens. Only the
vocabulary is read, never weights. `Meter` is the asking side; it asks for each text once.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Meter:
    """Real token counts by one vocabulary, out of a child process that ends with `close`."""

    def __init__(self, vocabulary: Path) -> None:
        self._known: dict[str, int] = {}
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.token_meter", str(vocabulary)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=Path(__file__).parents[2],
        )

    def count(self, texts: list[str]) -> list[int]:
        """Tokens of each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            assert self._child.stdin
            assert self._child.stdout
            self._child.stdin.write(json.dumps(new) + "\n")
            self._child.stdin.flush()
            self._known.update(zip(new, json.loads(self._child.stdout.readline()), strict=True))
        return [self._known[text] for text in texts]

    def close(self) -> None:
        """End the child."""
        self._child.communicate()


def main() -> None:
    """Count until nobody asks any more."""
    from engine.backends.llamacpp_worker.native import bindings, native_log
    from engine.backends.llamacpp_worker.vocabulary import Vocabulary

    native_log()  # llama.cpp speaks to it, not to stderr
    api: Any = bindings()
    params = api.llama_model_default_params()
    params.vocab_only = True
    model = api.llama_model_load_from_file(sys.argv[1].encode(), params)
    assert model, f"{sys.argv[1]}: {native_log().reason()}"
    loaded: Any = SimpleNamespace(
        pointer=model, vocabulary_pointer=api.llama_model_get_vocab(model)
    )
    vocabulary = Vocabulary(loaded)
    for line in sys.stdin:
        texts = json.loads(line)
        counts = [len(vocabulary.tokenize(t.encode(), special=True, first=False)) for t in texts]
        sys.stdout.write(json.dumps(counts) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
