import json
import os

import gateway

configuration = gateway.Configuration(host=os.environ["GATEWAY_URL"], access_token=os.environ["GATEWAY_KEY"])


def given(model, name):
    return model.from_json(os.environ[name])


with gateway.ApiClient(configuration) as client:
    prompts = gateway.PromptsApi(client)
    prompt = prompts.create_prompt(given(gateway.PromptCreate, "PROMPT"))
    result = prompts.invoke_prompt(prompt.id, invoke_request=given(gateway.InvokeRequest, "INVOCATION"))
    page = prompts.list_prompts()
    order = gateway.OrdersApi(client).create_order(given(gateway.OrderCreate, "ORDER"))
    try:
        prompts.invoke_prompt(prompt.id)
        problem = None
    except gateway.ApiException as error:
        problem = error.data.detail
    listed = [one.id for one in page.data]

print(json.dumps({
    "text": result.text,
    "listed": prompt.id in listed,
    "total": order.total,
    "problem": problem,
}))
