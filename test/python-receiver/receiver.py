"""Receives deliveries, verifies each with the `standardwebhooks` package, and validates it with `jsonschema` against the
schema that it gets from the service by the `$id`, without a key. Prints its port, then what it found."""

import json
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import urljoin
from urllib.request import urlopen

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from standardwebhooks.webhooks import Webhook

service, secret, expected = sys.argv[1], sys.argv[2], int(sys.argv[3])
webhook = Webhook(secret)
retrieved = []


def retrieve(uri: str) -> Resource:
    retrieved.append(uri)
    with urlopen(uri) as answer:
        return Resource.from_contents(json.load(answer))


def read_headers_schema() -> dict:
    with urlopen(urljoin(service, "/asyncapi.json")) as answer:
        return json.load(answer)["components"]["schemas"]["DeliveryHeaders"]


registry = Registry(retrieve=retrieve)
lock = Lock()
validators: dict = {}


def validator_of(event_type: str) -> Draft202012Validator:
    """A validator of the schema at its address. The `$id` of the schema must lead to the same address."""
    global registry
    if event_type not in validators:
        uri = urljoin(service, f"/schemas/events/{event_type}/v1.json")
        found = registry.get_or_retrieve(uri)
        registry = found.registry
        schema = found.value.contents
        assert urljoin(uri, schema["$id"]) == uri, schema["$id"]
        Draft202012Validator.check_schema(schema)
        by_reference = {"$ref": uri}
        validators[event_type] = Draft202012Validator(by_reference, registry=registry, format_checker=FormatChecker())
        assert list(validators[event_type].iter_errors({"type": event_type})), "an empty event is valid"
    return validators[event_type]


headers_validator = Draft202012Validator(read_headers_schema())
valid: Counter = Counter()
ids = set()
mistakes = []


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            # As ASGI and WSGI frameworks pass them on: in lower case.
            headers = {name.lower(): value for name, value in self.headers.items()}
            event = webhook.verify(body, headers)
            with lock:
                validator = validator_of(event["type"])
            errors = [*validator.iter_errors(event), *headers_validator.iter_errors(headers)]
            if errors:
                raise ValueError(errors[0].message)
            if event["id"] != headers["webhook-id"]:
                raise ValueError("webhook-id is not the id of the event")
            ids.add(event["id"])
            valid[event["type"]] += 1
        except Exception as error:  # whatever it is, the delivery is not as published
            mistakes.append(f"{type(error).__name__}: {error}")
        self.send_response(204)
        self.end_headers()
        if mistakes or len(ids) >= expected:
            server.is_done = True

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    is_done = False
    daemon_threads = True

    def service_actions(self) -> None:
        if self.is_done:
            self._BaseServer__shutdown_request = True


server = Server(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever(poll_interval=0.1)
if mistakes:
    sys.exit("\n".join(mistakes[:10]))
counts = ", ".join(f"{count} {event_type}" for event_type, count in sorted(valid.items()))
print(f"verified and validated {len(ids)} events ({counts}) with {len(retrieved)} schemas")
