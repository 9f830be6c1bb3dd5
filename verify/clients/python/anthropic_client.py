"""The SDK of Anthropic against a server: an answer, a stream, and a tool loop."""
import sys

from anthropic import Anthropic

client = Anthropic(base_url=sys.argv[1].removesuffix("/v1"), api_key="none", max_retries=0)
shared = {"model": "divisi", "max_tokens": 1024}
hello = [{"role": "user", "content": "Say: hello"}]

assert client.messages.create(**shared, messages=hello).content[0].text == "hello"
with client.messages.stream(**shared, messages=hello) as stream:
    assert stream.get_final_message().content[0].text == "hello"

tools = [
    {
        "name": "weather",
        "description": "The weather of a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
messages = [{"role": "user", "content": "What is the weather in Paris?"}]
asked = client.messages.create(**shared, messages=messages, tools=tools)
call = next(block for block in asked.content if block.type == "tool_use")
assert call.input == {"city": "Paris"}
result = {"type": "tool_result", "tool_use_id": call.id, "content": "It is sunny in Paris."}
messages += [{"role": "assistant", "content": asked.content}, {"role": "user", "content": [result]}]
assert "sunny" in client.messages.create(**shared, messages=messages, tools=tools).content[-1].text
