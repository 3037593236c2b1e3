package openai_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// readField reads cases that users of other products reported.
func readField(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A server gets back the thoughts that it sent, with every message of a conversation with calls.
func TestReasoningReturns(t *testing.T) {
	var cases []struct {
		Source, Input, Right string
		Replies              []json.RawMessage
		Elsewhere            bool
		Want                 []map[string]string
	}
	readField(t, "testdata/field/reasoning.json", &cases)
	for _, c := range cases {
		t.Run(c.Input, func(t *testing.T) {
			var replies []wiretest.Reply
			for _, delta := range c.Replies {
				replies = append(replies, wiretest.Reply{Body: `data: {"choices":[{"delta":` + string(delta) + "}]}\n\ndata: [DONE]\n\n"})
			}
			server := wiretest.Serve(t, append(replies, wiretest.Reply{Body: "data: [DONE]\n\n"})...)
			m := connect(t, server)
			req := wiretest.Hello()
			for range c.Replies {
				req.Messages = append(req.Messages, respond(t, m, req), userTurn())
			}
			if c.Elsewhere {
				var err error
				m, err = openai.New(openai.Config{Model: "m", BaseURL: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), HTTPClient: server.Client})
				if err != nil {
					t.Fatal(err)
				}
			}
			for range m.Generate(t.Context(), req) {
				continue
			}
			requests := server.Requests()
			if got := reasoningIn(t, requests[len(requests)-1].Body); !cmp.Equal(got, c.Want) {
				t.Errorf("%s\n%s", c.Right, cmp.Diff(c.Want, got))
			}
		})
	}
}

// respond returns the message of the next response.
func respond(t *testing.T, m model.Model, req model.Request) model.Message {
	t.Helper()
	for chunk, err := range m.Generate(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Response != nil {
			return chunk.Response.Message
		}
	}
	t.Fatal("there is no response")
	return model.Message{}
}

// userTurn has a result and a text. The id of the result does not matter to the server of the test.
func userTurn() model.Message {
	return model.Message{Role: model.RoleUser, Blocks: []model.Block{
		{ToolResult: &model.ToolResult{ID: "call_a", Content: []tool.Content{tool.Text("5")}}},
		{Text: &model.Text{Text: "thanks"}},
	}}
}

// reasoningIn returns the fields with thoughts of each assistant message of a request.
func reasoningIn(t *testing.T, body []byte) []map[string]string {
	t.Helper()
	var sent struct{ Messages []map[string]any }
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, message := range sent.Messages {
		if message["role"] != "assistant" {
			continue
		}
		fields := make(map[string]string)
		for name, value := range message {
			if text, ok := value.(string); ok && strings.HasPrefix(name, "reasoning") {
				fields[name] = text
			}
		}
		all = append(all, fields)
	}
	return all
}
