use gateway::apis::configuration::Configuration;
use gateway::apis::orders_api::create_order;
use gateway::apis::prompts_api::{create_prompt, invoke_prompt, list_prompts};
use gateway::apis::Error;
use std::env::var;

fn setting(name: &str) -> String {
    var(name).expect(name)
}

fn given<Value: serde::de::DeserializeOwned>(name: &str) -> Value {
    serde_json::from_str(&setting(name)).expect(name)
}

fn main() {
    let gateway = Configuration {
        base_path: setting("GATEWAY_URL"),
        bearer_access_token: Some(setting("GATEWAY_KEY")),
        ..Configuration::default()
    };
    let prompt = create_prompt(&gateway, given("PROMPT"), None).expect("a prompt");
    let invoke = |request| invoke_prompt(&gateway, &prompt.id, None, None, None, None, Some(request));
    let result = invoke(given("INVOCATION")).expect("an answer");
    let page = list_prompts(&gateway, None, None, None, None).expect("a page");
    let order = create_order(&gateway, given("ORDER"), None).expect("an order");
    let Err(Error::ResponseError(refused)) = invoke(gateway::models::InvokeRequest::new()) else {
        panic!("no problem");
    };
    let problem: gateway::models::ProblemFields = serde_json::from_str(&refused.content).expect("a problem");
    let listed = page.data.iter().any(|one| one.id == prompt.id);
    println!(
        "{}",
        serde_json::json!({ "text": result.text, "listed": listed, "total": order.total, "problem": problem.detail })
    );
}
