package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// A response with more calls than any model makes is malformed, also if they are in one event.
func TestTooManyCalls(t *testing.T) {
	for most, malformed := range map[int]bool{model.MostCalls: false, model.MostCalls + 1: true} {
		var calls []string
		for i := range most {
			calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"echo","arguments":"{}"}}`, i, i))
		}
		body := `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(calls, ",") + "]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
		server := wiretest.Serve(t, wiretest.Reply{Body: body})
		if !malformed {
			for chunk, err := range connect(t, server).Generate(t.Context(), wiretest.Hello()) {
				if err != nil || chunk.Response != nil && len(chunk.Response.Message.Blocks) != most {
					t.Fatalf("%d calls: %+v, %v", most, chunk.Response, err)
				}
			}
			continue
		}
		if failed := wiretest.Failure(t, connect(t, server), wiretest.Hello()); !failed.Malformed || !strings.Contains(failed.Message, "more than 1000 tool calls") {
			t.Errorf("%d calls: %v", most, failed)
		}
	}
}

// White space without end after complete arguments is no part of the call.
func TestWhiteSpaceAfterArguments(t *testing.T) {
	const chunk = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,%s}]},"finish_reason":%s}]}` + "\n\n"
	body := fmt.Sprintf(chunk, `"id":"c","function":{"name":"echo","arguments":"{\"a\":1"}`, "null") +
		fmt.Sprintf(chunk, `"function":{"arguments":" }"}`, "null") +
		strings.Repeat(fmt.Sprintf(chunk, `"function":{"arguments":" \n"}`, "null"), 3) + fmt.Sprintf(chunk, `"function":{"arguments":"\n"}`, `"tool_calls"`)
	got := ""
	for chunk, err := range connect(t, wiretest.Serve(t, wiretest.Reply{Body: body})).Generate(t.Context(), wiretest.Hello()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case chunk.ArgumentDelta != nil:
			got += chunk.ArgumentDelta.Text
		case chunk.Response != nil && chunk.Response.Message.Blocks[0].ToolCall.Arguments != `{"a":1 }`:
			t.Errorf("the call is %+v", chunk.Response.Message.Blocks[0].ToolCall)
		}
	}
	if got != `{"a":1 }` {
		t.Errorf("shown %q", got)
	}
}
