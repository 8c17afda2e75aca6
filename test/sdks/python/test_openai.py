"""The `openai` package."""

import asyncio
import uuid
from decimal import Decimal
from enum import Enum
from typing import Optional

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel, ConfigDict, Field
from gateway import BASE_URL, KEY, LIMITED_URL, WEATHER, GatewayTest, create_key, create_prompt

client = OpenAI(base_url=BASE_URL, api_key=KEY)
MODEL = "mock/model-a"
MESSAGES = [{"role": "user", "content": "What is a webhook?"}]


# Calls to the provider for one request, by how it fails. Nothing is multiplied by the SDK.
UPSTREAM_CALLS = {
    **{"mock-401": 1, "mock-403": 1, "mock-404": 1, "mock-400": 1},
    # Surely not billed: repeated by the service, unless the wait would be longer than the deadline.
    **{"mock-429": 3, "mock-429-1": 3, "mock-429-300": 1, "mock-503": 3, "mock-529": 3},
    **{"mock-500": 1, "mock-502": 1, "mock-reset": 1, "mock-hang": 1, "mock-cut": 1, "mock-garbage": 1},
}

# What the provider says about the request or its rate; everything else is a failure of the service's provider.
UPSTREAM_ERRORS = {
    **{"mock-400": openai.BadRequestError, "mock-404": openai.NotFoundError},
    **{name: openai.RateLimitError for name in ("mock-429", "mock-429-1", "mock-429-300")},
}


class Priority(str, Enum):
    low = "low"
    high = "high"


class Person(BaseModel):
    email: str = Field(pattern=r"^[^@]+@[^@]+$", description="Where to answer")
    owes: Optional[Decimal] = None


class Triage(BaseModel):
    """A decision."""

    model_config = ConfigDict(extra="forbid")
    priority: Priority
    people: list[Person]


TRIAGE = '{"priority":"high","people":[{"email":"ada@example.com","owes":"1.50"}]}'


class GetWeather(BaseModel):
    """Looks up the weather."""

    city: str


