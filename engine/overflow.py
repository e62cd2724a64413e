"""Whether a server's error text says that the prompt did not fit the window. Pure.

Servers say it in many ways, and some of them with HTTP status 200 in the middle of a stream, so
the text decides. This is the one catalogue (SPEC1 12.5.2); a new server is a new line here and a
row with its real text in the tests. Not overflow: limits by time, quotas, billing, our own guard's
sentence about a small window, and a reply limit that is too large for a prompt that fits.
"""

import re
from dataclasses import dataclass

_READ_CHARS = 20_000  # of an error text; a trace may follow


@dataclass(frozen=True, slots=True)
class OverflowText:
    """What an overflow text states, in tokens; 0 where it does not say."""

    prompt_tokens: int = 0
    window_tokens: int = 0


def find_overflow(text: str) -> OverflowText | None:
    """The sizes an overflow text states, or None for a text about something else."""
    text = text[:_READ_CHARS]
    if _OTHER.search(text) or not _OVERFLOW.search(text):
        return None
    return OverflowText(_first(_PROMPT_SIZES, text), _first(_WINDOW_SIZES, text))


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int:
    for pattern in patterns:
        if match := pattern.search(text):
            return int(match[1].replace(",", ""))
    return 0


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _each(*patterns: str) -> tuple[re.Pattern[str], ...]:
    number = r"(\d[\d,]{0,14})"
    return tuple(re.compile(text.replace("#", number), re.IGNORECASE) for text in patterns)


# ---- the catalogue ------------------------------------------------------------------------------

_OTHER = _any(
    r"rate[ _-]?limit",
    r"too many requests",
    r"tokens? per (?:minute|hour|day|second)|tokens/min",
    r"\b[TR]P[MDS]\b",
    r"\bquota",
    r"\bbilling\b|credit balance|insufficient (?:balance|funds|credit)|payment required",
    r"usage limit|throttl",
    r"每分钟|过于频繁|限流|配额|余额不足|欠费",
    r"(?:status|code|http|error)\W{0,4}429\b",
    # Our own guard, and others of its kind: no request was made.
    r"(?:context )?window (?:of [\d,]+ (?:tokens )?)?(?:is )?(?:too small|below the (?:hard )?minimum)",
    r"context window too small",
    # The reply's limit, while the prompt fits.
    r"(?<!\+ )(?<!\+ `)max_(?:completion_|output_|new_)?tokens\W{0,6}(?:or\W{0,4}max_(?:completion_|output_)?tokens\W{0,6})?"
    r"(?:is too large|is too high|must be|cannot be|should be|exceeds the (?:model|maximum output))",
    r"maximum allowed number of output tokens|invalid\W{0,3}max_(?:completion_|output_)?tokens",
    r"physical batch size",
)

