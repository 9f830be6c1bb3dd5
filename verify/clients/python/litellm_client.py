"""LiteLLM's SDK against a server, over Chat Completions and Messages: answers, streams, and tool loops of both kinds."""
import asyncio
import json
import sys

import litellm

litellm.suppress_debug_info = True
url = sys.argv[1]
routes = [
    dict(model="openai/divisi", api_base=url, api_key="none"),
    dict(model="anthropic/divisi", api_base=url.removesuffix("/v1"), api_key="none", max_tokens=500),
]
hello = [{"role": "user", "content": "Say: hello"}]
tools = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]


def answered(route, messages, stream, **more):
    given = litellm.completion(messages=messages, stream=stream, num_retries=0, **route, **more)
    return litellm.stream_chunk_builder(list(given), messages=messages) if stream else given


async def said(route):
    return (await litellm.acompletion(messages=hello, num_retries=0, **route)).choices[0].message.content


for route in routes:
    for stream in (False, True):
        assert answered(route, hello, stream).choices[0].message.content == "hello"
        messages = [{"role": "user", "content": "What is the weather in Paris?"}]
        called = 0
        for _ in range(4):
            message = answered(route, messages, stream, tools=tools, temperature=0.5).choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                called += 1
                city = json.loads(call.function.arguments)["city"]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": f"It is sunny in {city}."})
        assert called > 0 and "sunny in Paris" in messages[-1]["content"], messages
    assert asyncio.run(said(route)) == "hello"
