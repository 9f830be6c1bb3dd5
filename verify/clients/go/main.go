// go-openai against a server: an answer, a stream, and a tool loop, whole and streamed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

func check(ok bool, what string, got any) {
	if !ok {
		panic(fmt.Sprintf("%s: %v", what, got))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// whole reads a stream into one message.
func whole(stream *openai.ChatCompletionStream) openai.ChatCompletionMessage {
	defer stream.Close()
	message := openai.ChatCompletionMessage{Role: "assistant"}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return message
		}
		if err != nil {
			panic(err)
		}
		for _, choice := range chunk.Choices {
			message.Content += choice.Delta.Content
			for _, call := range choice.Delta.ToolCalls {
				for len(message.ToolCalls) <= *call.Index {
					message.ToolCalls = append(message.ToolCalls, openai.ToolCall{Type: "function"})
				}
				at := &message.ToolCalls[*call.Index]
				at.ID += call.ID
				at.Function.Name += call.Function.Name
				at.Function.Arguments += call.Function.Arguments
			}
		}
	}
}

func main() {
	config := openai.DefaultConfig("none")
	config.BaseURL = os.Args[1]
	client := openai.NewClientWithConfig(config)
	ctx := context.Background()

	asked := func(text string) []openai.ChatCompletionMessage {
		return []openai.ChatCompletionMessage{{Role: "user", Content: text}}
	}
	hello := openai.ChatCompletionRequest{Model: "divisi", Messages: asked("Say: hello"), Temperature: 0.5}
	answer := must(client.CreateChatCompletion(ctx, hello))
	check(answer.Choices[0].Message.Content == "hello", "answer", answer)
	check(whole(must(client.CreateChatCompletionStream(ctx, hello))).Content == "hello", "stream", "")

	var schema any
	_ = json.Unmarshal([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`), &schema)
	tools := []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{
		Name: "weather", Description: "The weather of a city.", Parameters: schema}}}

	for _, streams := range []bool{false, true} {
		messages := asked("What is the weather in Paris?")
		calls := 0
		for turn := 0; turn < 4; turn++ {
			request := openai.ChatCompletionRequest{Model: "divisi", Messages: messages, Tools: tools}
			var message openai.ChatCompletionMessage
			if streams {
				message = whole(must(client.CreateChatCompletionStream(ctx, request)))
			} else {
				message = must(client.CreateChatCompletion(ctx, request)).Choices[0].Message
			}
			messages = append(messages, message)
			if len(message.ToolCalls) == 0 {
				break
			}
			for _, call := range message.ToolCalls {
				calls++
				var given struct{ City string }
				if err := json.Unmarshal([]byte(call.Function.Arguments), &given); err != nil {
					panic(err)
				}
				messages = append(messages, openai.ChatCompletionMessage{
					Role: "tool", ToolCallID: call.ID, Content: "It is sunny in " + given.City + "."})
			}
		}
		last := messages[len(messages)-1]
		check(calls > 0 && strings.Contains(last.Content, "sunny in Paris"), "tool loop", last)
	}
}