class Chat(GatewayTest):
    def test_answers(self):
        completion = client.chat.completions.create(model=MODEL, messages=MESSAGES)
        self.assertEqual(completion.choices[0].message.content, "Hello from model-a.")
        self.assertEqual(completion.usage.total_tokens, 18)
        self.assertTrue(completion._request_id)
        self.assert_calls(1)

    def test_answers_with_headers(self):
        raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=MESSAGES)
        self.assertEqual(raw.parse().model, MODEL)
        self.assertTrue(raw.headers["x-request-id"])

    def test_asynchronously(self):
        async def run():
            async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY) as asynchronous:
                answers = [asynchronous.chat.completions.create(model=MODEL, messages=MESSAGES) for _ in range(4)]
                return [answer.choices[0].message.content for answer in await asyncio.gather(*answers)]

        self.assertEqual(asyncio.run(run()), ["Hello from model-a."] * 4)

    def test_stored_prompt_with_variables(self):
        slug = create_prompt()
        client.chat.completions.create(
            model=f"prompt/{slug}", messages=[], extra_body={"prompt": {"variables": {"name": "Ada"}}}
        )
        self.assertEqual(self.sent()["messages"], [{"role": "user", "content": "Hello Ada"}])

    def test_members_of_other_providers(self):
        extra = {"top_k": 40, "min_p": 0.05, "reasoning": {"max_tokens": 2000}}
        client.chat.completions.create(model=MODEL, messages=MESSAGES, extra_body=extra)
        sent = self.sent()
        self.assertEqual({name: sent[name] for name in extra}, extra)

    def test_every_member(self):
        client.chat.completions.create(
            model=MODEL,
            messages=[
                {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
                {"role": "system", "content": "Be kind."},
                {
                    "role": "user",
                    "name": "Ada",
                    "content": [
                        {"type": "text", "text": "What is this?"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "21"}, {"type": "text", "text": " °C"}]},
            ],
            **{"frequency_penalty": 0.1, "presence_penalty": 0.2, "temperature": 0.3, "top_p": 0.4, "seed": 5},
            **{"max_completion_tokens": 60, "stop": ["###"], "reasoning_effort": "low", "n": 1, "logprobs": False},
            **{"logit_bias": {}, "metadata": {"team": "support"}, "store": False, "user": "7", "modalities": ["text"]},
            **{"service_tier": "auto", "verbosity": "medium", "safety_identifier": "7", "prompt_cache_key": "k"},
            tools=[openai.pydantic_function_tool(GetWeather)],
            tool_choice="auto",
            parallel_tool_calls=None,
            response_format={"type": "json_object"},
            timeout=30,
        )
        sent = self.sent()
        self.assertEqual(sent["messages"][-1]["content"], "21 °C")
        expected = {"temperature": 0.3, "top_p": 0.4, "seed": 5, "max_tokens": 60, "stop": ["###"]}
        self.assertEqual({name: sent[name] for name in expected}, expected)

    def test_parses_pydantic_models(self):
        self.answer({"text": TRIAGE})
        completion = client.chat.completions.parse(model=MODEL, messages=MESSAGES, response_format=Triage)
        self.assertEqual(completion.choices[0].message.parsed, Triage.model_validate_json(TRIAGE))
        json_schema = self.sent()["response_format"]["json_schema"]
        self.assertEqual((json_schema["name"], json_schema["strict"]), ("Triage", True))

    def test_round_trip_of_tools(self):
        messages = list(MESSAGES)
        tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")]
        self.answer({"toolCall": WEATHER})
        message = client.chat.completions.parse(model=MODEL, messages=messages, tools=tools).choices[0].message
        call = message.tool_calls[0]
        self.assertEqual(call.function.parsed_arguments, GetWeather(city="Oslo"))
        messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "21 °C"}]
        completion = client.chat.completions.parse(model=MODEL, messages=messages, tools=tools)
        self.assertEqual(completion.choices[0].message.content, "Hello from model-a.")
        sent = self.sent(1)["messages"]
        self.assertEqual([each["role"] for each in sent], ["user", "assistant", "tool"])
        self.assertEqual(sent[1]["tool_calls"][0]["function"]["arguments"], WEATHER["arguments"])
        self.assert_calls(2)

    def test_thought_signatures_survive(self):
        call = {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "SIG"}
        self.google(call)
        tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")]
        message = client.chat.completions.create(model="google/gemini", messages=MESSAGES, tools=tools).choices[0].message
        result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "21 °C"}
        client.chat.completions.create(model="google/gemini", messages=[*MESSAGES, message, result], tools=tools)
        self.assertEqual(self.sent(1)["contents"][1]["parts"][0]["thoughtSignature"], "SIG")

    def test_thought_signatures_survive_streams(self):
        call = {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "SIG"}
        self.google(call, streamed=True)
        tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")]
        with client.chat.completions.stream(model="google/gemini", messages=MESSAGES, tools=tools) as stream:
            message = stream.get_final_completion().choices[0].message
        result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "21 °C"}
        client.chat.completions.create(model="google/gemini", messages=[*MESSAGES, message, result], tools=tools)
        self.assertEqual(self.sent(1)["contents"][1]["parts"][0]["thoughtSignature"], "SIG")


