"""The pages for programs show calls that answer."""

from html import unescape

import pytest

from api.mcp_tools import TOOLS
from tests.bench.pages_corpus import make_row, publish_recorded_runs
from tests.bench.pages_html import read

pytestmark = pytest.mark.django_db


def examples(client):
    return [link["href"] for link in read(client.get("/bench/api/")).all("a") if "hx-get" in link]


def test_every_example_answers_with_something(client):
    publish_recorded_runs()
    for href in examples(client):
        response = client.get(href)
        assert response.status_code == 200, href
        answer = response.json()
        assert answer.get("results", answer) or "corpus" in href, href


def test_examples_use_values_of_this_corpus(client):
    make_row("a", task="gsm8k", gpu_class="RTX 3090")
    assert any("task=gsm8k" in href and "RTX+3090" in href for href in examples(client))


def test_examples_of_an_empty_corpus_answer_too(client):
    assert [client.get(href).status_code for href in examples(client)] == [200] * 7


def test_the_commands_name_this_site(client):
    assert "curl 'http://testserver/api/v1/bench/leaderboard" in read(client.get("/bench/api/")).text
    assert "http://testserver/mcp" in read(client.get("/bench/mcp/")).text


def test_every_tool_of_the_mcp_server_stands_with_its_words_and_arguments(client):
    text = read(client.get("/bench/mcp/")).text
    for tool in TOOLS:
        assert tool.__name__ in text
        assert " ".join(tool.__doc__.replace("`", "").split()) in text
    assert "objective, prompt_tokens, output_tokens, gpu_class" in text


def test_the_program_to_paste_is_a_program(client):
    code = unescape(client.get("/bench/mcp/").content.decode().split('aria-label="Python program"><code>')[1])
    program = code.split("</code>")[0]
    compile(program, "pasted.py", "exec")
    assert 'Client("http://testserver/mcp")' in program
