"""Pydantic AI against a server, on both wires of OpenAI: an answer, a stream, a tool loop, shapes by tool and natively."""
import asyncio
import sys

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=sys.argv[1], api_key="none")


class Place(BaseModel):
    city: str


def weather(city: str) -> str:
    """The weather of a city."""
    return f"It is sunny in {city}."


async def check(model):
    plain = Agent(model)
    assert (await plain.run("Say: hello")).output == "hello"
    async with plain.run_stream("Say: hello") as stream:
        assert "".join([delta async for delta in stream.stream_text(delta=True)]) == "hello"

    agent = Agent(model, tools=[weather])
    assert "sunny in Paris" in (await agent.run("What is the weather in Paris?")).output
    async with agent.run_stream("What is the weather in Paris?") as stream:
        assert "sunny in Paris" in await stream.get_output()

    for shape in (Place, NativeOutput(Place)):
        assert (await Agent(model, output_type=shape).run("Which city is it in Paris?")).output == Place(city="Paris")


async def main():
    for wire in (OpenAIChatModel, OpenAIResponsesModel):
        await check(wire("divisi", provider=provider))


asyncio.run(main())