class StreamingChat(GatewayTest):
    def test_has_pieces_and_usage_if_it_is_wanted(self):
        chunks = list(client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True))
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), "Hello from model-a.")
        self.assertEqual(chunks[-1].choices[0].finish_reason, "stop")
        options = {"include_usage": True}
        *_, last = client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, stream_options=options)
        self.assertEqual((last.choices, last.usage.total_tokens), ([], 18))

    def test_parses(self):
        self.answer({"text": TRIAGE[:20]}, {"text": TRIAGE[20:]})
        with client.chat.completions.stream(model=MODEL, messages=MESSAGES, response_format=Triage) as stream:
            kinds = {event.type for event in stream}
            parsed = stream.get_final_completion().choices[0].message.parsed
        self.assertEqual(parsed, Triage.model_validate_json(TRIAGE))
        self.assertLessEqual({"chunk", "content.delta", "content.done"}, kinds)

    def test_has_calls_of_tools(self):
        tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")]
        self.answer({"text": "Let me look."}, {"toolCall": WEATHER})
        with client.chat.completions.stream(model=MODEL, messages=MESSAGES, tools=tools) as stream:
            done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
        self.assertEqual([event.parsed_arguments for event in done], [GetWeather(city="Oslo")])

    def test_that_breaks_throws_and_is_not_bought_again(self):
        for name in ["mock-error", "mock-cut", "mock-unended", "mock-broken"]:
            with self.subTest(name):
                self.setUp()
                texts = []
                with self.assertRaises(openai.APIError) as raised:
                    for chunk in client.chat.completions.create(model=f"mock/{name}", messages=MESSAGES, stream=True):
                        texts.append(chunk.choices[0].delta.content)
                self.assertEqual(raised.exception.type, "server_error")
                self.assertTrue("".join(filter(None, texts)))
                self.assert_calls(1)

    def test_has_a_status_before_its_first_content(self):
        with self.assertRaises(openai.BadRequestError):
            client.chat.completions.create(model="mock/mock-400", messages=MESSAGES, stream=True)
        self.assert_calls(1)

    def test_that_is_left_ends_the_call_of_the_provider(self):
        with client.chat.completions.create(model="mock/mock-endless", messages=MESSAGES, stream=True) as stream:
            for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        self.assertEqual([request["aborted"] for request in self.requests()], [True])


