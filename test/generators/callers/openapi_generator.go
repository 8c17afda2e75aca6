package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	gateway "example.com/example/gateway"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func given[Value any](name string) Value {
	var value Value
	check(json.Unmarshal([]byte(os.Getenv(name)), &value))
	return value
}

func main() {
	configuration := gateway.NewConfiguration()
	configuration.Servers = gateway.ServerConfigurations{{URL: os.Getenv("GATEWAY_URL")}}
	client := gateway.NewAPIClient(configuration)
	key := context.WithValue(context.Background(), gateway.ContextAccessToken, os.Getenv("GATEWAY_KEY"))

	prompt, _, err := client.PromptsAPI.CreatePrompt(key).PromptCreate(given[gateway.PromptCreate]("PROMPT")).Execute()
	check(err)
	invocation := given[gateway.InvokeRequest]("INVOCATION")
	result, _, err := client.PromptsAPI.InvokePrompt(key, prompt.Id).InvokeRequest(invocation).Execute()
	check(err)
	page, _, err := client.PromptsAPI.ListPrompts(key).Execute()
	check(err)
	order, _, err := client.OrdersAPI.CreateOrder(key).OrderCreate(given[gateway.OrderCreate]("ORDER")).Execute()
	check(err)
	_, _, err = client.PromptsAPI.InvokePrompt(key, prompt.Id).InvokeRequest(gateway.InvokeRequest{}).Execute()
	var failure *gateway.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Fatal("no problem: ", err)
	}
	problem, isProblem := failure.Model().(gateway.InvokePrompt422Problem)
	if !isProblem {
		log.Fatalf("%T instead of a problem: %s", failure.Model(), failure.Error())
	}
	listed := false
	for _, one := range page.Data {
		listed = listed || one.Id == prompt.Id
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"text":    result.Text,
		"listed":  listed,
		"total":   order.Total,
		"problem": problem.Detail,
	}))
}
