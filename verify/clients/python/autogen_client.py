"""AutoGen against a server: an answer, a stream, and an assistant that calls a tool, whole and streamed."""
import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ModelClientStreamingChunkEvent
from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

asked = []


async def weather(city: str) -> str:
    """The weather of a city."""
    asked.append(city)
    return f"It is sunny in {city}."


async def main():
    info = dict(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True)
    model = OpenAIChatCompletionClient(model="divisi", base_url=sys.argv[1], api_key="none", model_info=info)
    hello = [UserMessage(content="Say: hello", source="user")]
    assert (await model.create(hello)).content == "hello"
    pieces = [piece async for piece in model.create_stream(hello)]
    # AutoGen streams reasoning, the notes of a team, as text between tags.
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    assert text.split("</think>")[-1].strip() == "hello", text

    for streams in (False, True):
        asked.clear()
        agent = AssistantAgent(
            "assistant",
            model,
            tools=[weather],
            reflect_on_tool_use=True,
            model_client_stream=streams,
            system_message="Use the tools.",
        )
        last, pieces = None, []
        async for message in agent.run_stream(task="What is the weather in Paris?"):
            if isinstance(message, ModelClientStreamingChunkEvent):
                pieces.append(message.content)
            last = message
        answer = last.messages[-1].content
        assert asked[:1] == ["Paris"] and "sunny in Paris" in answer, (asked, answer)
        assert not streams or "sunny in Paris" in "".join(pieces), pieces


asyncio.run(main())
