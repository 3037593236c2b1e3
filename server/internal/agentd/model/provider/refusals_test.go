package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// bodies are errors in the forms of the APIs, with a status and a message.
var bodies = map[string]string{
	"openai":           `{"error":{"message":%[2]q,"type":"error %[1]d"}}`,
	"openai-responses": `{"error":{"message":%[2]q,"code":null}}`,
	"anthropic":        `{"type":"error","error":{"type":"error %[1]d","message":%[2]q}}`,
	"gemini":           `[{"error":{"code":%[1]d,"message":%[2]q,"status":""}}]`,
}

// meaningOf returns what the agent makes of an error.
func meaningOf(e *model.Error) string {
	switch {
	case e.ContextOverflow:
		return "overflow"
	case e.Unusable && !e.Retryable:
		return "spent"
	case e.RefusedImage && !e.Retryable:
		return "image"
	case e.Overloaded() && e.Busy:
		return "busy"
	case e.Retryable:
		return "wait"
	}
	return "refused"
}

// The words that servers use mean the same through each API, because compatible servers and
// gateways exist for each.
func TestFieldRefusals(t *testing.T) {
	data, err := os.ReadFile("testdata/field/refusals.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source, Message, Means string
		Status                 int
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for api, form := range bodies {
		for _, c := range cases {
			t.Run(api+" "+c.Source, func(t *testing.T) {
				server := wiretest.Serve(t, wiretest.Reply{Status: c.Status, Body: fmt.Sprintf(form, c.Status, c.Message)})
				m, err := provider.Open(provider.Choice{Model: api + ":m", BaseURL: server.URL, HTTPClient: server.Client})
				if err != nil {
					t.Fatal(err)
				}
				got := wiretest.Failure(t, m, wiretest.Hello())
				means := meaningOf(got)
				if means == "wait" && got.Overloaded() && c.Means == "busy" {
					means = "busy" // by its status
				}
				if means != c.Means {
					t.Errorf("status %d, %q: is %s, want %s\n%+v", c.Status, c.Message, means, c.Means, got)
				}
			})
		}
	}
}

// OpenRouter wraps the error of the server behind it, and says nothing itself.
func TestTheErrorBehindAGateway(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: `{"error":{"message":"Provider returned error","code":400,"metadata":{` +
		`"raw":"{\"detail\":\"Input length 131393 exceeds the maximum allowed input length of 131040 tokens.\"}","provider_name":"x"}}}`})
	m, err := provider.Open(provider.Choice{Model: "openai:m", BaseURL: server.URL, HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	if got := wiretest.Failure(t, m, wiretest.Hello()); !got.ContextOverflow {
		t.Errorf("got %+v", got)
	}
}

// A parameter that a server refuses is left out of the request that follows at once, and of all
// later ones.
func TestRefusedParameters(t *testing.T) {
	const done = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for name, body := range map[string]string{
		"hermes-agent#109143":    `{"error":{"message":"Unknown parameter: stream_options","param":"stream_options"}}`,
		"new-api#418":            `{"error":{"message":"Unknown parameter: 'stream_options'. (request id: 2024)","type":"invalid_request_error"}}`,
		"Flowise#2866":           `{"error":{"message":"Extra inputs are not permitted, field: 'stream_options'"}}`,
		"gpustack#429":           `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]}`,
		"garak#748":              `{"title":"Unprocessable Entity","status":422,"detail":"body -> stream_options\n  Extra inputs are not permitted (type=extra_forbidden)"}`,
		"Azure":                  `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null}}`,
		"Groq, picoclaw#1196":    `{"error":{"message":"property 'stream_options' is unsupported"}}`,
		"Gemini's endpoint":      `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"stream_options\": Cannot find field."}}]`,
		"a server in Go":         `{"error":"json: unknown field \"stream_options\""}`,
		"a server in Rust":       `{"error":{"message":"unknown field ` + "`stream_options`" + `, expected one of ` + "`model`" + `"}}`,
		"a server in Python":     `{"error":{"message":"create() got an unexpected keyword argument 'stream_options'"}}`,
		"a validator":            `{"error":{"message":"Additional properties are not allowed ('stream_options' was unexpected)"}}`,
		"LiteLLM":                `{"error":{"message":"UnsupportedParamsError: x does not support parameters: {'stream_options': {}}"}}`,
		"behind OpenRouter":      `{"error":{"message":"Provider returned error","metadata":{"raw":"{\"message\":\"Unsupported parameter: stream_options\"}"}}}`,
		"only the path of a use": `{"error":{"message":"bad","param":"stream_options.include_usage"}}`,
	} {
		for _, status := range []int{400, 422} {
			server := wiretest.Serve(t, wiretest.Reply{Status: status, Body: body}, wiretest.Reply{Body: done})
			m, err := provider.Open(provider.Choice{Model: "openai:m", BaseURL: server.URL, HTTPClient: server.Client})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := wiretest.Transcript(t, m.Generate(t.Context(), wiretest.Hello())); got == "" || len(server.Requests()) > 3 {
					t.Fatalf("%s: got %s", name, got)
				}
			}
			var sent []bool
			for _, r := range server.Requests() {
				var fields map[string]json.RawMessage
				if err := json.Unmarshal(r.Body, &fields); err != nil {
					t.Fatal(err)
				}
				sent = append(sent, fields["stream_options"] != nil)
			}
			if got := fmt.Sprint(sent); got != "[true false false]" {
				t.Errorf("%s, status %d: sent %s", name, status, got)
			}
		}
	}
}

// Each API has one place for what it can do without.
func TestRefusedParametersOfOtherAPIs(t *testing.T) {
	for _, c := range []struct {
		api, message, field string
	}{
		{"anthropic:claude-x", `system.0.cache_control: Extra inputs are not permitted`, "cache_control"},
		{"anthropic:claude-x", `*.cache_control: Extra inputs are not permitted`, "cache_control"}, // cg-dot/vertexai-cf-workers#21
		{"gemini:gemini-3-flash", `Invalid JSON payload received. Unknown name "includeThoughts" at 'generation_config.thinking_config': Cannot find field.`, "includeThoughts"},
		{"gemini:gemini-3-flash", `thinking_config.include_thoughts is only enabled when thinking is enabled.`, "includeThoughts"},
		{"openai-responses:m", `Unknown parameter: 'include'.`, "include"},
		{"openai-responses:m", `store: Extra inputs are not permitted`, "store"},
	} {
		t.Run(c.api+" "+c.message, func(t *testing.T) {
			api, _, _ := strings.Cut(c.api, ":")
			server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: fmt.Sprintf(bodies[api], 400, c.message)}, wiretest.Reply{Status: 500, Body: "{}"})
			m, err := provider.Open(provider.Choice{Model: c.api, BaseURL: server.URL, HTTPClient: server.Client})
			if err != nil {
				t.Fatal(err)
			}
			req := wiretest.Hello()
			req.System = "Be brief."
			for range 2 {
				for _, err := range m.Generate(t.Context(), req) {
					if failed, ok := errors.AsType[*model.Error](err); ok && failed.Status != 500 {
						t.Fatalf("ended with %v", err)
					}
				}
			}
			var sent []bool
			for _, r := range server.Requests() {
				sent = append(sent, strings.Contains(string(r.Body), `"`+c.field+`"`))
			}
			if got := fmt.Sprint(sent); got != "[true false false]" {
				t.Errorf("sent %s", got)
			}
		})
	}
}