class Responses(GatewayTest):
    def test_answer(self):
        response = client.responses.create(model=MODEL, input="Hi", instructions="Be brief.")
        self.assertEqual((response.output_text, response.usage.total_tokens), ("Hello from model-a.", 18))

    def test_stored_prompt_with_variables(self):
        slug = create_prompt()
        response = client.responses.create(prompt={"id": slug, "version": "1", "variables": {"name": "Ada"}}, input="Go on")
        self.assertEqual((response.output_text, response.prompt.version), ("Hello from model-a.", "1"))
        contents = [message["content"] for message in self.sent()["messages"]]
        self.assertEqual(contents, ["Hello Ada", "Go on"])

    def test_prompt_that_openai_hosted(self):
        alias = f"pmpt_{uuid.uuid4().hex}"
        create_prompt(aliases=[alias])
        variables = {"name": {"type": "input_text", "text": "Ada"}}
        prompt = {"id": alias, "version": "1", "variables": variables}
        response = client.responses.create(prompt=prompt, input=[], reasoning={}, store=True)
        self.assertEqual((response.output_text, response.prompt.version), ("Hello from model-a.", "1"))
        self.assertEqual(self.sent()["messages"], [{"role": "user", "content": "Hello Ada"}])
        with self.assertRaises(openai.NotFoundError):
            client.responses.create(prompt={"id": alias, "version": "31"})

    def test_every_member(self):
        client.responses.create(
            model=MODEL,
            input=[
                {"role": "developer", "content": "Be brief."},
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "What is this?"},
                        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
                    ],
                },
            ],
            **{"background": False, "include": ["reasoning.encrypted_content"], "max_output_tokens": 60},
            **{"max_tool_calls": None, "metadata": {"team": "support"}, "parallel_tool_calls": True, "store": False},
            **{"reasoning": {"effort": "low", "summary": "auto"}, "service_tier": "auto", "temperature": 0.3},
            **{"top_logprobs": 0, "top_p": 0.4, "truncation": "disabled", "previous_response_id": None, "user": "7"},
            text={"verbosity": "medium"},
            tool_choice="auto",
            tools=[{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": None}],
        )
        self.assertEqual(self.sent()["max_tokens"], 60)

    def test_parse(self):
        self.answer({"text": TRIAGE})
        response = client.responses.parse(model=MODEL, input="Hi", text_format=Triage)
        self.assertEqual(response.output_parsed, Triage.model_validate_json(TRIAGE))

    def test_round_trip_of_tools(self):
        tools = [openai.pydantic_function_tool(GetWeather, name="get_weather")["function"] | {"type": "function"}]
        self.answer({"toolCall": WEATHER})
        response = client.responses.parse(model=MODEL, input="Hi", tools=tools)
        call = response.output[-1]
        self.assertEqual((call.type, call.name), ("function_call", "get_weather"))
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "21 °C"}
        again = client.responses.create(model=MODEL, input=[{"role": "user", "content": "Hi"}, *response.output, result], tools=tools)
        self.assertEqual(again.output_text, "Hello from model-a.")
        self.assertEqual([each["role"] for each in self.sent(1)["messages"]], ["user", "assistant", "tool"])

    def test_thought_signatures_survive(self):
        call = {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "SIG"}
        self.google(call)
        tools = [{"type": "function", "name": "get_weather", "parameters": GetWeather.model_json_schema(), "strict": False}]
        response = client.responses.create(model="google/gemini", input="Hi", tools=tools)
        result = {"type": "function_call_output", "call_id": response.output[-1].call_id, "output": "21 °C"}
        items = [{"role": "user", "content": "Hi"}, *response.output, result]
        client.responses.create(model="google/gemini", input=items, tools=tools)
        self.assertEqual(self.sent(1)["contents"][1]["parts"][0]["thoughtSignature"], "SIG")

    def test_stream(self):
        events = list(client.responses.create(model=MODEL, input="Hi", stream=True))
        self.assertEqual((events[0].type, events[-1].type), ("response.created", "response.completed"))
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        self.assertEqual("".join(deltas), events[-1].response.output_text)

    def test_stream_of_a_stored_prompt_that_parses(self):
        self.answer({"text": TRIAGE})
        prompt = {"id": create_prompt(), "variables": {"name": "Ada"}}
        with client.responses.stream(prompt=prompt, model=MODEL, input="Hi", text_format=Triage) as stream:
            for _ in stream:
                pass
            self.assertEqual(stream.get_final_response().output_parsed, Triage.model_validate_json(TRIAGE))

    def test_stream_that_breaks_throws_and_is_not_bought_again(self):
        for name in ["mock-error", "mock-cut", "mock-unended", "mock-broken"]:
            with self.subTest(name):
                self.setUp()
                deltas = []
                with self.assertRaises(openai.APIError):
                    for event in client.responses.create(model=f"mock/{name}", input="Hi", stream=True):
                        if event.type == "response.output_text.delta":
                            deltas.append(event.delta)
                self.assertTrue(deltas)
                self.assert_calls(1)


class Models(GatewayTest):
    def test_are_listed_and_retrieved(self):
        slug = create_prompt()
        ids = {model.id for model in client.models.list()}
        self.assertLessEqual({f"prompt/{slug}", MODEL, "echo/echo-1"}, ids)
        self.assertEqual(client.models.retrieve("echo/echo-1").owned_by, "echo")
        self.assertEqual(client.models.retrieve(f"prompt/{slug}").id, f"prompt/{slug}")


