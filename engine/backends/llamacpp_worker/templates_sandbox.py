"""Where chat templates run: sandboxed, and with a limit on time and on text.

A template comes with a downloaded model, so it is a stranger's program. It gets jinja2's immutable
sandbox (no attributes with underscores, nothing loaded from anywhere), fewer filters and string
methods than jinja2 has, and a `Meter`: every call, attribute, filter, operator, loop step and
printed piece costs a tick, and a tick past the deadline ends the render. Ticks instead of a signal,
because they hold in every thread and on every platform, and can be tested without waiting.

What a meter cannot stop is a single native operation; so the sizes of texts, and of lists with
everything in them, are capped, and every operation on them stays below a second. The worker process
is the fence behind it.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import islice
from types import GeneratorType
from typing import Any, Final, cast

from jinja2 import Template, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError, TemplateError, TemplateRuntimeError
from jinja2.ext import Extension, loopcontrols
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

RENDER_SECONDS: Final = 2.0
"""Longest time one prompt may take to render, repairs included."""
MAX_TEXT_CHARACTERS: Final = 16 * 1024 * 1024
"""Longest text a template may make: some four times a window of a million tokens."""
MAX_WORK_CHARACTERS: Final = 256 * 1024 * 1024
"""Most characters it may make in one render, those thrown away included."""
MAX_SOURCE_CHARACTERS: Final = 64 * 1024
"""Some four times the longest template in use."""
_MAX_ITEMS: Final = 100_000
"""Most parts of a list or mapping that is made, written out, or gone through by a filter."""
_TICKS_PER_LOOK: Final = 16
_CHARACTERS_PER_TICK: Final = 4096
_MAX_NUMBER_BITS: Final = 10_000
_MAX_INDENT: Final = 1000

_FILTERS: Final = {
    "abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float",
    "groupby", "indent", "int", "items", "join", "last", "length", "list", "lower", "map", "max",
    "min", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select", "selectattr",
    "sort", "string", "sum", "title", "tojson", "trim", "unique", "upper", "wordcount",
}  # fmt: skip
_STRING_METHODS: Final = {
    "capitalize", "casefold", "count", "endswith", "find", "format", "index", "isalnum",
    "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle",
    "isupper", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
    "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith",
    "strip", "swapcase", "title", "upper",
}  # fmt: skip
_WRITING: Final = {"capitalize", "escape", "e", "indent", "join", "lower", "replace", "safe",
                   "string", "title", "tojson", "trim", "upper", "wordcount"}  # fmt: skip
"""Filters that write out what they get."""
_ITERATING: Final = {"groupby", "join", "list", "map", "max", "min", "reject", "rejectattr",
                     "reverse", "select", "selectattr", "sort", "sum", "unique"}  # fmt: skip
"""Filters that go through what they get, character by character if it is text."""
_OF_MAPPINGS: Final = frozenset(dir(dict))
_NOTHING: Final = object()
_WIDE_FORMAT: Final = re.compile(r":[^}]*(\d{4}|\{)")
_WIDE_PERCENT: Final = re.compile(r"%[^a-zA-Z%]*(\d{4}|\*)")

RENDER_FAILURES: Final = (
    TemplateError, ArithmeticError, AttributeError, LookupError, MemoryError, NameError,
    RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What rendering a stranger's template may raise, limits apart."""
COMPILE_FAILURES: Final = (*RENDER_FAILURES, SyntaxError, AssertionError)


class OverLimit(Exception):
    """A template took too long or made too much; the argument says which ("it took…").

    Not one of `RENDER_FAILURES`: repairing the conversation does not help.
    """


