"""`ChatOpenAI` of `langchain-openai`."""

from typing import Optional
from unittest.mock import patch

import openai
import tiktoken
from gateway import BASE_URL, KEY, WEATHER, GatewayTest, create_prompt
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel, Field


def model(name="mock/model-a", **options):
    return ChatOpenAI(base_url=BASE_URL, api_key=KEY, model=name, **options)


@tool
def get_weather(city: str) -> str:
    """Looks up the weather."""
    return f"21 °C in {city}"


class Triage(BaseModel):
    """A decision."""

    priority: str = Field(pattern="^(low|high)$")
    reason: Optional[str] = None


TRIAGE = Triage(priority="high")


class LangChain(GatewayTest):
    def test_invoke(self):
        message = model(temperature=0.2, max_tokens=50).invoke([SystemMessage("Be brief."), HumanMessage("Hi", name="Ada")])
        self.assertEqual(message.content, "Hello from model-a.")
        self.assertEqual(message.usage_metadata["total_tokens"], 18)
        self.assertEqual((self.sent()["temperature"], self.sent()["max_tokens"]), (0.2, 50))

    def test_invoke_a_stored_prompt(self):
        slug = create_prompt()
        chat = model(f"prompt/{slug}", extra_body={"prompt": {"variables": {"name": "Ada"}}})
        self.assertEqual(chat.invoke("Go on").content, "Hello from model-a.")
        self.assertEqual([message["content"] for message in self.sent()["messages"]], ["Hello Ada", "Go on"])

    def test_invoke_with_an_image(self):
        content = [
            {"type": "text", "text": "What is this?"},
            {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"},
        ]
        model().invoke([HumanMessage(content)])
        self.assertEqual([part["type"] for part in self.sent()["messages"][0]["content"]], ["text", "image_url"])

    def test_stream(self):
        chunks = list(model(stream_usage=True).stream("Hi"))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        self.assertEqual((whole.content, whole.usage_metadata["output_tokens"]), ("Hello from model-a.", 7))
        self.assertGreater(len(chunks), 3)

    def test_batch(self):
        self.assertEqual([message.content for message in model().batch(["a", "b", "c"])], ["Hello from model-a."] * 3)

    def test_bind_tools(self):
        for options in [{}, {"strict": True, "parallel_tool_calls": False, "tool_choice": "get_weather"}]:
            with self.subTest(options):
                self.setUp()
                self.answer({"toolCall": WEATHER})
                chat = model().bind_tools([get_weather], **options)
                messages = [HumanMessage("How is Oslo?")]
                called = chat.invoke(messages)
                messages += [called, get_weather.invoke(called.tool_calls[0])]
                self.assertEqual(chat.invoke(messages).content, "Hello from model-a.")
                sent = self.sent(1)["messages"]
                self.assertEqual([message["role"] for message in sent], ["user", "assistant", "tool"])
                self.assertEqual(sent[2]["content"], "21 °C in Oslo")

    def test_stream_of_tools(self):
        self.answer({"text": "Let me look."}, {"toolCall": WEATHER})
        whole = None
        for chunk in model().bind_tools([get_weather]).stream("How is Oslo?"):
            whole = chunk if whole is None else whole + chunk
        self.assertEqual([(call["name"], call["args"]) for call in whole.tool_calls], [("get_weather", {"city": "Oslo"})])

    def test_with_structured_output(self):
        for method in ["json_schema", "json_mode"]:
            with self.subTest(method):
                self.setUp()
                self.answer({"text": TRIAGE.model_dump_json()})
                self.assertEqual(model().with_structured_output(Triage, method=method).invoke("Hi, in JSON"), TRIAGE)
        with self.subTest("function_calling"):
            self.setUp()
            self.answer({"toolCall": {"id": "1", "name": "Triage", "arguments": TRIAGE.model_dump_json()}})
            self.assertEqual(model().with_structured_output(Triage, method="function_calling").invoke("Hi"), TRIAGE)

    def test_responses(self):
        chat = model(use_responses_api=True)
        self.assertEqual(chat.invoke("Hi").text, "Hello from model-a.")
        self.assertEqual("".join(chunk.text for chunk in chat.stream("Hi")), "Hello from model-a.")
        self.answer({"toolCall": WEATHER})
        bound = chat.bind_tools([get_weather])
        messages = [HumanMessage("How is Oslo?")]
        called = bound.invoke(messages)
        messages += [called, get_weather.invoke(called.tool_calls[0])]
        self.assertEqual(bound.invoke(messages).text, "Hello from model-a.")
        self.answer({"text": TRIAGE.model_dump_json()})
        self.assertEqual(chat.with_structured_output(Triage).invoke("Hi"), TRIAGE)

    def test_drops_thought_signatures(self):
        """A limitation of the package: it keeps id, name and arguments of a call only."""
        call = {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "SIG"}
        self.google(call)
        chat = model("google/gemini").bind_tools([get_weather])
        called = chat.invoke("How is Oslo?")
        chat.invoke([HumanMessage("How is Oslo?"), called, get_weather.invoke(called.tool_calls[0])])
        self.assertNotIn("thoughtSignature", str(self.sent(1)["contents"]))

    def test_failures_are_those_of_the_openai_package(self):
        with self.assertRaises(openai.BadRequestError):
            model(n=2).invoke("Hi")
        for name, calls in {"mock-401": 1, "mock-garbage": 1, "mock-reset": 1, "mock-503": 3}.items():
            with self.subTest(name):
                self.setUp()
                with self.assertRaises(openai.InternalServerError):
                    model(f"mock/{name}").invoke("Hi")
                self.assert_calls(calls)
        with self.subTest("a stream that breaks"):
            self.setUp()
            with self.assertRaises(openai.APIError):
                list(model("mock/mock-error").stream("Hi"))
            self.assert_calls(1)


def embeddings(name="mock/embed-a", **options):
    return OpenAIEmbeddings(base_url=BASE_URL, api_key=KEY, model=name, **options)


class Embeddings(GatewayTest):
    def test_texts(self):
        vectors = embeddings(check_embedding_ctx_length=False, dimensions=8).embed_documents(["a", "b"])
        self.assertEqual([len(vector) for vector in vectors], [8, 8])
        self.assertEqual((self.sent()["input"], self.sent()["dimensions"]), (["a", "b"], 8))

    def test_batches(self):
        texts = [f"text {index}" for index in range(5)]
        vectors = embeddings(check_embedding_ctx_length=False, chunk_size=2).embed_documents(texts)
        self.assertEqual(len(vectors), 5)
        self.assert_calls(3)

    def test_tokens(self):
        """By default it sends tokens. Its tokenizer downloads its table, so a small one stands in for it."""
        encoding = tiktoken.Encoding("bytes", pat_str=".", mergeable_ranks={bytes([byte]): byte for byte in range(256)}, special_tokens={})
        with patch.object(tiktoken, "encoding_for_model", lambda name: encoding):
            vectors = embeddings().embed_documents(["ab", "c"])
        self.assertEqual(self.sent()["input"], [[97, 98], [99]])
        self.assertEqual(len(vectors), 2)

    def test_without_a_provider(self):
        vector = embeddings("echo/echo-embed", check_embedding_ctx_length=False).embed_query("out of paper")
        self.assertAlmostEqual(sum(number * number for number in vector), 1, places=5)
