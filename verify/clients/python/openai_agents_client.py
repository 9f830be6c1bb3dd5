"""The Agents SDK of OpenAI against a server, on both of its wires: an answer, a stream, a tool loop, a shape."""
import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)
client = AsyncOpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)


class Place(BaseModel):
    city: str


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"It is sunny in {city}."


async def check(model):
    plain = Agent(name="plain", model=model)
    assert (await Runner.run(plain, "Say: hello")).final_output == "hello"
    streamed = Runner.run_streamed(plain, "Say: hello")
    deltas = [
        event.data.delta
        async for event in streamed.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    assert "".join(deltas) == "hello" == streamed.final_output

    agent = Agent(name="forecaster", model=model, tools=[weather])
    question = "What is the weather in Paris?"
    assert "sunny in Paris" in (await Runner.run(agent, question)).final_output
    streamed = Runner.run_streamed(agent, question)
    names = [event.name async for event in streamed.stream_events() if event.type == "run_item_stream_event"]
    assert {"tool_called", "tool_output", "message_output_created"} <= set(names), names
    assert "sunny in Paris" in streamed.final_output

    shaped = Agent(name="shaped", model=model, output_type=Place)
    assert (await Runner.run(shaped, "Which city is it in Paris?")).final_output == Place(city="Paris")


async def main():
    for wire in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
        await check(wire(model="divisi", openai_client=client))


asyncio.run(main())