class Meter:
    """What one render may still spend. Starts when made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._deadline = clock() + RENDER_SECONDS
        self._left = MAX_WORK_CHARACTERS
        self._ticks = 0

    def tick(self, count: int = 1) -> None:
        """Raise OverLimit when the time is over; looks at the clock now and then.

        `count` makes more work cost more.
        """
        self._ticks += count
        if self._ticks < _TICKS_PER_LOOK:
            return
        self._ticks = 0
        if self._clock() > self._deadline:
            raise OverLimit(f"it took longer than {RENDER_SECONDS:g} seconds")

    def spend(self, characters: int) -> None:
        """Take characters off the account before they are made. Raises OverLimit."""
        self.tick(1 + characters // _CHARACTERS_PER_TICK)
        self._left -= characters
        if characters > MAX_TEXT_CHARACTERS or self._left < 0:
            raise OverLimit("it made more text than any model can read")


class _Source(Extension):
    """Reading a source: every token costs a tick, and `{% generation %}` (for training) is nothing."""

    tags = {"generation"}  # noqa: RUF012  # the base class declares it so

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """The tokens, one by one."""
        sandbox = cast(TemplateSandbox, self.environment)
        for token in stream:
            sandbox.meter.tick()
            yield token

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The body alone."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _MeteredCode(CodeGenerator):
    """Writing Python code, with a tick for every node; in it `~` is paid for, too."""

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """As jinja2's, with a tick."""
        cast(TemplateSandbox, self.environment).meter.tick()
        return super().visit(node, *args, **kwargs)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """`a ~ b ~ c`."""
        self.write("environment.join_values((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        """`[a, b]`, weighed."""
        self.write("environment.weighed(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """`{a: b}`, weighed."""
        self.write("environment.weighed(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        """`(a, b)`, weighed, unless it is assigned to."""
        if node.ctx != "load":
            super().visit_Tuple(node, frame)
            return
        self.write("environment.weighed(")
        super().visit_Tuple(node, frame)
        self.write(")")


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """The environment of one model's chat template.

    Not for several threads at once. `meter` is that of the last compilation or rendering;
    `names_read` are the variables the source compiled last reads.
    """

    code_generator_class = _MeteredCode
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,  # constant expressions would run at compile time
            finalize=self._printable,
            extensions=[_Source, loopcontrols],
        )
        self.meter = Meter()
        self.names_read: frozenset[str] = frozenset()
        self.filters |= {"tojson": _to_json, "from_json": json.loads, "safe": str}
        self.filters = {
            name: self._metered(name, function)
            for name, function in self.filters.items()
            if name in _FILTERS or name == "from_json"
        }
        self.tests = {name: self._metered("", function) for name, function in self.tests.items()}
        del self.globals["lipsum"]
        self.globals["raise_exception"] = _raise_exception

    def compile_template(self, source: str, meter: Meter) -> Template:
        """Compile. Raises COMPILE_FAILURES, OverLimit."""
        self.meter = meter
        if len(source) > MAX_SOURCE_CHARACTERS:
            raise OverLimit(f"it has {len(source):,} characters")
        return self.from_string(source)

    def run(self, template: Template, variables: Mapping[str, Any], meter: Meter) -> str:
        """Render. Raises RENDER_FAILURES, OverLimit."""
        self.meter = meter
        try:
            return self.concat(template.generate(variables))
        except RecursionError:
            raise OverLimit("it calls itself without end") from None
        except MemoryError:
            raise OverLimit("it needs too much memory") from None

    # ---- ticks

    def tick(self) -> None:
        """Called by every step of every loop; see `_parse`."""
        self.meter.tick()

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        names = tree.find_all(nodes.Name)
        self.names_read = frozenset(name.name for name in names if name.ctx == "load")
        for loop in list(tree.find_all(nodes.For)):
            call = nodes.Call(nodes.EnvironmentAttribute("tick"), [], [], None, None)
            loop.body.insert(0, nodes.ExprStmt(call).set_lineno(loop.lineno))
        return tree

    def getattr(self, obj: Any, attribute: str) -> Any:
        """As jinja2's, with a tick, and faster where the answer is clear."""
        self.meter.tick()
        if type(obj) is dict and attribute not in _OF_MAPPINGS:
            found = obj.get(attribute, _NOTHING)
            return self.undefined(obj=obj, name=attribute) if found is _NOTHING else found
        if type(obj) is str and attribute in _STRING_METHODS and attribute != "format":
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """As jinja2's, with a tick."""
        self.meter.tick()
        return super().getitem(obj, argument)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """As jinja2's, with a tick, and string methods paid for before they run."""
        self.meter.tick()
        owner = getattr(getattr(function, "__wrapped__", function), "__self__", None)
        if isinstance(owner, str):
            self._pay_for_method(owner, function.__name__, (*args, *kwargs.values()))
        result = super().call(context, function, *args, **kwargs)
        if isinstance(owner, list):
            self.weighed(owner)  # it may have grown
        return self._paid(result)

    def _metered(self, name: str, function: Any) -> Callable[..., Any]:
        @wraps(function)
        def metered(*args: Any, **kwargs: Any) -> Any:
            self.meter.tick()
            if name in _WRITING:
                args = tuple(self._written(value) for value in args)
            for value in args if name in _ITERATING else ():
                _check_items(len(value) if isinstance(value, str | list | tuple | dict) else 0)
            if name == "replace":
                self._pay_for_method(str(args[1]), name, args[2:])
            if name == "indent":
                _check_indent((*args[1:], *kwargs.values()))
            return self._paid(function(*args, **kwargs))

        return metered

    def _paid(self, result: Any) -> Any:
        """A result, paid for: text by its length, lists and mappings by what is in them."""
        if isinstance(result, str):
            self.meter.spend(len(result))
        elif isinstance(result, list | tuple | dict):
            self.weighed(result)
        return result

    # ---- sizes

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Fewer string methods; lists may grow and shrink (Kimi K2 keeps a queue of tool calls).

        Every list a template can reach was made for this one render.
        """
        if isinstance(obj, str) and callable(value):
            return attr in _STRING_METHODS
        if isinstance(obj, list) and attr in ("append", "pop"):
            return True
        return bool(super().is_safe_attribute(obj, attr, value))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """`+ * ** %`, refused when the result would be huge."""
        self.meter.tick()
        if operator == "+" and type(left) is str and type(right) is str:
            self.meter.spend(len(left) + len(right))
            return left + right
        if operator == "%":
            if isinstance(left, str):
                self._pay_for_format(left, left.count("%"), (right,))
        elif operator == "+":
            self._pay_for_sum(left, right)
        elif operator == "*":
            self._pay_for_product(left, right)
        elif _bits(left) * max(1, _whole(right)) > _MAX_NUMBER_BITS:
            raise OverLimit("it computed too large a number")
        return super().call_binop(context, operator, left, right)

    def _pay_for_sum(self, left: Any, right: Any) -> None:
        if isinstance(left, str) and isinstance(right, str):  # Markup
            self.meter.spend(6 * (len(left) + len(right)))
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            _check_items(self._parts(left) + self._parts(right))

    def _pay_for_product(self, left: Any, right: Any) -> None:
        for many, times in ((left, right), (right, left)):
            if isinstance(many, str):
                self.meter.spend(len(many) * max(0, _whole(times)))
            elif isinstance(many, list | tuple):
                _check_items(self._parts(many) * max(0, _whole(times)))
        if _bits(left) + _bits(right) > _MAX_NUMBER_BITS:
            raise OverLimit("it computed too large a number")

    def _pay_for_method(self, owner: str, name: str, args: Sequence[Any]) -> None:
        if name == "join" and args:
            items = args[0] if isinstance(args[0], list | tuple) else ()
            self.meter.spend(len(owner) * len(items) + sum(map(_length, items)))
        elif name == "replace" and len(args) >= 2:
            found = owner.count(str(args[0])) if args[0] else len(owner) + 1
            self.meter.spend(len(owner) + found * len(str(args[1])))
        elif name in ("format", "format_map"):
            self._pay_for_format(owner, owner.count("{"), args)
        elif name in ("split", "rsplit", "splitlines"):
            mark = args[0] if args else None
            _check_items(owner.count(mark) if isinstance(mark, str) and mark else len(owner) // 2)

    def _pay_for_format(self, owner: str, fields: int, args: Sequence[Any]) -> None:
        if _WIDE_PERCENT.search(owner) or _WIDE_FORMAT.search(owner):
            raise SecurityError("this way of formatting is not allowed")
        self.meter.spend(len(owner) + fields * sum(map(self._written_size, args)))

    def concat(self, pieces: Iterable[str]) -> str:
        """`"".join`, within the limits; jinja2 uses it for blocks, macros and the whole."""
        found: list[str] = []
        length = 0
        for piece in pieces:
            self.meter.tick()
            found.append(piece)
            length += len(piece)
            self.meter.spend(len(piece))
            if length > MAX_TEXT_CHARACTERS:
                self.meter.spend(length)
        return "".join(found)

    def _printable(self, value: Any) -> Any:
        """What `{{ }}` prints: lists and mappings are weighed first."""
        return value if isinstance(value, str | Undefined) else self._written(value)

    def join_values(self, values: Sequence[Any]) -> str:
        """`~`, paid for; called by the code of `_MeteredCode`."""
        self.meter.spend(sum(map(self._written_size, values)))
        return "".join(map(str, values))

    def weighed(self, value: Any) -> Any:
        """The value, if it has not too much in it; called by the code of `_MeteredCode`, too."""
        self._measured(value)
        return value

    def _written(self, value: Any) -> Any:
        """The value, once its written form is paid for; generators become lists."""
        if isinstance(value, GeneratorType):
            value = list(islice(value, _MAX_ITEMS))
        self.meter.spend(self._written_size(value))
        return value

    def _parts(self, value: Any) -> int:
        return self._measured(value)[0]

    def _written_size(self, value: Any) -> int:
        return sum(self._measured(value))

    def _measured(self, value: Any) -> tuple[int, int]:
        """Parts and characters of a value, the same part as often as it is in it."""
        if isinstance(value, str):
            return 1, len(value)
        characters = seen = 0
        waiting = [value]
        while waiting:
            part = waiting.pop()
            seen += 1
            if isinstance(part, str):
                characters += len(part)
            elif isinstance(part, Mapping):
                waiting.extend(part.keys())
                waiting.extend(part.values())
            elif isinstance(part, list | tuple):
                waiting.extend(part)
            _check_items(seen + len(waiting))
        self.meter.tick(seen)
        return seen, characters


def _to_json(
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002  # transformers' own signature
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002  # likewise
) -> str:
    if indent is not None and indent > _MAX_INDENT:
        raise OverLimit("it indented too far")
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
        default=_json_part,
    )


def _json_part(part: Any) -> Any:
    """What `map` and `select` give, as a list (llama.cpp's own engine gives lists)."""
    if isinstance(part, GeneratorType):
        return list(part)
    raise TypeError(f"{type(part).__name__} cannot be written as JSON")


def _raise_exception(message: Any = "") -> None:
    raise TemplateRuntimeError(message[:300] if isinstance(message, str) else "")


def _check_items(count: int) -> None:
    if count > _MAX_ITEMS:
        raise OverLimit("it made too long a list")


def _check_indent(values: Iterable[Any]) -> None:
    if any(_whole(value) > _MAX_INDENT or _length(value) > _MAX_INDENT for value in values):
        raise OverLimit("it indented too far")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0
