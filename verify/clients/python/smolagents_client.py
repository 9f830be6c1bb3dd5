"""smolagents against a server: an answer, a stream, and agents that call tools, whole and streamed."""
import sys

from smolagents import ChatMessage, MessageRole, OpenAIServerModel, ToolCallingAgent, tool

model = OpenAIServerModel(model_id="divisi", api_base=sys.argv[1], api_key="none")
hello = [ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": "Say: hello"}])]

assert model.generate(hello).content == "hello"
assert "".join(delta.content or "" for delta in model.generate_stream(hello)) == "hello"


@tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The city.
    """
    places.append(city)
    return f"It is sunny in {city}."


# smolagents gives results back as messages of the user and ends by a tool of its own, `final_answer`. Rules have no reason
# to call it, so that the agent asks for an answer in words after its last step.
for stream in (False, True):
    places = []
    agent = ToolCallingAgent(tools=[weather], model=model, max_steps=2, stream_outputs=stream, verbosity_level=0)
    answer = agent.run("the weather in Paris, please")
    assert places[0] == "Paris", places
    assert isinstance(answer, str) and answer, answer
