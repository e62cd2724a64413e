"""One contract for every Ollama server: the window, the reply, and clients that leave.

See test_ollama_contract.py; lengths are tokens as the server itself counts them.
"""

import json

from tests.backends.contract_peer import (
    ROOM,
    WINDOW,
    moment,
    overflow,
    said,
    sentence,
    since,
    with_system,
)

METRICS = {
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
}


# ---- the window ---------------------------------------------------------------------------------


def test_the_same_prompt_counts_the_same(peer):
    """Also when most of it is still in the cache."""
    text = sentence(100)
    first, again = (peer.told(text)["prompt_eval_count"] for _ in range(2))
    assert first == again


def test_old_messages_vanish_whole(peer):
    """200, and the model read the system prompt and the last message as if the rest never was."""
    last = sentence(100)
    talk = with_system(sentence(20), said(sentence(300), sentence(450), last))
    told = peer.told(talk, window=WINDOW)
    assert told["prompt_eval_count"] == peer.count(with_system(sentence(20), said(last)))


def test_messages_that_fit_all_stay(peer):
    """Nothing is kept free for the reply."""
    talk = with_system(sentence(20), said(sentence(100), sentence(100), sentence(100)))
    assert peer.told(talk, window=WINDOW)["prompt_eval_count"] == peer.count(talk)


def test_a_message_longer_than_the_window(peer):
    """Cut in its middle to the window or to half of it; a native chat is refused with both sizes."""
    text = sentence(900)
    sent = peer.count(text)
    got = peer.chat(text, window=WINDOW)
    if peer.path == "native" and peer.version >= (0, 30, 0):
        assert overflow(got) == (sent, WINDOW)
    elif (0, 4, 0) <= peer.version < (0, 30, 0):
        assert got.json["prompt_eval_count"] == WINDOW
    else:
        assert WINDOW // 2 <= got.json["prompt_eval_count"] <= WINDOW // 2 + 8


def test_a_client_may_forbid_the_cut(peer):
    """400 with both sizes since 0.30, without them before; older servers do not listen."""
    talk = said(sentence(300), sentence(450), sentence(100))
    sent = peer.count(talk)
    got = peer.chat(talk, window=WINDOW, truncate=False)
    if peer.version >= (0, 30, 0):
        assert overflow(got) == (sent, WINDOW)
    elif peer.version >= (0, 12, 6):
        assert got.error == (400, "the input length exceeds the context length")
    else:
        assert 0 < got.json["prompt_eval_count"] < sent


@since(0, 12, 6)
def test_a_stream_that_is_refused_has_its_status(peer):
    """Since 0.12.6 the first error of a stream is no line of a 200."""
    got = peer.chat(sentence(900), window=WINDOW, truncate=False, shift=False, stream=True)
    assert got.error[0] == 400


@since(0, 12, 6)
def test_a_prompt_may_leave_room_for_one_token(peer):
    """One token below the window is read whole by every server that lets itself be forbidden.

    Before 0.30 a reply has one more: the last token needs no place.
    """
    full = {"window": WINDOW, "truncate": False, "shift": False}
    told = peer.told(peer.exactly(WINDOW - 1), **full, **peer.endless())
    assert told["prompt_eval_count"] == WINDOW - 1
    assert (told["done_reason"], told["eval_count"]) == ("length", 1 + more(peer))


def more(peer):
    """How many tokens more than the window holds a prompt and its reply have."""
    return int(peer.version < (0, 30, 0))


@since(0, 12, 6)
def test_a_prompt_as_long_as_the_window(peer):
    """Too long since 0.30, when the window has to hold a token of the reply."""
    got = peer.chat(peer.exactly(WINDOW), window=WINDOW, truncate=False, shift=False)
    if peer.version >= (0, 30, 0):
        assert overflow(got) == (WINDOW, WINDOW)
    else:
        assert got.json["prompt_eval_count"] == WINDOW


@since(0, 30, 9)
def test_a_prompt_that_may_not_shift_is_not_cut_either(peer):
    """Since 0.30.9, of a rendered chat: in words, without the sizes."""
    got = peer.chat(sentence(900), window=WINDOW, shift=False)
    if peer.path == "native":
        assert overflow(got)[1] == WINDOW
    else:
        assert got.error[0] == 400
        assert got.error[1].startswith("the prompt is longer than the context length")


# ---- the reply ----------------------------------------------------------------------------------


def test_a_reply_ends_where_it_was_told_to(peer):
    """Its length is told as the reason."""
    told = peer.told("count to a thousand", reply=5, **peer.endless())
    assert (told["done_reason"], told["eval_count"]) == ("length", 5)


