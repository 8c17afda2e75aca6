"""The service under test, and the mock provider behind it."""

import json
import os
import unittest
import urllib.request
import uuid

BASE_URL = os.environ["GATEWAY_URL"] + "/v1"
LIMITED_URL = os.environ["LIMITED_URL"] + "/v1"
KEY = os.environ["GATEWAY_KEY"]

WEATHER = {"id": "call_1", "name": "get_weather", "arguments": '{"city":"Oslo"}'}


def fetch(url, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def control(path, body=None):
    return fetch(os.environ["CONTROL_URL"] + path, body)


def create_prompt(**fields):
    """Creates a prompt that greets, and returns its slug."""
    body = {
        "name": "Greeting",
        "slug": f"greeting-{uuid.uuid4().hex[:12]}",
        "messages": [{"role": "user", "content": "Hello {{name|world}}"}],
        "selected_provider": "mock",
        **fields,
    }
    return fetch(os.environ["GATEWAY_URL"] + "/api/v1/prompts", body)["slug"]


def create_key(*scopes):
    return fetch(os.environ["GATEWAY_URL"] + "/api/v1/api-keys", {"name": "SDK", "scopes": scopes})["key"]


class GatewayTest(unittest.TestCase):
    def setUp(self):
        control("/reset")

    def answer(self, *steps, model="model-a"):
        """The next answer of a model: texts and calls."""
        finish = "tool-calls" if any("toolCall" in step for step in steps) else "stop"
        behaviour = {"kind": "stream", "steps": [*steps, {"finish": finish}]}
        control("/behave", {"model": model, "behaviours": [behaviour]})

    def google(self, *parts, streamed=False):
        """The next answer of Google's model, from its parts."""
        content = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
        body = json.dumps(content)
        kind = {"contentType": "text/event-stream", "body": f"data: {body}\n\n"} if streamed else {"contentType": "application/json", "body": body}
        control("/behave", {"model": "gemini", "behaviours": [{"kind": "body", **kind}]})

    def requests(self):
        """What the mock provider received, after it was all answered."""
        return control("/requests")

    def sent(self, index=0):
        return self.requests()[index]["body"]

    def assert_calls(self, count):
        self.assertEqual(len(self.requests()), count, "calls to the provider")
