"""instructor against a server: shapes by tools, by strict tools and by JSON Schema, whole and streamed."""
import sys

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Place(BaseModel):
    """The place of a question."""

    city: str


client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
asked = {"model": "divisi", "messages": [{"role": "user", "content": "Where is it, in the city of Paris?"}], "max_retries": 1}
for mode in (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA):
    shaped = instructor.from_openai(client, mode=mode)
    place = shaped.chat.completions.create(**asked, response_model=Place)
    assert isinstance(place, Place) and place.city == "Paris", (mode, place)
    partial = list(shaped.chat.completions.create_partial(**asked, response_model=Place))
    assert partial[-1].city == "Paris", (mode, partial)