@since(0, 30, 0)
def test_a_native_reply_of_no_tokens_has_one(peer):
    """Only a rendered chat takes none for no limit."""
    if peer.path == "native":
        told = peer.told("hi", reply=0, **peer.endless())
        assert (told["done_reason"], told["eval_count"]) == ("length", 1)


def test_a_reply_ends_before_a_stop(peer):
    """The text that stops it is not sent."""
    body = {"model": peer.model, "prompt": "one, two, three, four", "raw": True, "stream": False}
    options = {"num_ctx": ROOM, "num_predict": 40, "temperature": 0}
    free = peer.post("/api/generate", **body, options=options).json["response"]
    stop = free.split()[2]
    told = peer.post("/api/generate", **body, options={**options, "stop": [stop]}).json
    assert told["done_reason"] == "stop"
    assert told["response"] == free[: free.index(stop)]


@since(0, 12, 6)
def test_a_full_window_ends_the_reply(peer):
    """Where the client forbids to shift; prompt and reply are then as long as the window."""
    told = peer.told(sentence(100), window=256, reply=-1, shift=False, **peer.endless())
    assert told["done_reason"] == "length"
    assert told["prompt_eval_count"] + told["eval_count"] == 256 + more(peer)


def test_a_full_window_forgets_and_goes_on(peer):
    """Unless it is forbidden to, and nothing tells of it but the counts."""
    told = peer.told(sentence(100), window=256, reply=400, **peer.endless())
    assert told["eval_count"] == 400
    assert told["prompt_eval_count"] < 256


def test_a_stream_is_one_object_a_line(peer):
    """All of them not done but the last, which has the metrics and the reason."""
    got = peer.chat("hi", reply=8, stream=True, **peer.endless())
    assert (got.status, got.kind) == (200, "application/x-ndjson")
    assert got.raw.endswith(b"}\n")
    *middle, last = got.lines
    assert [item["done"] for item in got.lines] == [False] * len(middle) + [True]
    assert {frozenset(item) for item in middle} == {
        frozenset(["model", "created_at", "message", "done"])
    }
    assert {item["message"]["role"] for item in got.lines} == {"assistant"}
    assert last.keys() >= METRICS | {"done_reason"}
    assert all(isinstance(last[name], int) for name in METRICS)
    assert moment(last["created_at"]) >= moment(middle[0]["created_at"])


def test_a_reply_comes_in_one_piece_if_asked(peer):
    """The same text as in a stream, the same counts."""
    same = {"options": {"seed": 7, "temperature": 0}, "reply": 8, **peer.endless()}
    whole = peer.told("hi", **same)
    streamed = peer.chat("hi", stream=True, **same).lines
    assert whole["message"]["content"] == "".join(line["message"]["content"] for line in streamed)
    assert whole.keys() == streamed[-1].keys()
    assert whole["eval_count"] == streamed[-1]["eval_count"]


def test_a_reply_streams_if_nothing_is_asked(peer):
    """Stream is on by default."""
    body = peer.body("hi")
    assert peer.post("/api/chat", **body).kind == "application/x-ndjson"


# ---- clients that leave -------------------------------------------------------------------------


def test_a_client_that_leaves_a_reply_frees_the_model(peer):
    """The next request is answered although the reply had no end, and the model is still there."""
    body = json.dumps(peer.body("hi", reply=-1, keep_alive=600, **peer.endless()))
    with peer.connect() as connection:
        connection.request("POST", "/api/chat", body)
        assert not json.loads(connection.getresponse().readline())["done"]
    assert not peer.was_loaded(peer.told("hello"))


def test_a_client_that_leaves_while_it_loads(peer):
    """The next one has it loaded and is answered."""
    peer.unload()
    with peer.connect() as connection:
        connection.request("POST", "/api/chat", json.dumps(peer.body("hi")))
    assert peer.told("hello")["done"]
    assert peer.loaded() is not None


def test_two_clients_at_once_are_both_answered(peer):
    """One after the other or side by side: each with its own counts."""
    bodies = [json.dumps(peer.body(text, stream=False)) for text in ("hi", sentence(100))]
    with peer.connect() as one, peer.connect() as other:
        for connection, body in zip((one, other), bodies, strict=True):
            connection.request("POST", "/api/chat", body)
        first, second = (json.load(connection.getresponse()) for connection in (one, other))
    assert first["done"]
    assert second["done"]
    assert first["prompt_eval_count"] < second["prompt_eval_count"]
