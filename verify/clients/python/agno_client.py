"""Agno against a server: an answer, a stream, and an agent that calls a tool, whole and streamed, on two APIs."""
import sys

from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from agno.models.openai import OpenAIResponses

url = sys.argv[1]
asked = []


def weather(city: str) -> str:
    """The weather of a city."""
    asked.append(city)
    return f"It is sunny in {city}."


for make in (
    lambda: OpenAILike(id="divisi", base_url=url, api_key="none"),
    lambda: OpenAIResponses(id="divisi", base_url=url, api_key="none"),
):
    assert Agent(model=make(), telemetry=False).run("Say: hello").content == "hello"
    pieces = Agent(model=make(), telemetry=False).run("Say: hello", stream=True)
    assert "".join(piece.content or "" for piece in pieces) == "hello"

    asked.clear()
    answer = Agent(model=make(), tools=[weather], telemetry=False).run("What is the weather in Paris?").content
    assert asked[:1] == ["Paris"] and "sunny in Paris" in answer, (asked, answer)

    asked.clear()
    pieces = Agent(model=make(), tools=[weather], telemetry=False).run("What is the weather in Paris?", stream=True)
    answer = "".join(piece.content or "" for piece in pieces if getattr(piece, "event", "") == "RunContent")
    assert asked[:1] == ["Paris"] and "sunny in Paris" in answer, (asked, answer)
