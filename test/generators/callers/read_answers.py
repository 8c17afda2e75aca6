"""Has the generated client read answers, and compares what it writes again with what it was given."""

import importlib
import json
import pkgutil
import sys
from datetime import datetime

import httpx

import client.api
from client import Client


def functions() -> dict:
    found = {}
    for module in pkgutil.walk_packages(client.api.__path__, "client.api."):
        found[module.name.rsplit(".", 1)[1].replace("_", "")] = module.name
    return found


def instants(value):
    """Times in one spelling: the client keeps the instant, not the text."""
    if isinstance(value, dict):
        return {name: instants(member) for name, member in value.items()}
    if isinstance(value, list):
        return [instants(member) for member in value]
    if isinstance(value, str) and len(value) > 18:
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            pass
    return value


def written(parsed):
    return [part.to_dict() for part in parsed] if isinstance(parsed, list) else parsed.to_dict()


modules = functions()
with open(sys.argv[1], encoding="utf-8") as file:
    answers = json.load(file)
mistakes = []
for release, given in answers.items():
    for answer in given:
        name = f"{answer['operationId']} {answer['status']} of {release}"
        module = importlib.import_module(modules[answer["operationId"].lower()])
        response = httpx.Response(answer["status"], json=answer["body"])
        try:
            parsed = module._parse_response(client=Client(base_url="http://127.0.0.1"), response=response)
            if instants(written(parsed)) != instants(answer["body"]):
                mistakes.append(f"{name}: {written(parsed)} instead of {answer['body']}")
        except Exception as error:  # whatever it is, the answer is lost
            mistakes.append(f"{name}: {type(error).__name__}: {error}")
if mistakes:
    sys.exit("\n".join(mistakes))
print(f"read {len(answers['today'])} examples as they are, and {len(answers['later'])} of a later release")