_SUBJECT = r"(?:prompt|input|request|messages?|conversation|context)"
_OVERFLOW = _any(
    # llama.cpp server, llamafile, Ollama's runners
    r"exceed_context_size_error",
    r"exceeds? (?:the )?(?:available |model's |model |maximum |max )*context",
    r"context (?:size|length|window|limit) (?:has been |was |is |have been )?exceed",
    r"exceed(?:s|ed|ing)? (?:the )?(?:max(?:imum)? )?context (?:length|size|window|limit)",
    # Ollama
    r"input length\b.{0,30} exceeds",
    r"prompt (?:is )?too long|prompt is longer than the context",
    # OpenAI and what speaks like it: vLLM, SGLang, DeepSeek, OpenRouter, LiteLLM
    r"context_length_exceeded|context_window_exceeded|ContextWindowExceeded",
    r"maximum context length|max context length|context length is only",
    r"(?:longer|larger|greater) than (?:the )?(?:model's |maximum |max )*(?:model|context|prompt|sequence) ?"
    r"(?:length|size|window)",
    r"(?:longer|larger|greater) than (?:the )?max_(?:seq_len|model_len|position_embeddings)",
    r"longer than the specified maximum sequence length",
    r"maximum (?:prompt|input|sequence) length",
    r"reduce the length of the (?:messages?|prompt|input)",
    # LM Studio
    r"tokens to keep from the initial prompt is greater",
    r"trying to keep the first [\d,]+ tokens when context",
    r"reached context length of|mid-generation context overflow|context overflow(?:s|ed)?\b",
    # llama-cpp-python, GPT4All
    r"requested tokens \([\d,]+\) exceed context window",
    r"prompt (?:size )?exceeds the context",
    # TGI, Together
    r"inputs`? tokens \+ `?max_new_tokens`? must be",
    r"`?inputs`? must have less than [\d,]+ tokens",
    # Anthropic, Bedrock, Google, Mistral, xAI, Moonshot, Copilot, DashScope
    r"exceeds? (?:the )?context (?:limit|window)|exceed context limit",
    r"request_too_large|request exceeds the maximum size",
    r"(?:input|prompt|content) is too long|too many input tokens",
    r"token count\b.{0,40} exceeds",
    r"exceeds? the maximum number of (?:input )?tokens",
    r"too large for model with [\d,]+ maximum context",
    r"total number of tokens in the prompt exceeds",
    r"input tokens exceed the configured limit",
    r"context (?:window|length|size) exceeds (?:the )?limit",
    r"exceed(?:s|ed)? (?:the |model |model's |maximum |max |input )*token limit",
    r"token limit (?:was |is |has been )?exceeded|over the token limit",
    r"range of input length should be",
    rf"{_SUBJECT} (?:is |was )?too (?:long|large) for (?:the |this |requested )?(?:model|context)",
    r"\b413\b.{0,60}too large|too large.{0,60}\b413\b",
    r"request entity too large|payload too large|content too large",
    # Chinese
    r"(?:上下文|提示词?|输入|请求|消息|对话|内容|文本)[^，。；\n]{0,10}(?:过长|太长|超长)",
    r"(?:超出|超过|大于|超限)[^。；\n]{0,24}(?:最大长度|上下文|长度限制|长度上限|最大(?:输入|token)|token ?(?:数|上限|限制))",
    r"(?:token|令牌|上下文长度|输入长度)[^。；\n]{0,12}(?:超出|超过|超限)",
)

_PROMPT_SIZES = _each(
    r"n_prompt_tokens\W{1,8}#",
    r"request \(# tokens\)",
    r"input (?:length )?\(# tokens\)",
    r"prompt (?:is )?too long:? \(?# tokens",
    r"\(# in (?:the messages|your prompt)",
    r"\(# of text input",
    r"passed # input tokens",
    r"(?:has|have|contains?) # (?:input )?tokens",
    r"resulted in (?:about )?# tokens",
    r"requested (?:about |a total of )?# tokens",
    r"requested tokens \(#\)",
    r"\(requested:? #\)",
    r"prompt contains # tokens",
    r"input token count (?:of |is |\()?#",
    r"token count(?: of |: | is | \()#",
    r"given:? # `?inputs",
    r"given:? #",
    r"keep the first # tokens",
    r"prompt \(length #\)",
    r"(?:prompt|context) length #",
    r"context limit: # \+",
    r"\(# > [\d,]+\)",
)

_WINDOW_SIZES = _each(
    r"n_ctx\W{1,8}#",
    r"context size \(# tokens\)",
    r"context length \(# tokens\)",
    r"context length (?:is|of)(?: only)? #",
    r"context window (?:of|is)(?: only)? #",
    r"tokens > #",
    r"maximum number of tokens allowed \(#\)",
    r"(?:maximum |max )?(?:model|prompt) length (?:is|of) #",
    r"model with # maximum context",
    r"max_(?:seq_len|model_len) (?:of |is )?#",
    r"must be <= #",
    r"must have less than # tokens",
    r"context limit: [\d,]+ \+ [\d,]+ > #",
    r"max input tokens:? #",
    r"(?:maximum|max) context (?:length|window) (?:is|of) #",
    r"(?:token )?limit(?: of|:| is) #",
    r"tokens, max #",
    r"\([\d,]+ > #\)",
    r"input length should be \[\d+, ?#\]",
)
