"""Asking a question: text, counts, times, and everything that can go wrong."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from asyncenergy_controller.engine import (
    ChatRequest,
    EngineClient,
    EngineFailed,
    EngineProtocolError,
    EngineRefused,
    EngineTimeout,
    EngineUnreachable,
    ModelRefused,
)
from asyncenergy_controller.errors import ExitCode

from tests.controller.fake_engine import (
    TRANSFORMERS,
    VLLM,
    fake_engine,
    hanging,
    refusing,
    send_event,
    send_json,
    start_stream,
    streamed,
    whole,
)

QUESTION = ChatRequest(
    "tiny", [{"role": "user", "content": "2 + 2?"}], 32, temperature=0.5, seed=7, stop=("\n\n",), thinking=False
)


def ask(fake, request=QUESTION, timeout_s=5.0):
    with EngineClient(fake.url, timeout_s=timeout_s) as client:
        return client.chat(request)


def test_the_first_token_is_stamped_when_it_arrives_not_when_the_answer_is_complete():
    with fake_engine(streamed("four", ".", " Sure", gap_s=0.15)) as fake:
        result = ask(fake)
    assert result.streamed
    assert result.text == "four. Sure"
    whole_s = result.t_end_s - result.t_start_s
    assert whole_s > 0.43
    assert 0.14 < result.ttft_s < 0.8 * whole_s
    assert result.t_start_s < result.t_first_token_s < result.t_end_s
    gaps = [later - earlier for earlier, later in itertools.pairwise(result.token_times_s)]
    assert len(gaps) == 2
    assert all(gap > 0.02 for gap in gaps), "they came 0.15 s apart"


def test_thinking_counts_as_a_token_but_is_not_part_of_the_answer():
    with fake_engine(streamed("hm", "so", delta="reasoning_content")) as fake:
        result = ask(fake)
    assert result.text == ""
    assert len(result.token_times_s) == 2


def test_counts_are_the_servers_own():
    usage = {"prompt_tokens": 40, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 16}}
    with fake_engine(streamed("a", "b", usage=usage)) as fake:
        result = ask(fake)
    assert (result.prompt_tokens, result.cached_prompt_tokens, result.completion_tokens) == (40, 16, 9)


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": None, "completion_tokens": "3"}])
def test_counts_the_server_does_not_give_are_none_and_never_counted_by_us(usage):
    with fake_engine(streamed("a", "b", usage=usage)) as fake:
        result = ask(fake)
    assert (result.prompt_tokens, result.cached_prompt_tokens, result.completion_tokens) == (None, None, None)


def test_the_request_carries_every_setting_and_switches_the_prompt_cache_off():
    with fake_engine(streamed("a")) as fake:
        ask(fake)
    assert fake.asked == [
        {
            "model": "tiny",
            "messages": [{"role": "user", "content": "2 + 2?"}],
            "max_tokens": 32,
            "temperature": 0.5,
            "stream": True,
            "seed": 7,
            "stop": ["\n\n"],
            "cache_prompt": False,
            "chat_template_kwargs": {"enable_thinking": False},
            "stream_options": {"include_usage": True},
        }
    ]


def test_no_two_requests_to_vllm_share_a_cached_prefix():
    with fake_engine(streamed("a"), VLLM) as fake, EngineClient(fake.url) as client:
        client.chat(QUESTION)
        client.chat(QUESTION)
        assert client.prefix_cache == "off"
    salts = {body["cache_salt"] for body in fake.asked}
    assert len(salts) == 2


@pytest.mark.parametrize(
    ("finish", "expected"), [("stop", "stop"), ("length", "length"), ("content_filter", "error"), (None, "length")]
)
def test_the_finish_reason_is_one_of_three(finish, expected):
    usage = {"completion_tokens": 32}  # as many as were allowed: without a reason, the answer was cut
    with fake_engine(streamed("a", finish=finish, usage=usage)) as fake:
        assert ask(fake).finish_reason == expected


def test_a_server_that_cannot_stream_gives_no_first_token_time():
    with fake_engine(whole("four")) as fake:
        result = ask(fake)
    assert (result.text, result.streamed, result.ttft_s, result.token_times_s) == ("four", False, None, ())
    assert result.completion_tokens == 3


def test_a_refused_stream_is_asked_again_in_one_piece_and_not_tried_a_third_time():
    def answer(handler, body):
        handle = refusing(400, "stream is not supported") if body["stream"] else whole("four")
        handle(handler, body)

    with fake_engine(answer) as fake, EngineClient(fake.url) as client:
        results = [client.chat(QUESTION), client.chat(QUESTION)]
    assert [result.text for result in results] == ["four", "four"]
    assert [body["stream"] for body in fake.asked] == [True, False, False]


def test_a_stream_that_breaks_off_is_asked_again_inside_the_same_window():
    def answer(handler, body):
        handle = streamed("fo", gap_s=0.1, finish=None, usage=None, done=False) if body["stream"] else whole("four")
        handle(handler, body)

    with fake_engine(answer) as fake:
        result = ask(fake)
    assert (result.text, result.streamed, result.ttft_s) == ("four", False, None)
    assert result.t_end_s - result.t_start_s > 0.1  # the broken attempt was paid for, too


def test_one_broken_stream_among_good_ones_does_not_end_the_streaming():
    breaks = iter([False, True, False])

    def answer(handler, body):
        if not body["stream"]:
            whole("four")(handler, body)
        elif next(breaks):
            streamed("fo", finish=None, usage=None, done=False)(handler, body)
        else:
            streamed("four")(handler, body)

    with fake_engine(answer) as fake, EngineClient(fake.url) as client:
        results = [client.chat(QUESTION) for _ in range(3)]
    assert [result.text for result in results] == ["four"] * 3
    assert [result.streamed for result in results] == [True, False, True]


def test_an_upstream_that_refuses_says_nothing_about_streaming():
    with fake_engine(refusing(400, "bad answer from upstream")) as fake, EngineClient(fake.url) as client:
        with pytest.raises(EngineRefused, match="upstream"):
            client.chat(QUESTION)
        assert client.streaming
    assert len(fake.asked) == 1


def test_a_stream_without_done_is_complete_once_it_said_why_it_ended():
    with fake_engine(streamed("four", done=False)) as fake:
        result = ask(fake)
    assert (result.text, result.streamed) == ("four", True)


@pytest.mark.parametrize("error", [{"error": "out of memory"}, {"object": "error", "message": "out of memory"}])
def test_an_error_inside_the_stream_is_the_engines_failure(error):
    def answer(handler, body):
        start_stream(handler)
        send_event(handler, error)
        handler.wfile.write(b"data: [DONE]\n\n")

    with fake_engine(answer) as fake, pytest.raises(EngineFailed, match="out of memory"):
        ask(fake)


def test_events_that_only_keep_the_connection_open_are_no_part_of_the_answer():
    def answer(handler, body):
        start_stream(handler)
        handler.wfile.write(b"event: ping\n\ndata: \n\n")
        send_event(handler, {"choices": [{"delta": {"content": "four"}, "finish_reason": "stop"}]})
        handler.wfile.write(b"data: [DONE]\n\n")

    with fake_engine(answer) as fake:
        result = ask(fake)
    assert (result.text, result.streamed, len(result.token_times_s)) == ("four", True, 1)


def test_a_stream_of_nothing_is_not_taken_for_an_answer():
    def answer(handler, body):
        handle = streamed(finish=None, usage=None) if body["stream"] else whole("four")
        handle(handler, body)

    with fake_engine(answer) as fake:
        assert ask(fake).text == "four"


def test_a_refusal_that_only_sounds_like_a_field_changes_no_later_request():
    with fake_engine(refusing(400, "the server stopped: the prompt exceeds the context")) as fake:
        with EngineClient(fake.url) as client, pytest.raises(EngineRefused, match="stopped"):
            client.chat(QUESTION)
        assert client.refused_fields == frozenset()
    assert len(fake.asked) == 1


def test_fields_a_server_does_not_know_are_left_out_and_stop_is_applied_here():
    def answer(handler, body):
        unknown = {"stop", "stream_options"} & set(body)
        if unknown:
            send_json(handler, 422, {"detail": f"Unexpected keys in the request: {unknown}"})
        else:
            streamed("four\n\nAnd then")(handler, body)

    with fake_engine(answer, TRANSFORMERS) as fake, EngineClient(fake.url) as client:
        assert client.chat(QUESTION).text == "four"
        assert client.refused_fields == {"stop", "stream_options"}
        client.chat(QUESTION)
    assert len(fake.asked) == 3


def test_a_refused_cache_switch_makes_the_prefix_cache_unknown():
    def answer(handler, body):
        handle = refusing(400, "unknown field cache_prompt") if "cache_prompt" in body else streamed("four")
        handle(handler, body)

    with fake_engine(answer) as fake, EngineClient(fake.url) as client:
        assert client.prefix_cache == "off"
        client.chat(QUESTION)
        assert client.info().prefix_cache == "unknown"


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (refusing(500, "CUDA out of memory"), EngineFailed, "CUDA out of memory"),
        (refusing(404, "model 'tiny' not found, try pulling it first"), ModelRefused, "'tiny'"),
        (refusing(400, "Model 'tiny' does not exist"), ModelRefused, "'tiny'"),
        (refusing(503, "Loading model"), EngineFailed, "not ready.*Loading model"),
        (refusing(401, "Invalid API Key"), EngineRefused, "API key"),
        (refusing(400, "exceeds the available context size"), EngineRefused, "context size"),
        (lambda handler, body: send_json(handler, 200, {"choices": []}), EngineProtocolError, "no choices"),
        (lambda handler, body: send_json(handler, 200, [1]), EngineProtocolError, "not a JSON object"),
        (lambda handler, body: send_json(handler, 200, {"choices": ["four"]}), EngineProtocolError, "choices"),
    ],
)
def test_every_refusal_has_its_own_error_in_the_servers_words(answer, error, words):
    with fake_engine(answer) as fake, pytest.raises(error, match=words) as caught:
        ask(fake)
    assert caught.value.exit_code is ExitCode.NO_ENGINE


def test_a_question_that_is_too_long_is_no_fault_of_the_models_name():
    said = "This model's maximum context length is 2048 tokens. However, you requested 2560, which is not possible."
    with fake_engine(refusing(400, said)) as fake, pytest.raises(EngineRefused, match="maximum context") as caught:
        ask(fake)
    assert not isinstance(caught.value, ModelRefused)


def test_a_server_that_hangs_is_left_after_the_time_limit():
    with fake_engine(hanging(60)) as fake:
        before = time.monotonic()
        with pytest.raises(EngineTimeout, match=r"within 0\.2 s"):
            ask(fake, timeout_s=0.2)
        assert time.monotonic() - before < 10


def test_a_server_that_trickles_for_ever_is_left_after_the_time_limit():
    with fake_engine(streamed(*"slowly" * 100, gap_s=0.1)) as fake:
        before = time.monotonic()
        with pytest.raises(EngineTimeout):
            ask(fake, timeout_s=0.3)
        assert time.monotonic() - before < 10


def test_keep_alive_comments_do_not_extend_the_time_limit():
    def answer(handler, body):
        start_stream(handler)
        for _ in range(1000):
            time.sleep(0.05)
            handler.wfile.write(b": ping\n\n")

    with fake_engine(answer) as fake, pytest.raises(EngineTimeout):
        ask(fake, timeout_s=0.3)


def test_nobody_listening_says_what_to_do():
    with fake_engine() as fake:
        gone = fake.url
    with EngineClient(gone) as client, pytest.raises(EngineUnreachable, match="--engine-url"):
        client.chat(QUESTION)


def test_many_questions_at_once_share_one_client():
    all_asked = threading.Barrier(32, timeout=20)

    def answer(handler, body):
        all_asked.wait()
        streamed("a")(handler, body)

    with fake_engine(answer) as fake, EngineClient(fake.url) as client:
        client.recognised()
        with ThreadPoolExecutor(32) as pool:
            results = list(pool.map(client.chat, [QUESTION] * 32))
    assert [result.text for result in results] == ["a"] * 32
