"""Haystack against a server: an answer, a stream, a tool loop of an agent on both wires, and a shape."""
import os
import sys

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from haystack.utils import Secret
from pydantic import BaseModel
from typing import Annotated


class Place(BaseModel):
    city: str


@tool
def weather(city: Annotated[str, "The city"]) -> str:
    """The weather of a city."""
    return f"It is sunny in {city}."


def asked(text):
    return [ChatMessage.from_user(text)]


shared = {"model": "divisi", "api_base_url": sys.argv[1], "api_key": Secret.from_token("none"), "max_retries": 0}
for wire, shape in ((OpenAIChatGenerator, "response_format"), (OpenAIResponsesChatGenerator, "text_format")):
    assert wire(**shared).run(asked("Say: hello"))["replies"][0].text == "hello"
    deltas = []
    stream = {"streaming_callback": lambda chunk: deltas.append(chunk.content)}
    assert wire(**shared, **stream).run(asked("Say: hello"))["replies"][0].text == "hello"
    assert "".join(deltas) == "hello", deltas

    for options in ({}, stream):
        agent = Agent(chat_generator=wire(**shared, **options), tools=[weather])
        assert "sunny in Paris" in agent.run(asked("What is the weather in Paris?"))["messages"][-1].text

    shaped = wire(**shared, generation_kwargs={shape: Place}).run(asked("Which city is it in Paris?"))
    assert Place.model_validate_json(shaped["replies"][0].text) == Place(city="Paris")
