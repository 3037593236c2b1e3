package openai_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/openai"
	"github.com/toolhost/toolhost/internal/model/wiretest"
)

var _ = flag.Bool("update", false, "write what the tests got into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, server *wiretest.Server) *openai.Model {
	t.Helper()
	m, err := openai.New(openai.Config{Model: "gpt-test", BaseURL: server.URL + "/v1", APIKey: "key", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: &model.Text{Text: "hi"}}}}}}
}

// Each recorded event stream has one quirk of a server.
func TestStreams(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		return play(t, wiretest.Reply{Body: files["events"]})
	})
}

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
	got := wiretest.Transcript(t, connect(t, wiretest.Serve(t, reply)).Generate(t.Context(), hello()))
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

func TestDeltasAreHandedOnAsTheyCome(t *testing.T) {
	step := make(chan struct{}, 1)
	server := wiretest.Serve(t, wiretest.Reply{Body: half, Step: step, Hold: true})
	step <- struct{}{}
	var seen []string
	for chunk, err := range connect(t, server).Generate(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Alive {
			continue
		}
		// The server sends each event only after the test has received the one before it.
		switch {
		case chunk.CallBegun != nil:
			seen = append(seen, "call")
		case chunk.ArgumentDelta != nil:
			seen = append(seen, chunk.ArgumentDelta.Text)
		}
		if len(seen) == 2 {
			break
		}
		step <- struct{}{}
	}
	<-server.Gone
	if got := strings.Join(seen, " "); got != `call {"a":` {
		t.Fatalf("saw %q", got)
	}
}

// While there is nothing to show, each event and each comment yields a chunk with Alive set.
func TestSignsOfLife(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/reasoning_content.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"thoughts": string(archive.Files[0].Data),
		"comments": strings.Repeat(": wait\n\n", 3) + half,
		"in pairs": strings.Repeat(": wait\n:\n\n", 2) + half,
	} {
		signs := 0
		for chunk, err := range connect(t, wiretest.Serve(t, wiretest.Reply{Body: body})).Generate(t.Context(), hello()) {
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
	if !strings.Contains(got, "too large") {
		t.Fatalf("got\n%s", got[:min(len(got), 300)])
	}
}

func TestCancelInMidStreamEndsSoonAndHangsUp(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Body: half, Hold: true})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for chunk, err := range connect(t, server).Generate(ctx, hello()) {
		if chunk.ArgumentDelta != nil {
			cancel()
		}
		last = err
	}
	got, ok := errors.AsType[*model.Error](last)
	if !ok || !errors.Is(last, context.Canceled) || got.Retryable {
		t.Fatalf("ended with %#v", last)
	}
	<-server.Gone
}

func TestCancelBeforeTheAnswer(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Hold: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range connect(t, server).Generate(ctx, hello()) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
}

