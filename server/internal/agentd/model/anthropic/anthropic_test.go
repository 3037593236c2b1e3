package anthropic_test

import (
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

var _ = flag.Bool("update", false, "write what the tests got into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, server *wiretest.Server) model.Model {
	t.Helper()
	m, err := anthropic.New(anthropic.Config{Model: "claude-test", BaseURL: server.URL, APIKey: "key", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each recorded event stream has one quirk of a server.
func TestStreams(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		server := wiretest.Serve(t, wiretest.Reply{Body: files["events"]})
		return wiretest.Transcript(t, connect(t, server).Generate(t.Context(), wiretest.Hello()))
	})
}

// The same streams arrive three bytes at a time. The result must not depend on which bytes arrive
// together.
func TestStreamsInPieces(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		server := wiretest.Serve(t, wiretest.Reply{Body: files["events"], Piece: 3})
		return wiretest.Transcript(t, connect(t, server).Generate(t.Context(), wiretest.Hello()))
	})
}

const half = `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"write","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}

`

func TestInterruptions(t *testing.T) { wiretest.Interruptions(t, connect, half, 1) }

func TestNoServerIsWorthAnotherTry(t *testing.T) { wiretest.NoServer(t, openAt) }

func TestABrokenConnectionIsWorthAnotherTry(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Body: half, Cut: true})
	got := wiretest.Transcript(t, connect(t, server).Generate(t.Context(), wiretest.Hello()))
	if !strings.Contains(got, "arguments 0 \"{\\\"a\\\":\"\nerror reading Anthropic's answer failed: ") || !strings.Contains(got, "retryable true") {
		t.Fatalf("got\n%s", got)
	}
}

// Each event yields a chunk: the model's thoughts, or one with Alive set.
func TestAThinkingModelIsAlive(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/thinking.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
	signs := 0
	for chunk, err := range connect(t, server).Generate(t.Context(), wiretest.Hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if !chunk.Alive && chunk.ReasoningDelta == nil {
			break
		}
		signs++
	}
	if signs < 3 {
		t.Fatalf("there were %d signs of life before there was anything to show", signs)
	}
}

func TestFailures(t *testing.T) {
	body := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
	}
	json := http.Header{"Content-Type": {"application/json"}}
	wiretest.Failures(t, connect, map[string]wiretest.Failing{
		"rate limit": {
			Reply: wiretest.Reply{Status: 429, Header: http.Header{"Retry-After": {"7"}, "Content-Type": {"application/json"}}, Body: body("rate_limit_error", "slow down")},
			Want:  model.Error{Status: 429, Code: "rate_limit_error", Message: "Anthropic could not take the request: slow down", RetryAfter: 7 * time.Second, Retryable: true},
		},
		"overloaded": {
			Reply: wiretest.Reply{Status: 529, Header: json, Body: body("overloaded_error", "Overloaded")},
			Want:  model.Error{Status: 529, Code: "overloaded_error", Message: "Anthropic could not take the request: Overloaded", Retryable: true},
		},
		"bad key": {
			Reply: wiretest.Reply{Status: 401, Header: json, Body: body("authentication_error", "invalid x-api-key")},
			Want:  model.Error{Unusable: true, Status: 401, Code: "authentication_error", Message: "Anthropic refused the request: invalid x-api-key; check the API key"},
		},
		"too long": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")},
			Want:  model.Error{Status: 400, Code: "invalid_request_error", Message: "Anthropic refused the request: prompt is too long: 210000 tokens > 200000 maximum", ContextOverflow: true},
		},
		"no room for the answer": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: body("invalid_request_error", "input length and max_tokens exceed context limit: 1 + 2 > 2")},
			Want:  model.Error{Status: 400, Code: "invalid_request_error", Message: "Anthropic refused the request: input length and max_tokens exceed context limit: 1 + 2 > 2", ContextOverflow: true},
		},
		"too large": {
			Reply: wiretest.Reply{Status: 413, Header: json, Body: body("request_too_large", "Request exceeds the maximum size")},
			Want:  model.Error{Status: 413, Code: "request_too_large", Message: "Anthropic refused the request: Request exceeds the maximum size", ContextOverflow: true},
		},
		"bad request": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: body("invalid_request_error", "max_tokens: too many")},
			Want:  model.Error{Status: 400, Code: "invalid_request_error", Message: "Anthropic refused the request: max_tokens: too many"},
		},
		"page of a proxy": {
			Reply: wiretest.Reply{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>\n  <h1>Bad Gateway</h1>\n" + strings.Repeat("é", 400)},
			Want:  model.Error{Status: 502, Message: "Anthropic could not take the request: <html> <h1>Bad Gateway</h1> " + strings.Repeat("é", 136) + "…", Retryable: true},
		},
		"nothing": {
			Reply: wiretest.Reply{Status: 500},
			Want:  model.Error{Status: 500, Message: "Anthropic could not take the request: it did not say why", Retryable: true},
		},
		"no such API": {
			Reply: wiretest.Reply{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Welcome</html>"},
			Want:  model.Error{Status: 200, Message: `the answer is of type "text/html", not an event stream; check that the base URL is that of an Anthropic API`},
		},
	})
}

func TestNewRefuses(t *testing.T) {
	for name, config := range map[string]anthropic.Config{
		"no model":     {},
		"bad base URL": {Model: "m", BaseURL: "localhost:8080"},
	} {
		if _, err := anthropic.New(config); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, "testdata", func(client *http.Client) (model.Model, error) {
		return anthropic.New(anthropic.Config{Model: "claude-test", BaseURL: "http://test.invalid/v1", HTTPClient: client})
	})
}
