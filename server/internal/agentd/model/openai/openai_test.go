package openai_test

import (
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

var _ = flag.Bool("update", false, "write what the tests got into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, server *wiretest.Server) model.Model {
	t.Helper()
	m, err := openai.New(openai.Config{Model: "gpt-test", BaseURL: server.URL + "/v1", APIKey: "key", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each recorded event stream has one quirk of a server.
func TestStreams(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		return play(t, wiretest.Reply{Body: files["events"]})
	})
}

func TestEveryStreamNamesItsSource(t *testing.T) { wiretest.Sources(t, "testdata") }

// The same streams arrive three bytes at a time. The result must not depend on which bytes arrive
// together.
func TestStreamsInPieces(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		return play(t, wiretest.Reply{Body: files["events"], Piece: 3})
	})
}

var minted = regexp.MustCompile(`call_[A-Z2-7]{26}`)

// play returns the transcript, in which generated ids are numbered.
func play(t *testing.T, reply wiretest.Reply) string {
	t.Helper()
	numbers := make(map[string]int)
	got := wiretest.Transcript(t, connect(t, wiretest.Serve(t, reply)).Generate(t.Context(), wiretest.Hello()))
	return minted.ReplaceAllStringFunc(got, func(id string) string {
		if numbers[id] == 0 {
			numbers[id] = len(numbers) + 1
		}
		return fmt.Sprintf("minted_%d", numbers[id])
	})
}

const half = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"write","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}

