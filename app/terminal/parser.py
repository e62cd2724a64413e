"""What can be typed after `porthole`, and the help that says so."""

import argparse
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from app.terminal.console import EXIT_USAGE

DESCRIPTION = """\
Chat with local models in small context windows, and see what the model sees.

Models are named:
  starter            the small demonstration model, fetched on first use
  llama.cpp:PATH     a GGUF file, run by Porthole itself
  ollama:NAME        a model of your Ollama server
"""

EPILOG = """\
examples:
  porthole ask "What is the capital of France? Answer in one sentence."
  porthole ask --session 3f2a "And of Spain?"      continue a conversation
  porthole chat --model ollama:qwen3:4b            talk, with several turns
  porthole models                                  what can be used here
  porthole models add ~/Downloads/model.gguf       use a file of your own
  porthole explain --session 3f2a                  what fills its context window
  porthole compact --session 3f2a                  fold its older messages now

exit codes: 0 done · 2 wrong usage · 3 something outside Porthole is wrong
            (blocked window, no server, no model) · 4 a bug of ours · 130 stopped
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose mistakes end with the exit code for wrong usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.format_usage()}{self.prog}: {message}\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser for the whole command line."""
    parser = _Parser(
        prog="porthole",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--profile", metavar="DIR", help="keep everything under this folder")
    parser.add_argument("--demo", action="store_true", help="a throw-away profile with examples")
    parser.add_argument(
        "--messages", metavar="N", type=int, default=0, help="with --demo: a long conversation"
    )
    parser.add_argument("--screenshot", metavar="FILE", help="paint the window into a PNG and end")
    parser.add_argument("--size", metavar="WxH", help="size of the window, as 1280x820")
    parser.add_argument("--theme", choices=["light", "dark"], help="instead of the system's")
    parser.add_argument(
        "--lang", metavar="CODE", type=_language, help="en or zh_CN, instead of the system's"
    )
    parser.add_argument("--scale", metavar="N", type=float, default=0.0, help="scale factor")
    parser.add_argument("--version", action="store_true", help="print the version and end")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_ask(commands)
    _add_chat(commands)
    _add_models(commands)
    _add_sessions(commands)
    _add_explain(commands)
    _add_compact(commands)
    _command(commands, "status", "where things are, and whether all is well", _json_option)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; wrong usage exits with 2.

    Without a command the window opens; the command is None then.
    """
    parser = build_parser()
    options = parser.parse_args(list(argv))
    if options.demo and options.command is not None:
        parser.error("--demo stands alone")
    if options.command == "ask" and options.text is None and options.session is None:
        parser.error("ask needs a TEXT (or --session ID, to answer its last message again)")
    return options


def _command(
    commands: Any, name: str, help_text: str, *fill: Callable[[argparse.ArgumentParser], None]
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=help_text, description=help_text[0].upper() + help_text[1:] + "."
    )
    # the same option after the command; SUPPRESS keeps the value given before it
    command.add_argument(
        "--profile", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    for add in fill:
        add(command)
    return command


def _json_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def _model_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--model", metavar="M", help="starter, llama.cpp:PATH or ollama:NAME")
    command.add_argument(
        "--window", metavar="N", type=_tokens, help="context window in tokens (at least 16,000)"
    )
    command.add_argument("--system", metavar="S", help="system prompt for this conversation")
    command.add_argument("--session", metavar="ID", help="continue a conversation")
    command.add_argument(
        "--temperature", metavar="T", type=_temperature, help="0 for the likeliest words, up to 2"
    )
    command.add_argument("--seed", metavar="N", type=_seed, help="repeat the same choices")
    command.add_argument("--max-tokens", metavar="N", type=_tokens, help="limit of a reply")


def _add_ask(commands: Any) -> None:
    ask = _command(
        commands, "ask", "ask one thing and print the reply", _model_options, _json_option
    )
    ask.add_argument(
        "text",
        metavar="TEXT",
        nargs="?",
        help="your message; - reads it from stdin; without one, the last is answered again",
    )


def _add_chat(commands: Any) -> None:
    chat = _command(commands, "chat", "talk with a model in the terminal", _model_options)
    chat.epilog = (
        "Enter sends; Alt+Enter or Ctrl+J starts a new line; Ctrl+C stops the reply. "
        "/compact [focus] folds older messages into a summary, /status shows the context, "
        "/new starts a new conversation, /exit ends."
    )


def _add_models(commands: Any) -> None:
    models = _command(commands, "models", "list models, fetch the starter, add your own")
    actions = models.add_subparsers(dest="action", metavar="ACTION")
    _command(actions, "list", "list what can be used here (default)", _json_option)
    get = _command(actions, "get", "fetch a model")
    get.add_argument("name", metavar="starter", choices=["starter"], help="the starter model")
    add = _command(actions, "add", "add a GGUF file of your own to the list")
    add.add_argument("path", metavar="PATH", help="a .gguf file")
    info = _command(actions, "info", "what is known of a model", _json_option)
    info.add_argument("model", metavar="M", help="starter, llama.cpp:PATH or ollama:NAME")


def _add_sessions(commands: Any) -> None:
    _command(commands, "sessions", "list the conversations", _json_option)
    show = _command(commands, "show", "print a conversation", _json_option)
    show.add_argument("session", metavar="ID", help="a conversation's id, or its beginning")


def _add_explain(commands: Any) -> None:
    explain = _command(
        commands,
        "explain",
        "what fills a context window, and what would be done about it; nothing is sent",
        _json_option,
    )
    of = explain.add_mutually_exclusive_group(required=True)
    of.add_argument("--session", metavar="ID", help="a conversation")
    of.add_argument("--file", metavar="F.jsonl", help="a conversation in a file")
    figures = {
        "--window": "the context window, taken as it is",
        "--reserve": "tokens kept free for the reply",
        "--floor": "smaller reserves are raised to this; 0 for no floor",
    }
    for name, help_text in figures.items():
        explain.add_argument(name, metavar="N", type=_figure, help=help_text)
    explain.add_argument(
        "--keep-recent", metavar="N", type=_tokens, help="recent messages that stay word for word"
    )
    explain.add_argument(
        "--spec",
        action="store_true",
        help="the specification's own estimate, route, cut and chunks; a --reserve is not raised "
        "to a floor unless --floor is given too",
    )


def _add_compact(commands: Any) -> None:
    compact = _command(
        commands, "compact", "fold older messages of a conversation into a summary", _json_option
    )
    compact.add_argument("--session", metavar="ID", required=True, help="the conversation")
    compact.add_argument("--focus", metavar="TEXT", default="", help="what to keep above all")
    compact.add_argument("--model", metavar="M", help="another model to write the summary")


def _language(text: str) -> str:
    """A language of the window: "en", or "zh_CN" however it is written."""
    code = text.replace("-", "_").lower()
    if code in ("en", "zh", "zh_cn", "zh_hans", "zh_hans_cn"):
        return code[:2] if code == "en" else "zh_CN"
    raise argparse.ArgumentTypeError(f"“{text}” is no language of the window: en, zh_CN")


def _tokens(text: str) -> int:
    return _whole(text, minimum=1, what="a number of tokens")


def _figure(text: str) -> int:
    """A figure of the specification: fractions are cut off, less than nothing is nothing."""
    cleaned = text.replace(",", "").replace("_", "")
    if not re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{1,12})?", cleaned) or float(cleaned) >= 2**31:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of tokens")
    return max(0, math.floor(float(cleaned)))


def _seed(text: str) -> int:
    return _whole(text, minimum=0, what="a whole number")


def _whole(text: str, *, minimum: int, what: str) -> int:
    cleaned = text.replace(",", "").replace("_", "")
    if not cleaned.isdecimal() or not minimum <= int(cleaned) < 2**31:
        raise argparse.ArgumentTypeError(f"“{text}” is not {what} of at least {minimum}")
    return int(cleaned)


def _temperature(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise argparse.ArgumentTypeError(f"“{text}” is not a temperature between 0 and 2")
    return value
