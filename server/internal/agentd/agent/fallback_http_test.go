package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/gemini"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/responses"
)

// A stream of OpenAI's API that breaks off with an overload, after text and a part of a call, is
// continued by Anthropic's API. The next turn begins with the first model again. Nothing of the
// broken streams is in the journal, and the call of the response is made once.
func TestFallbackInTheMiddleOfAStream(t *testing.T) {
	const chunk = `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	var first, second atomic.Int32
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(format string, args ...any) { fmt.Fprintf(w, "data: "+format+"\n\n", args...) }
		if first.Add(1) > 2 {
			send(chunk, `{"role":"assistant","content":"done"}`, "null")
			send(chunk, `{}`, `"stop"`)
			send("[DONE]")
			return
		}
		send(chunk, `{"role":"assistant","content":"half"}`, "null")
		send(chunk, `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"echo","arguments":"{\"te"}}]}`, "null")
		send(`{"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`)
	}))
	defer busy.Close()
	var asked string
	idle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		second.Add(1)
		body, _ := io.ReadAll(r.Body)
		asked = string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"whole"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"echo","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`,
			`{"type":"message_stop"}`,
		} {
			name := strings.SplitN(event, `"`, 5)[3]
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, event)
		}
	}))
	defer idle.Close()
	a, err := openai.New(openai.Config{Model: "a", BaseURL: busy.URL, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := anthropic.New(anthropic.Config{Model: "b", BaseURL: idle.URL, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	tools := newTools(echo)
	f := newFixture(t, turns(), tools, func(c *agent.Config) {
		c.Models = map[string]agent.OfferedModel{"a": {Model: a, BaseURL: busy.URL}, "b": {Model: b, BaseURL: idle.URL}}
		c.Agents = map[string]agent.NamedAgent{"x": {Models: []string{"a", "b"}}}
		c.ModelRetry = agent.Retry{MaxAttempts: 3, Initial: time.Microsecond, Max: time.Microsecond}
	})
	f.start(loop.Task{Agent: "x"})
	if end := f.end(); end.StopReason != loop.StopEndTurn || end.Text != "done" {
		t.Fatalf("the run ended with %+v", end)
	}
	var said []string
	for _, e := range durable(f.watch(0)) {
		if p, ok := e.Payload.(*loop.AssistantMessage); ok {
			said = append(said, p.Model+" "+p.Text())
		}
	}
	if got := strings.Join(said, ", "); got != "anthropic:b whole, openai:a done" {
		t.Errorf("the responses are %s", got)
	}
	if n := len(tools.executions()); n != 1 || first.Load() != 3 || second.Load() != 1 {
		t.Errorf("%d calls, %d and %d requests", n, first.Load(), second.Load())
	}
	if strings.Contains(asked, "half") {
		t.Errorf("the fallback was told of the broken stream: %s", asked)
	}
}

// A model that the client cannot use leads to the next one, as each API says it. A refused request
// and refused content do not: the run ends with what the provider says.
func TestFallbackFromAModelThatCannotBeUsed(t *testing.T) {
	type failure struct {
		name, body string
		status     int
		next       bool
	}
	openAI := func(kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":"the reason","type":%q,"param":null,"code":%q}}`, kind, code)
	}
	ofOpenAI := []failure{
		{"wrong key", openAI("invalid_request_error", "invalid_api_key"), 401, true},
		{"no such model", openAI("invalid_request_error", "model_not_found"), 404, true},
		{"no quota", openAI("insufficient_quota", "insufficient_quota"), 429, true},
		{"inactive account", openAI("billing_not_active", "billing_not_active"), 429, true},
		{"no credit", `{"error":{"message":"the reason","code":402}}`, 402, true},
		{"unsupported country", openAI("request_forbidden", "unsupported_country_region_territory"), 403, true},
		{"flagged input", `{"error":{"message":"the reason","code":403,"metadata":{"reasons":["violence"],"flagged_input":"…"}}}`, 403, false},
		{"invalid request", openAI("invalid_request_error", "invalid_value"), 400, false},
		{"content policy", openAI("invalid_request_error", "content_policy_violation"), 400, false},
	}
	google := func(code int, status, reason string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":"the reason","status":%q,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q}]}}`, code, status, reason)
	}
	claude := func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"%s: the reason"}}`, kind, message)
	}
	for _, api := range []struct {
		name     string
		open     func(url string) (model.Model, error)
		failures []failure
	}{
		{"openai", func(url string) (model.Model, error) {
			return openai.New(openai.Config{Model: "a", BaseURL: url, APIKey: "k"})
		}, ofOpenAI},
		{"openai-responses", func(url string) (model.Model, error) {
			return responses.New(responses.Config{Model: "a", BaseURL: url, APIKey: "k"})
		}, ofOpenAI},
		{"anthropic", func(url string) (model.Model, error) {
			return anthropic.New(anthropic.Config{Model: "a", BaseURL: url, APIKey: "k"})
		}, []failure{
			{"wrong key", claude("authentication_error", ""), 401, true},
			{"no access", claude("permission_error", ""), 403, true},
			{"no such model", claude("not_found_error", ""), 404, true},
			{"no credit", claude("invalid_request_error", "Your credit balance is too low to access the Anthropic API"), 400, true},
			{"billing", claude("billing_error", ""), 402, true},
			{"invalid request", claude("invalid_request_error", ""), 400, false},
		}},
		{"gemini", func(url string) (model.Model, error) {
			return gemini.New(gemini.Config{Model: "a", BaseURL: url, APIKey: "k"})
		}, []failure{
			{"wrong key", google(400, "INVALID_ARGUMENT", "API_KEY_INVALID"), 400, true},
			{"no access", google(403, "PERMISSION_DENIED", ""), 403, true},
			{"no such model", google(404, "NOT_FOUND", ""), 404, true},
			{"no free tier here", google(400, "FAILED_PRECONDITION", ""), 400, true},
			{"invalid request", google(400, "INVALID_ARGUMENT", "FIELD_INVALID"), 400, false},
		}},
	} {
		for _, failure := range api.failures {
			t.Run(api.name+"/"+failure.name, func(t *testing.T) {
				var requests atomic.Int32
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					requests.Add(1)
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(failure.status)
					_, _ = io.WriteString(w, failure.body)
				}))
				defer server.Close()
				first, err := api.open(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				f := newFixture(t, turns(), newTools(echo), func(c *agent.Config) {
					c.Models = map[string]agent.OfferedModel{
						"first": {Model: first, BaseURL: server.URL}, "second": {Model: namedModel{turns(response(model.StopEndTurn, text("done"))), "fake:second"}},
					}
					c.Agents = map[string]agent.NamedAgent{"x": {Models: []string{"first", "second"}}}
				})
				f.start(loop.Task{Agent: "x"})
				end := f.end()
				if fell := end.Text == "done"; fell != failure.next || !fell && !strings.Contains(end.Message, "the reason") {
					t.Errorf("the run ended with %+v", end)
				}
				if requests.Load() != 1 {
					t.Errorf("%d requests", requests.Load())
				}
			})
		}
	}
}
