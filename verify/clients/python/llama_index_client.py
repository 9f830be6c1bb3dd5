"""LlamaIndex against a server, by `OpenAILike`: an answer, a stream, a tool loop of an agent, and a shape."""
import asyncio
import sys

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

model = OpenAILike(
    model="divisi",
    api_base=sys.argv[1],
    api_key="none",
    is_chat_model=True,
    is_function_calling_model=True,
    max_retries=0,
)
hello = [ChatMessage(role="user", content="Say: hello")]

assert model.complete("Say: hello").text == "hello"
assert model.chat(hello).message.content == "hello"
assert "".join(part.delta or "" for part in model.stream_chat(hello)) == "hello"


class Place(BaseModel):
    """The place of a question."""

    city: str


assert model.as_structured_llm(Place).complete("Which city is it in Paris?").raw == Place(city="Paris")


def weather(city: str) -> str:
    """The weather of a city."""
    return f"It is sunny in {city}."


async def loop(streaming):
    agent = FunctionAgent(tools=[weather], llm=model, streaming=streaming)
    running = agent.run("What is the weather in Paris?")
    deltas = [event.delta async for event in running.stream_events() if isinstance(event, AgentStream)]
    answer = str(await running)
    assert "sunny in Paris" in answer, answer
    assert not streaming or "sunny in Paris" in "".join(deltas), deltas


async def main():
    await loop(False)
    await loop(True)


asyncio.run(main())
