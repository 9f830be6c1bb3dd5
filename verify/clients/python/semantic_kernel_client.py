"""Semantic Kernel against a server: an answer, a stream, and functions that the model calls, whole and streamed."""
import asyncio
import sys

from openai import AsyncOpenAI
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import kernel_function

asked = []


class Places:
    @kernel_function(name="weather", description="The weather of a city.")
    def weather(self, city: str) -> str:
        asked.append(city)
        return f"It is sunny in {city}."


async def main():
    client = AsyncOpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
    model = OpenAIChatCompletion(ai_model_id="divisi", async_client=client)
    kernel = Kernel()
    kernel.add_service(model)
    kernel.add_plugin(Places(), plugin_name="places")

    async def said(text, streams, **more):
        history = ChatHistory()
        history.add_user_message(text)
        settings = OpenAIChatPromptExecutionSettings(temperature=0.5, **more)
        if not streams:
            return str(await model.get_chat_message_content(history, settings, kernel=kernel))
        pieces = model.get_streaming_chat_message_content(history, settings, kernel=kernel)
        return "".join([str(piece) async for piece in pieces if piece is not None])

    for streams in (False, True):
        assert await said("Say: hello", streams) == "hello"
        asked.clear()
        answer = await said(
            "What is the weather in Paris?", streams, function_choice_behavior=FunctionChoiceBehavior.Auto()
        )
        assert asked[:1] == ["Paris"] and "sunny in Paris" in answer, (asked, answer)


asyncio.run(main())