class Errors(GatewayTest):
    def refused(self, kind, code, param=None, using=client, **members):
        for create in [
            lambda: using.chat.completions.create(**{"model": MODEL, "messages": MESSAGES} | members),
            lambda: using.chat.completions.create(**{"model": MODEL, "messages": MESSAGES, "stream": True} | members),
        ]:
            with self.assertRaises(kind) as raised:
                create()
            self.assertIs(type(raised.exception), kind)
            self.assertEqual((raised.exception.code, raised.exception.param), (code, param))

    def test_of_the_request(self):
        self.refused(openai.BadRequestError, "invalid-request", "n", n=2)
        self.refused(openai.BadRequestError, "invalid-request", "logprobs", logprobs=True)
        self.refused(openai.AuthenticationError, "unauthenticated", using=client.with_options(api_key="wrong"))
        prompts_only = client.with_options(api_key=create_key("prompts:invoke"))
        self.refused(openai.PermissionDeniedError, "insufficient-scope", using=prompts_only)
        self.refused(openai.NotFoundError, "prompt-not-found", model="prompt/nothing")
        slug = create_prompt(messages=[{"role": "user", "content": "{{name}}"}])
        self.refused(openai.UnprocessableEntityError, "missing-variables", model=f"prompt/{slug}")
        with self.assertRaises(openai.NotFoundError):
            client.models.retrieve("nobody/x")
        with self.assertRaises(openai.NotFoundError):
            client.images.generate(model=MODEL, prompt="x")
        with self.assertRaises(openai.BadRequestError) as raised:
            client.responses.create(model=MODEL, input="Hi", previous_response_id="resp_1")
        self.assertEqual(raised.exception.param, "previous_response_id")
        self.assert_calls(0)

    def test_of_the_provider_are_not_repeated(self):
        # What was surely not billed is repeated by the service alone.
        for name, calls in UPSTREAM_CALLS.items():
            with self.subTest(name):
                self.setUp()
                expected = UPSTREAM_ERRORS.get(name, openai.InternalServerError)
                with self.assertRaises(expected):
                    client.chat.completions.create(model=f"mock/{name}", messages=MESSAGES)
                self.assert_calls(calls)
                self.setUp()
                with self.assertRaises(expected):
                    client.responses.create(model=f"mock/{name}", input="Hi")
                self.assert_calls(calls)

    def test_of_a_time_limit_is_not_repeated(self):
        with self.assertRaises(openai.InternalServerError) as raised:
            client.chat.completions.create(model="mock/mock-hang", messages=MESSAGES)
        self.assertEqual(raised.exception.code, "provider-timeout")
        self.assert_calls(1)

    def test_that_cost_nothing_are_repeated_by_the_service(self):
        client.chat.completions.create(model="mock/mock-flaky-2", messages=MESSAGES)
        self.assert_calls(3)

    def test_of_the_rate_limit(self):
        limited = client.with_options(base_url=LIMITED_URL, max_retries=0)
        with self.assertRaises(openai.RateLimitError) as raised:
            for _ in range(2):
                limited.chat.completions.create(model=MODEL, messages=MESSAGES)
        self.assertEqual(raised.exception.code, "rate-limited")
        self.assert_calls(1)


class Embeddings(GatewayTest):
    def test_floats_come_as_base64(self):
        answer = OpenAI(base_url=BASE_URL, api_key=KEY).embeddings.create(model="mock/embed-a", input=["a", "b"], dimensions=8)
        self.assertEqual(self.sent()["encoding_format"], "base64")
        self.assertEqual([len(item.embedding) for item in answer.data], [8, 8])
        self.assertEqual(answer.usage.prompt_tokens, 11)
        floats = OpenAI(base_url=BASE_URL, api_key=KEY).embeddings.create(
            model="mock/embed-a", input=["a", "b"], dimensions=8, encoding_format="float"
        )
        self.assertEqual([item.embedding for item in floats.data], [item.embedding for item in answer.data])

    def test_tokens_and_large_answers(self):
        answer = OpenAI(base_url=BASE_URL, api_key=KEY).embeddings.create(
            model="mock/embed-a", input=[[number] for number in range(500)], dimensions=1000
        )
        self.assertEqual(len(answer.data[499].embedding), 1000)

    def test_errors(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            OpenAI(base_url=BASE_URL, api_key=KEY).embeddings.create(model="mock/embed-a", input="")
        self.assertEqual(caught.exception.param, "input")
