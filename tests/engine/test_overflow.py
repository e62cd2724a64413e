"""Which error texts say that the prompt did not fit, and which sizes they state."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.overflow import OverflowText, find_overflow
from engine.testing.ollama_rules import nested_overflow
from engine.window import ContextWindow, Endpoint, guard_words, plan_guard

LLAMA_SERVER = json.dumps(
    {
        "error": {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 20012,
            "n_ctx": 16384,
        }
    }
)

# name of the row: the server's words, prompt tokens, window tokens
TEXTS = {
    "llama.cpp-json": (LLAMA_SERVER, 20012, 16384),
    "llama.cpp-request": (
        "request (20012 tokens) exceeds the available context size (16384 tokens), try increasing it",
        20012,
        16384,
    ),
    "llama.cpp-window-only": (
        "the request exceeds the available context size (16384 tokens), try increasing it",
        0,
        16384,
    ),
    "llama.cpp-older": (
        "the request exceeds the available context size. try increasing the context size or "
        "enable context shift",
        0,
        0,
    ),
    "llama.cpp-mid-reply": ("Context size has been exceeded.", 0, 0),
    "llama.cpp-cli": ("error: prompt is too long (20012 tokens, max 16380)", 20012, 16380),
    "ollama-0.12": ("the input length exceeds the context length", 0, 0),
    "ollama-0.30-nested": (nested_overflow(20012, 16384), 20012, 16384),
    "ollama-escaped-again": (json.dumps({"error": nested_overflow(20012, 16384)}), 20012, 16384),
    "ollama-mlx": (
        "input length (20012 tokens) exceeds the model's maximum context length (16384 tokens)",
        20012,
        16384,
    ),
    "ollama-excess": ("prompt too long; exceeded max context length by 4 tokens", 0, 0),
    "ollama-runner": ("prompt is longer than the context window", 0, 0),
    "openai-completion": (
        "This model's maximum context length is 16384 tokens. However, you requested 20612 tokens "
        "(20012 in the messages, 600 in the completion). Please reduce the length of the messages "
        "or completion.",
        20012,
        16384,
    ),
    "openai-older": (
        "This model's maximum context length is 8191 tokens, however you requested 10351 tokens "
        "(10346 in your prompt; 5 for the completion). Please reduce your prompt; or completion "
        "length.",
        10346,
        8191,
    ),
    "openai-limit": (
        "Input tokens exceed the configured limit of 16384 tokens. Your messages resulted in 20012 "
        "tokens. Please reduce the length of the messages.",
        20012,
        16384,
    ),
    "openai-messages": (
        "This model's maximum context length is 16384 tokens. However, your messages resulted in "
        "20012 tokens. Please reduce the length of the messages.",
        20012,
        16384,
    ),
    "openai-code": ('{"error":{"code":"context_length_exceeded","param":"messages"}}', 0, 0),
    "openai-responses": (
        "Your input exceeds the context window of this model. Please adjust your input and try "
        "again.",
        0,
        0,
    ),
    "vllm-requested": (
        "This model's maximum context length is 16384 tokens. However, you requested 20012 tokens "
        "in the messages, Please reduce the length of the messages.",
        20012,
        16384,
    ),
    "vllm-decoder": (
        "The decoder prompt (length 20012) is longer than the maximum model length of 16384. Make "
        "sure that `max_model_len` is no smaller than the number of text tokens.",
        20012,
        16384,
    ),
    "vllm-passed": (
        "You passed 20012 input tokens and requested 512 output tokens. However, the model's "
        "context length is only 16384 tokens, resulting in a maximum input length of 15872 tokens. "
        "Please reduce the length of the input prompt.",
        20012,
        16384,
    ),
    "sglang": (
        "The input (20012 tokens) is longer than the model's context length (16384 tokens).",
        20012,
        16384,
    ),
    "sglang-total": (
        "Requested token count exceeds the model's maximum context length of 16384 tokens. You "
        "requested a total of 20012 tokens: 19500 tokens from the input messages and 512 tokens "
        "for the completion.",
        20012,
        16384,
    ),
    "lmstudio-keep": (
        "The number of tokens to keep from the initial prompt is greater than the context length. "
        "Try to load the model with a larger context length, or provide a shorter input",
        0,
        0,
    ),
    "lmstudio-trying": (
        "Trying to keep the first 20012 tokens when context the overflows. However, the model is "
        "loaded with context length of only 16384 tokens, which is not enough. Try to load the "
        "model with a larger context length, or provide a shorter input",
        20012,
        16384,
    ),
    "lmstudio-corrected": (
        "Trying to keep the first 20012 tokens when context overflows. However, the model is "
        "loaded with context length of only 16384 tokens, which is not enough.",
        20012,
        16384,
    ),
    "omlx": (
        "Prompt too long: 20012 tokens exceeds max context window of 16384 tokens",
        20012,
        16384,
    ),
    "minimax": ("invalid params, context window exceeds limit (2013)", 0, 0),
    "lmstudio-mid-reply": (
        "Reached context length of 4096 tokens with model (arch: gemma3) that does not currently "
        "support mid-generation context overflow. Try reloading with a larger context length.",
        0,
        4096,
    ),
    "llama-cpp-python": (
        "Requested tokens (20012) exceed context window of 16384",
        20012,
        16384,
    ),
    "gpt4all": (
        "The prompt size exceeds the context window size and cannot be processed.",
        0,
        0,
    ),
    "tgi-sum": (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 16384. Given: 20012 "
        "`inputs` tokens and 512 `max_new_tokens`",
        20012,
        16384,
    ),
    "tgi-inputs": (
        "Input validation error: `inputs` must have less than 16384 tokens. Given: 20012",
        20012,
        16384,
    ),
    "tgi-plain": (
        "inputs tokens + max_new_tokens must be <= 8192. Given: 20012 inputs tokens and 512 "
        "max_new_tokens",
        20012,
        8192,
    ),
    "tabbyapi": ("Prompt length 20012 is greater than max_seq_len 16384", 20012, 16384),
    "transformers": (
        "Token indices sequence length is longer than the specified maximum sequence length for "
        "this model (20012 > 16384). Running this sequence through the model will result in "
        "indexing errors",
        20012,
        16384,
    ),
    "anthropic-prompt": ("prompt is too long: 213,462 tokens > 200,000 maximum", 213462, 200000),
    "anthropic-limit": (
        "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease "
        "input length or `max_tokens` and try again",
        190000,
        200000,
    ),
    "anthropic-size": (
        '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the '
        'maximum size"}}',
        0,
        0,
    ),
    "bedrock": ("ValidationException: Input is too long for requested model.", 0, 0),
    "bedrock-figures": (
        "Too many input tokens. Max input tokens: 16384, request input token count: 20012",
        20012,
        16384,
    ),
    "google": (
        "The input token count (20012) exceeds the maximum number of tokens allowed (16384).",
        20012,
        16384,
    ),
    "mistral": (
        "Prompt contains 20012 tokens and 0 draft tokens, too large for model with 16384 maximum "
        "context length",
        20012,
        16384,
    ),
    "xai": (
        "This model's maximum prompt length is 16384 but the request contains 20012 tokens.",
        20012,
        16384,
    ),
    "openrouter": (
        "This endpoint's maximum context length is 16384 tokens. However, you requested about "
        "20612 tokens (20012 of text input, 600 in the output). Please reduce the length of either "
        "one.",
        20012,
        16384,
    ),
    "copilot": ("prompt token count of 20012 exceeds the limit of 16384", 20012, 16384),
    "cohere": (
        "too many tokens: total number of tokens in the prompt exceeds the limit of 16384",
        0,
        16384,
    ),
    "moonshot": (
        "Invalid request: Your request exceeded model token limit: 16384 (requested: 20012)",
        20012,
        16384,
    ),
    "litellm": ("litellm.ContextWindowExceededError: BadRequestError", 0, 0),
    "z.ai": ("model_context_window_exceeded", 0, 0),
    "dashscope": ("Range of input length should be [1, 16384]", 0, 16384),
    "http-413": ("413 Request Entity Too Large", 0, 0),
    "http-413-payload": ("error code: 413 (Payload Too Large)", 0, 0),
    "zh-context": ("上下文过长，请缩短对话后重试", 0, 0),
    "zh-maximum": ("输入内容超出模型支持的最大长度", 0, 0),
    "zh-window": ("请求的 token 数超过了上下文窗口限制", 0, 0),
    "zh-prompt": ("提示词太长", 0, 0),
    "zh-limit": ("输入长度超出限制", 0, 0),
}

OTHERS = {
    "rate": "Rate limit reached for requests. Please try again in 20s.",
    "rate-code": '{"error":{"type":"rate_limit_exceeded","message":"slow down"}}',
    "tpm": "Request too large for model `small` on tokens per minute (TPM): Limit 6000, Requested "
    "20012, please reduce your message size. HTTP 413",
    "tpd": "Limit 500000 TPD reached, used 499000, requested 2000 tokens",
    "429": "HTTP status 429: too many tokens",
    "too-many": "429 Too Many Requests: token limit exceeded",
    "quota": "You exceeded your current quota, please check your plan; token limit exceeded",
    "billing": "Your credit balance is too low to access the API. Prompt is too long to be free.",
    "reply-limit": "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum "
    "context length is 16384 tokens and your request has 13000 input tokens (4096 > 16384 - 13000).",
    "reply-least": "max_tokens must be at least 1, got 0",
    "reply-most": "max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens",
    "batch": "input (900 tokens) is too large to process. increase the physical batch size",
    "guard": "Context window too small: 4,096 tokens, and at least 16,000 are needed.",
    "busy": "server busy, please try again.  maximum pending requests exceeded",
    "memory": "model requires more system memory (8.0 GiB) than is available (4.0 GiB)",
    "absent": "model 'heron' not found",
    "retries": "max retries exceeded: EOF",
    "tool": "invalid character in tool call arguments",
    "timeout": "context deadline exceeded",
    "canceled": "context canceled",
    "zh-rate": "请求过于频繁，每分钟 token 数超过上限",
    "zh-balance": "账户余额不足，请求超出最大长度限制前请充值",
    "empty": "",
}


@pytest.mark.parametrize(("text", "prompt", "window"), TEXTS.values(), ids=TEXTS.keys())
def test_overflow_text_is_recognised_with_its_sizes(text, prompt, window):
    """What a server really says when a prompt does not fit, and the tokens it states."""
    assert find_overflow(text) == OverflowText(prompt, window)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS.keys())
def test_other_errors_are_no_overflow(text):
    """Limits by time, money, memory and the reply's own limit: compacting would not help."""
    assert find_overflow(text) is None


@pytest.mark.parametrize("tokens", [4_096, 15_999, 20_000])
def test_our_own_guard_is_no_overflow(tokens):
    """A window under the minimum is not answered by compacting: no request was made."""
    window = ContextWindow(tokens, "model")
    words = guard_words("ollama:heron", window, plan_guard(tokens), Endpoint())
    assert words is not None
    assert find_overflow(f"{words.sentence} {words.remedy}") is None


@pytest.mark.parametrize("text", [row[0] for row in TEXTS.values()], ids=TEXTS.keys())
def test_case_and_what_stands_around_do_not_matter(text):
    """A client wraps the server's words in its own, and some shout."""
    assert find_overflow(f"HTTP 400 Bad Request: {text.upper()} (request id 7)") is not None


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    """Whatever a server sends is answered, and sizes are never negative."""
    found = find_overflow(text)
    assert found is None or min(found.prompt_tokens, found.window_tokens) >= 0


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_figures_are_read_whatever_they_are(prompt, window):
    """Sizes come out as they were put in, with and without thousands separators."""
    text = f"prompt is too long: {prompt:,} tokens > {window} maximum"
    assert find_overflow(text) == OverflowText(prompt, window)
