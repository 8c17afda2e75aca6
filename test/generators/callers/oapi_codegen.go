package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"example.com/example/gateway/gateway"
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

func withKey(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("GATEWAY_KEY"))
	return nil
}

func main() {
	client, err := gateway.NewClientWithResponses(os.Getenv("GATEWAY_URL"), gateway.WithRequestEditorFn(withKey))
	check(err)
	ctx := context.Background()

	created, err := client.CreatePromptWithResponse(ctx, nil, given[gateway.PromptCreate]("PROMPT"))
	check(err)
	prompt := created.JSON201
	result, err := client.InvokePromptWithResponse(ctx, prompt.Id, nil, given[gateway.InvokeRequest]("INVOCATION"))
	check(err)
	page, err := client.ListPromptsWithResponse(ctx, nil)
	check(err)
	order, err := client.CreateOrderWithResponse(ctx, nil, given[gateway.OrderCreate]("ORDER"))
	check(err)
	refused, err := client.InvokePromptWithResponse(ctx, prompt.Id, nil, gateway.InvokeRequest{})
	check(err)
	listed := false
	for _, one := range page.JSON200.Data {
		listed = listed || one.Id == prompt.Id
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"text":    result.JSON200.Text,
		"listed":  listed,
		"total":   order.JSON201.Total,
		"problem": refused.ApplicationproblemJSON422.Detail,
	}))
}
