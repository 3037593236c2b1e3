package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/responses"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// TestCutCallsAreNotMade plays two streams of each provider: one that the token limit cuts in the
// middle of a call, and then one that ends. The tool previews the call while the model writes, but
// executes nothing. The agent asks the model again with a larger limit, and the model reads a
// result for the call that was cut.
func TestCutCallsAreNotMade(t *testing.T) {
	for name, test := range map[string]struct {
		cut, whole string // archives of the providers' tests
		open       func(*wiretest.Server) (model.Model, error)
		limit      string // the field with the token limit
	}{
		"anthropic": {
			"../model/anthropic/testdata/cut_off_call.txtar", "../model/anthropic/testdata/text.txtar",
			func(s *wiretest.Server) (model.Model, error) {
				return anthropic.New(anthropic.Config{Model: "m", BaseURL: s.URL, HTTPClient: s.Client})
			}, "max_tokens",
		},
		"openai": {
			"../model/openai/testdata/finish_length.txtar", "../model/openai/testdata/text.txtar",
			func(s *wiretest.Server) (model.Model, error) {
				return openai.New(openai.Config{Model: "m", BaseURL: s.URL, HTTPClient: s.Client})
			}, "max_tokens",
		},
		"openai-responses": {
			"../model/openai/responses/testdata/call_cut.txtar", "../model/openai/responses/testdata/text.txtar",
			func(s *wiretest.Server) (model.Model, error) {
				return responses.New(responses.Config{Model: "m", BaseURL: s.URL, HTTPClient: s.Client})
			}, "max_output_tokens",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := wiretest.Serve(t, wiretest.Reply{Body: recorded(t, test.cut)}, wiretest.Reply{Body: recorded(t, test.whole)})
			m, err := test.open(server)
			if err != nil {
				t.Fatal(err)
			}
			host := hosttest.New(t, nil, unused(t, "write_file"), unused(t, "one"))
			f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model, c.Tools = m, host })
			f.start(loop.Task{Limits: loop.Limits{MaxResponseTokens: 500}})
			if end := f.end(); end.StopReason != loop.StopEndTurn {
				t.Errorf("ended with %+v", end)
			}
			if n := len(host.Opened()); n != 1 {
				t.Errorf("%d calls were opened; the tool was to look on", n)
			}
			requests := server.Requests()
			if len(requests) != 2 {
				t.Fatalf("the model was asked %d times", len(requests))
			}
			var first, second map[string]json.RawMessage
			if json.Unmarshal(requests[0].Body, &first) != nil || json.Unmarshal(requests[1].Body, &second) != nil {
				t.Fatal("a request is no JSON")
			}
			if string(first[test.limit]) != "500" || string(second[test.limit]) != "1000" {
				t.Errorf("the limits were %s and %s", first[test.limit], second[test.limit])
			}
			if conversation := string(second["messages"]) + string(second["input"]); !strings.Contains(conversation, "[not run]") {
				t.Errorf("the model does not read that its call was not made: %s", conversation)
			}
		})
	}
}

// unused is a tool that previews calls and must not execute any.
func unused(t *testing.T, name string) hosttest.Tool {
	return hosttest.Tool{
		Spec:    tool.Spec{Name: name, Description: "Writes.", InputSchema: json.RawMessage(`{"type":"object"}`), PartialArguments: true},
		Preview: func([]byte, func(tool.Event)) {},
		Run: func(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
			t.Errorf("the call was made, with %s", call.Arguments)
			return tool.Result{}, nil
		},
	}
}

func recorded(t *testing.T, path string) string {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(archive.Files[0].Data)
}