`

func TestInterruptions(t *testing.T) { wiretest.Interruptions(t, connect, half, 0) }

func TestNoServerIsWorthAnotherTry(t *testing.T) { wiretest.NoServer(t, openAt) }

func TestABrokenConnectionIsWorthAnotherTry(t *testing.T) {
	got := play(t, wiretest.Reply{Body: half, Cut: true})
	if !strings.Contains(got, "arguments 0 \"{\\\"a\\\":\"\nerror reading the model's answer failed: ") || !strings.Contains(got, "retryable true") {
		t.Fatalf("got\n%s", got)
	}
}

func TestAConnectionThatBreaksAfterTheEndIsNoFailure(t *testing.T) {
	got := play(t, wiretest.Reply{Body: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n", Cut: true})
	if !strings.Contains(got, `"StopReason": "end_turn"`) {
		t.Fatalf("got\n%s", got)
	}
}

// While there is nothing to show, each event and each comment yields a chunk with Alive set.
func TestSignsOfLife(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/signatures.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"empty deltas": strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n", 3) + string(archive.Files[0].Data),
		"comments":     strings.Repeat(": wait\n\n", 3) + half,
		"in pairs":     strings.Repeat(": wait\n:\n\n", 2) + half,
	} {
		signs := 0
		for chunk, err := range connect(t, wiretest.Serve(t, wiretest.Reply{Body: body})).Generate(t.Context(), wiretest.Hello()) {
			if err != nil {
				t.Fatal(err)
			}
			if !chunk.Alive {
				break
			}
			signs++
		}
		if signs < 3 {
			t.Errorf("%s: there were %d signs of life before there was anything to show", name, signs)
		}
	}
}

func TestAnEventThatNeverEnds(t *testing.T) {
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	got := play(t, wiretest.Reply{Body: strings.Repeat(line, 40)})
	if !strings.Contains(got, "an event is larger than 33554432 bytes") {
		t.Fatalf("got\n%s", got[:min(len(got), 300)])
	}
}

func TestFailures(t *testing.T) {
	json := http.Header{"Content-Type": {"application/json"}}
	wiretest.Failures(t, connect, map[string]wiretest.Failing{
		"rate limit": {
			Reply: wiretest.Reply{Status: 429, Header: http.Header{"Retry-After": {"20"}, "Retry-After-Ms": {"1250"}}, Body: `{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
			Want:  model.Error{Status: 429, Code: "rate_limit_exceeded", Message: "the model's server could not take the request: slow down", RetryAfter: 1250 * time.Millisecond, Retryable: true},
		},
		"no money": {
			Reply: wiretest.Reply{Status: 429, Header: json, Body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
			Want:  model.Error{Unusable: true, Status: 429, Code: "insufficient_quota", Message: "the model's server refused the request: You exceeded your current quota"},
		},
		"bad key": {
			Reply: wiretest.Reply{Status: 401, Header: json, Body: `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`},
			Want:  model.Error{Unusable: true, Status: 401, Code: "invalid_api_key", Message: "the model's server refused the request: Incorrect API key provided; check the API key"},
		},
		"too long": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `{"error":{"message":"Your input is too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
			Want:  model.Error{Status: 400, Code: "context_length_exceeded", Message: "the model's server refused the request: Your input is too long", ContextOverflow: true, Parameter: "messages"},
		},
		"too large": {
			Reply: wiretest.Reply{Status: 413, Header: http.Header{"Content-Type": {"text/html"}}, Body: `<h1>Request Entity Too Large</h1>`},
			Want:  model.Error{Status: 413, Message: "the model's server refused the request: <h1>Request Entity Too Large</h1>", ContextOverflow: true},
		},
		"too long in vLLM's words": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`},
			Want:  model.Error{Status: 400, Code: "400", Message: "the model's server refused the request: This model's maximum context length is 4096 tokens.", ContextOverflow: true},
		},
		"too long in llama.cpp's words": {
			Reply: wiretest.Reply{Status: 500, Header: json, Body: `{"error":{"code":500,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`},
			Want:  model.Error{Status: 500, Code: "500", Message: "the model's server refused the request: the request exceeds the available context size", ContextOverflow: true},
		},
		"only a text": {
			Reply: wiretest.Reply{Status: 404, Header: json, Body: `{"error":"model 'x' not found"}`},
			Want:  model.Error{Unusable: true, Status: 404, Message: "the model's server refused the request: model 'x' not found"},
		},
		"a detail": {
			Reply: wiretest.Reply{Status: 422, Header: json, Body: `{"detail":[{"loc":["body"],"msg":"bad"}]}`},
			Want:  model.Error{Status: 422, Message: `the model's server refused the request: {"detail":[{"loc":["body"],"msg":"bad"}]}`},
		},
		"page of a proxy": {
			Reply: wiretest.Reply{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>\n  <h1>Bad Gateway</h1>"},
			Want:  model.Error{Status: 502, Message: "the model's server could not take the request: <html> <h1>Bad Gateway</h1>", Retryable: true},
		},
		"too long in Gemini's words": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
			Want:  model.Error{Status: 400, Code: "400", Message: "the model's server refused the request: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ContextOverflow: true},
		},
		"too long in xAI's words": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`},
			Want:  model.Error{Status: 400, Message: "the model's server refused the request: This model's maximum prompt length is 131072 but the request contains 140000 tokens.", ContextOverflow: true},
		},
		"too long in Groq's words": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}`},
			Want:  model.Error{Status: 400, Code: "invalid_request_error", Message: "the model's server refused the request: Please reduce the length of the messages or completion.", ContextOverflow: true, Parameter: "messages"},
		},
		"the server knows that it is hopeless": {
			Reply: wiretest.Reply{Status: 500, Header: http.Header{"X-Should-Retry": {"false"}}, Body: `{"error":{"message":"no"}}`},
			Want:  model.Error{Status: 500, Message: "the model's server refused the request: no"},
		},
		"the server knows that it is not": {
			Reply: wiretest.Reply{Status: 400, Header: http.Header{"X-Should-Retry": {"true"}}, Body: `{"error":{"message":"try again"}}`},
			Want:  model.Error{Status: 400, Message: "the model's server could not take the request: try again", Retryable: true},
		},
		"nothing": {
			Reply: wiretest.Reply{Status: 500},
			Want:  model.Error{Status: 500, Message: "the model's server could not take the request: it did not say why", Retryable: true},
		},
		"no such API": {
			Reply: wiretest.Reply{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Welcome</html>"},
			Want:  model.Error{Status: 200, Message: `the answer is of type "text/html", not an event stream; check that the base URL is that of an OpenAI-compatible API, which often ends with /v1`},
		},
	})
}

func TestNewRefuses(t *testing.T) {
	for name, config := range map[string]openai.Config{
		"no model":     {},
		"bad base URL": {Model: "m", BaseURL: "localhost:11434/v1"},
	} {
		if _, err := openai.New(config); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, "testdata", func(client *http.Client) (model.Model, error) {
		return openai.New(openai.Config{Model: "gpt-test", BaseURL: "http://test.invalid/v1", HTTPClient: client})
	})
}
