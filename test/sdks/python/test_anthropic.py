"""The `anthropic` package."""

import asyncio
import os

import anthropic
from anthropic import Anthropic, AsyncAnthropic
from gateway import KEY, GatewayTest, WEATHER, create_key, create_prompt

URL = os.environ["GATEWAY_URL"]
client = Anthropic(base_url=URL, api_key=KEY)
MESSAGES = [{"role": "user", "content": "What is a webhook?"}]
TOOLS = [{"name": "get_weather", "input_schema": {"type": "object"}}]
# Any provider, by blocks, and Anthropic itself, byte for byte.
MODELS = ["mock/model-a", "anthropic/model-a"]


class MessagesTest(GatewayTest):
    def ask(self, model, **more):
        return {"model": model, "max_tokens": 100, "messages": MESSAGES, **more}

    def test_create(self):
        for model in MODELS:
            message = client.messages.create(**self.ask(model))
            self.assertEqual(message.content[0].text, "Hello from model-a.")
            self.assertEqual(message.usage.output_tokens, 7)
            self.assertTrue(message._request_id)

    def test_bearer_and_beta(self):
        bearer = Anthropic(base_url=URL, auth_token=KEY, api_key=None)
        message = bearer.beta.messages.create(**self.ask(MODELS[1]), betas=["interleaved-thinking-2025-05-14"])
        self.assertEqual(message.stop_reason, "end_turn")

    def test_stored_prompt(self):
        slug = create_prompt()
        extra = {"prompt": {"variables": {"name": "Ada"}}}
        client.messages.create(model=f"prompt/{slug}", max_tokens=10, messages=[], extra_body=extra)
        self.assertEqual(self.sent()["messages"][0]["content"], "Hello Ada")

    def test_stream(self):
        for model in MODELS:
            with client.messages.stream(**self.ask(model)) as stream:
                self.assertEqual("".join(stream.text_stream), "Hello from model-a.")
                self.assertEqual(stream.get_final_message().stop_reason, "end_turn")

    def test_async(self):
        async def ask():
            other = AsyncAnthropic(base_url=URL, api_key=KEY)
            return await other.messages.create(**self.ask(MODELS[0]))

        self.assertEqual(asyncio.run(ask()).content[0].text, "Hello from model-a.")

    def test_tools(self):
        for model in MODELS:
            self.answer({"text": "I look."}, {"toolCall": WEATHER})
            with client.messages.stream(**self.ask(model, tools=TOOLS)) as stream:
                message = stream.get_final_message()
            self.assertEqual((message.stop_reason, message.content[1].input), ("tool_use", {"city": "Oslo"}))
            result = {"type": "tool_result", "tool_use_id": "call_1", "content": "21 °C"}
            turns = [*MESSAGES, {"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
            final = client.messages.create(**self.ask(model, messages=turns, tools=TOOLS))
            self.assertEqual(final.content[0].text, "Hello from model-a.")

    def test_count_tokens_and_models(self):
        counted = client.messages.count_tokens(model=MODELS[1], messages=MESSAGES)
        self.assertEqual(counted.input_tokens, 11)
        self.assertIn("mock/model-b", [model.id for model in client.models.list(limit=5)])

    def test_errors(self):
        for name, error in {
            "mock-400": anthropic.BadRequestError,
            "mock-404": anthropic.NotFoundError,
            "mock-429-300": anthropic.RateLimitError,
            "mock-500": anthropic.InternalServerError,
        }.items():
            for provider in ("mock", "anthropic"):
                self.setUp()
                with self.assertRaises(error):
                    client.messages.create(**self.ask(f"{provider}/{name}"))
                self.assert_calls(1)
        with self.assertRaises(anthropic.AuthenticationError):
            Anthropic(base_url=URL, api_key="nobody").messages.create(**self.ask(MODELS[0]))
        with self.assertRaises(anthropic.PermissionDeniedError):
            limited = Anthropic(base_url=URL, api_key=create_key("prompts:invoke"))
            limited.messages.create(**self.ask(MODELS[0]))
        with self.assertRaises(anthropic.UnprocessableEntityError):
            client.messages.create(**self.ask(MODELS[0], thinking={"type": "adaptive"}))

    def test_error_in_a_stream(self):
        with self.assertRaises(anthropic.APIError):
            with client.messages.stream(**self.ask("mock/mock-error")) as stream:
                stream.get_final_message()