func TestFailures(t *testing.T) {
	json := http.Header{"Content-Type": {"application/json"}}
	tests := map[string]struct {
		reply wiretest.Reply
		want  model.Error
	}{
		"rate limit": {
			wiretest.Reply{Status: 429, Header: http.Header{"Retry-After": {"20"}, "Retry-After-Ms": {"1250"}}, Body: `{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
			model.Error{Status: 429, Code: "rate_limit_exceeded", Message: "the model's server could not take the request: slow down", RetryAfter: 1250 * time.Millisecond, Retryable: true},
		},
		"no money": {
			wiretest.Reply{Status: 429, Header: json, Body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
			model.Error{Status: 429, Code: "insufficient_quota", Message: "the model's server refused the request: You exceeded your current quota"},
		},
		"bad key": {
			wiretest.Reply{Status: 401, Header: json, Body: `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`},
			model.Error{Status: 401, Code: "invalid_api_key", Message: "the model's server refused the request: Incorrect API key provided; check the API key"},
		},
		"too long": {
			wiretest.Reply{Status: 400, Header: json, Body: `{"error":{"message":"Your input is too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
			model.Error{Status: 400, Code: "context_length_exceeded", Message: "the model's server refused the request: Your input is too long", ContextOverflow: true},
		},
		"too large": {
			wiretest.Reply{Status: 413, Header: http.Header{"Content-Type": {"text/html"}}, Body: `<h1>Request Entity Too Large</h1>`},
			model.Error{Status: 413, Message: "the model's server refused the request: <h1>Request Entity Too Large</h1>", ContextOverflow: true},
		},
		"too long in vLLM's words": {
			wiretest.Reply{Status: 400, Header: json, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`},
			model.Error{Status: 400, Code: "400", Message: "the model's server refused the request: This model's maximum context length is 4096 tokens.", ContextOverflow: true},
		},
		"too long in llama.cpp's words": {
			wiretest.Reply{Status: 500, Header: json, Body: `{"error":{"code":500,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`},
			model.Error{Status: 500, Code: "500", Message: "the model's server refused the request: the request exceeds the available context size", ContextOverflow: true},
		},
		"only a text": {
			wiretest.Reply{Status: 404, Header: json, Body: `{"error":"model 'x' not found"}`},
			model.Error{Status: 404, Message: "the model's server refused the request: model 'x' not found"},
		},
		"a detail": {
			wiretest.Reply{Status: 422, Header: json, Body: `{"detail":[{"loc":["body"],"msg":"bad"}]}`},
			model.Error{Status: 422, Message: `the model's server refused the request: {"detail":[{"loc":["body"],"msg":"bad"}]}`},
		},
		"page of a proxy": {
			wiretest.Reply{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>\n  <h1>Bad Gateway</h1>"},
			model.Error{Status: 502, Message: "the model's server could not take the request: <html> <h1>Bad Gateway</h1>", Retryable: true},
		},
		"too long in Gemini's words": {
			wiretest.Reply{Status: 400, Header: json, Body: `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
			model.Error{Status: 400, Code: "400", Message: "the model's server refused the request: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ContextOverflow: true},
		},
		"too long in xAI's words": {
			wiretest.Reply{Status: 400, Header: json, Body: `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`},
			model.Error{Status: 400, Message: "the model's server refused the request: This model's maximum prompt length is 131072 but the request contains 140000 tokens.", ContextOverflow: true},
		},
		"too long in Groq's words": {
			wiretest.Reply{Status: 400, Header: json, Body: `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}`},
			model.Error{Status: 400, Code: "invalid_request_error", Message: "the model's server refused the request: Please reduce the length of the messages or completion.", ContextOverflow: true},
		},
		"the server knows that it is hopeless": {
			wiretest.Reply{Status: 500, Header: http.Header{"X-Should-Retry": {"false"}}, Body: `{"error":{"message":"no"}}`},
			model.Error{Status: 500, Message: "the model's server refused the request: no"},
		},
		"the server knows that it is not": {
			wiretest.Reply{Status: 400, Header: http.Header{"X-Should-Retry": {"true"}}, Body: `{"error":{"message":"try again"}}`},
			model.Error{Status: 400, Message: "the model's server could not take the request: try again", Retryable: true},
		},
		"nothing": {
			wiretest.Reply{Status: 500},
			model.Error{Status: 500, Message: "the model's server could not take the request: it did not say why", Retryable: true},
		},
		"no such API": {
			wiretest.Reply{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Welcome</html>"},
			model.Error{Status: 200, Message: `the answer is of type "text/html", not an event stream; check that the base URL is that of an OpenAI-compatible API, which often ends with /v1`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := wiretest.Serve(t, test.reply)
			got := failureOf(t, connect(t, server), hello())
			got.Err = nil
			if *got != test.want {
				t.Fatalf("got  %+v\nwant %+v", *got, test.want)
			}
			if n := len(server.Requests()); n != 1 {
				t.Fatalf("the request was sent %d times", n)
			}
		})
	}
}

func failureOf(t *testing.T, m model.Model, req model.Request) *model.Error {
	t.Helper()
	var last error
	for _, err := range m.Generate(t.Context(), req) {
		last = err
	}
	got, ok := errors.AsType[*model.Error](last)
	if !ok {
		t.Fatalf("ended with %v, not a *model.Error", last)
	}
	return got
}

func TestNoServerIsWorthAnotherTry(t *testing.T) {
	refuse := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	m, err := openai.New(openai.Config{Model: "gpt-test", HTTPClient: refuse})
	if err != nil {
		t.Fatal(err)
	}
	if got := failureOf(t, m, hello()); !got.Retryable || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Fatalf("got %#v", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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
