import json
import os

from client import AuthenticatedClient
from client.api.orders import create_order
from client.api.prompts import create_prompt, invoke_prompt, list_prompts
from client.models import InvokeRequest, OrderCreate, PromptCreate

gateway = AuthenticatedClient(base_url=os.environ["GATEWAY_URL"], token=os.environ["GATEWAY_KEY"])


def given(model, name):
    return model.from_dict(json.loads(os.environ[name]))


prompt = create_prompt.sync(client=gateway, body=given(PromptCreate, "PROMPT"))
result = invoke_prompt.sync(prompt.id, client=gateway, body=given(InvokeRequest, "INVOCATION"))
page = list_prompts.sync(client=gateway)
order = create_order.sync(client=gateway, body=given(OrderCreate, "ORDER"))
problem = invoke_prompt.sync(prompt.id, client=gateway, body=InvokeRequest())
listed = [one.id for one in page.data]
print(json.dumps({
    "text": result.text,
    "listed": prompt.id in listed,
    "total": order.total,
    "problem": problem.detail,
}))
