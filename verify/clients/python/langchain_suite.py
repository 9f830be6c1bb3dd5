"""LangChain's standard tests of a chat model, on both wires of OpenAI."""
import os

import pytest
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestChat(ChatModelIntegrationTests):
    @property
    def chat_model_class(self):
        return ChatOpenAI

    @property
    def chat_model_params(self):
        return {"model": "divisi", "base_url": os.environ["DIVISI_URL"], "api_key": "none", "stream_usage": True}


class TestResponses(TestChat):
    @property
    def chat_model_params(self):
        return {**super().chat_model_params, "use_responses_api": True}
