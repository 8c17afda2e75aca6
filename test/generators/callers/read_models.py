"""Has the generated models read the examples of their schemas."""

import json
import sys

import pydantic

import models

with open(sys.argv[1], encoding="utf-8") as file:
    schemas = json.load(file)
mistakes = []
for name, examples in schemas.items():
    model = getattr(models, name, None)
    if model is None:
        mistakes.append(f"{name} has no model")
        continue
    for example in examples:
        try:
            pydantic.TypeAdapter(model).validate_python(example)
        except pydantic.ValidationError as error:
            mistakes.append(f"{name}: {error}")
if mistakes:
    sys.exit("\n".join(mistakes))
print(f"read the examples of {len(schemas)} schemas")
