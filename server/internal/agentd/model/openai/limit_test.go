package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// gateway is a server that accepts the limit of a response only under some names.
type gateway struct {
	accepts string // names, with a space between them
	status  int
	refusal string // the body for another name, with %s for it
	asked   []string
}

func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return nil, err
	}
	reply := func(status int, kind, body string) (*http.Response, error) {
		header := http.Header{"Content-Type": {kind}}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if sent[name] == nil {
			continue
		}
		g.asked = append(g.asked, name)
		if !strings.Contains(" "+g.accepts+" ", " "+name+" ") {
			return reply(g.status, "application/json", strings.ReplaceAll(g.refusal, "%s", name))
		}
	}
	return reply(200, "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// The host of a server only suggests the name of the limit of a response. A server that refuses the
// name gets the other one, once for all requests of the model (opencode#37964, gollm#33).
func TestTheOtherNameOfTheLimit(t *testing.T) {
	const official = "https://api.openai.com/v1"
	const other = "http://127.0.0.1:1/v1"
	for name, test := range map[string]struct {
		base    string
		gateway gateway
		want    string // the names asked for in two requests
		fails   string
	}{
		"a gateway to newer models": {
			other, gateway{"max_completion_tokens", 400, `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"%s","code":"unsupported_parameter"}}`, nil},
			"[max_tokens max_completion_tokens max_completion_tokens]", "",
		},
		"an older deployment of Azure": {
			"https://x.openai.azure.com/openai/v1", gateway{"max_tokens", 400, `{"error":{"message":"Unrecognized request argument supplied: %s","type":"invalid_request_error","param":null,"code":null}}`, nil},
			"[max_completion_tokens max_tokens max_tokens]", "",
		},
		"only the parameter names it": {
			other, gateway{"max_completion_tokens", 400, `{"error":{"message":"unknown","param":"%s"}}`, nil}, "[max_tokens max_completion_tokens max_completion_tokens]", "",
		},
		"a validator's status": {
			official, gateway{"max_tokens", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted","input":77}]}`, nil},
			"[max_completion_tokens max_tokens max_tokens]", "",
		},
		"neither name": {
			other, gateway{"", 400, `{"error":{"message":"%s is too large","type":"invalid_request_error","param":"%s"}}`, nil},
			"[max_tokens max_completion_tokens max_tokens max_completion_tokens]", "max_tokens is too large",
		},
		"another reason": {
			other, gateway{"", 400, `{"error":{"message":"no such model","type":"invalid_request_error"}}`, nil}, "[max_tokens max_tokens]", "no such model",
		},
		"too long": {
			other, gateway{"", 400, `{"error":{"message":"maximum context length is 8 tokens, %s was 77","code":"context_length_exceeded"}}`, nil}, "[max_tokens max_tokens]", "maximum context length",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := test.gateway
			m, err := openai.New(openai.Config{Model: "m", BaseURL: test.base, APIKey: "k", HTTPClient: &http.Client{Transport: &server}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				req := wiretest.Hello()
				req.MaxTokens = 77
				if test.fails != "" {
					if got := wiretest.Failure(t, m, req); !strings.Contains(got.Message, test.fails) {
						t.Errorf("failed with %v", got)
					}
				} else if got := wiretest.Transcript(t, m.Generate(t.Context(), req)); !strings.Contains(got, "end_turn") {
					t.Errorf("got\n%s", got)
				}
			}
			if got := fmt.Sprint(server.asked); got != test.want {
				t.Errorf("asked with %s, want %s", got, test.want)
			}
		})
	}
}

// A server may refuse the name of the limit and reasoning with tools, one after the other.
func TestTwoRefusalsOfOneRequest(t *testing.T) {
	limit := `{"error":{"message":"Use 'max_completion_tokens', not 'max_tokens'.","param":"max_tokens"}}`
	answer := wiretest.Reply{Body: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: limit}, wiretest.Reply{Status: 400, Body: noReasoning}, answer)
	m := connect(t, server)
	req := wiretest.Hello()
	req.MaxTokens, req.Tools = 77, []model.Tool{{Name: "now"}}
	for range 2 {
		if got := wiretest.Transcript(t, m.Generate(t.Context(), req)); !strings.Contains(got, "end_turn") {
			t.Fatalf("got\n%s", got)
		}
	}
	if n := len(server.Requests()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}
