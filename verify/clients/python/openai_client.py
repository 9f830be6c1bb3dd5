"""The SDK of OpenAI against a server: both wires, streams, and a tool loop."""
import json
import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
model = "divisi"
hello = [{"role": "user", "content": "Say: hello"}]
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}

assert any(one.id == model for one in client.models.list())
assert client.chat.completions.create(model=model, messages=hello).choices[0].message.content == "hello"
with client.chat.completions.stream(model=model, messages=hello) as stream:
    for _ in stream:
        pass
    assert stream.get_final_completion().choices[0].message.content == "hello"

tools = [{"type": "function", "function": {"name": "weather", "description": "The weather of a city", "parameters": schema}}]
messages = [{"role": "user", "content": "What is the weather in Paris?"}]
message = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
call = message.tool_calls[0]
assert json.loads(call.function.arguments) == {"city": "Paris"}
messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "It is sunny in Paris."}]
answer = client.chat.completions.create(model=model, messages=messages, tools=tools)
assert "sunny" in answer.choices[0].message.content

with client.responses.stream(model=model, input="Say: hello") as stream:
    for _ in stream:
        pass
    assert stream.get_final_response().output_text == "hello"
tools = [{"type": "function", "name": "weather", "description": "The weather of a city", "parameters": schema, "strict": True}]
first = client.responses.create(model=model, input="What is the weather in Paris?", tools=tools)
call = next(item for item in first.output if item.type == "function_call")
result = {"type": "function_call_output", "call_id": call.call_id, "output": "It is sunny in Paris."}
second = client.responses.create(model=model, previous_response_id=first.id, input=[result], tools=tools)
assert "sunny" in second.output_text
