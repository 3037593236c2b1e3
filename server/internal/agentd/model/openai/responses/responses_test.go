package responses_test

import (
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/responses"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

var _ = flag.Bool("update", false, "write what the tests got into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, server *wiretest.Server) model.Model {
	t.Helper()
	m, err := responses.New(responses.Config{Model: "gpt-test", BaseURL: server.URL + "/v1", APIKey: "key", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openAt(base, key string, client *http.Client) (model.Model, error) {
	return responses.New(responses.Config{Model: "m", BaseURL: base, APIKey: key, HTTPClient: client})
}

// Each event stream has one property of the API or one quirk of a server. Each archive names its
// source.
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

const half = `data: {"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"write","arguments":""}}

data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"a\":"}

`

func TestInterruptions(t *testing.T) { wiretest.Interruptions(t, connect, half, 0) }

func TestNoServerIsWorthAnotherTry(t *testing.T) { wiretest.NoServer(t, openAt) }

func TestKeyAndConversationStayAtTheOrigin(t *testing.T) { wiretest.Redirects(t, openAt) }

func TestRedirectWithinTheOriginIsFollowed(t *testing.T) { wiretest.FollowsWithinItsOrigin(t, openAt) }

func TestABrokenConnectionIsWorthAnotherTry(t *testing.T) {
	got := play(t, wiretest.Reply{Body: half, Cut: true})
	if !strings.Contains(got, "arguments 0 \"{\\\"a\\\":\"\nerror reading the model's answer failed: ") || !strings.Contains(got, "retryable true") {
		t.Fatalf("got\n%s", got)
	}
}

const short = `data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"hi"}

data: {"type":"response.completed","response":{"status":"completed"}}

`

func TestAConnectionThatBreaksAfterTheEndIsNoFailure(t *testing.T) {
	if got := play(t, wiretest.Reply{Body: short, Cut: true}); !strings.Contains(got, `"StopReason": "end_turn"`) {
		t.Fatalf("got\n%s", got)
	}
}

// The stream is over with the event that ends the response. A server that keeps the connection open
// does not delay the response.
func TestTheResponseEndsBeforeItsConnection(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Body: short, Hold: true})
	if got := wiretest.Transcript(t, connect(t, server).Generate(t.Context(), wiretest.Hello())); !strings.Contains(got, `"StopReason": "end_turn"`) {
		t.Fatalf("got\n%s", got)
	}
	<-server.Gone
}

// While there is nothing to show, each event and each comment yields a chunk with Alive set.
func TestSignsOfLife(t *testing.T) {
	for name, body := range map[string]string{
		"events":   strings.Repeat("data: {\"type\":\"response.in_progress\",\"response\":{\"status\":\"in_progress\"}}\n\n", 3) + half,
		"comments": strings.Repeat(": wait\n\n", 3) + half,
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
		if signs != 3 {
			t.Errorf("%s: there were %d signs of life before there was anything to show", name, signs)
		}
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
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`},
			Want:  model.Error{Status: 400, Code: "context_length_exceeded", Message: "the model's server refused the request: Your input exceeds the context window of this model. Please adjust your input and try again.", ContextOverflow: true, Parameter: "input"},
		},
		"too many tokens for the account": {
			Reply: wiretest.Reply{Status: 429, Header: json, Body: `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35364.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
			Want:  model.Error{Status: 429, Code: "rate_limit_exceeded", Message: "the model's server refused the request: Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35364.", ContextOverflow: true},
		},
		"overloaded": {
			Reply: wiretest.Reply{Status: 503, Header: json, Body: `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error","param":null,"code":null}}`},
			Want:  model.Error{Status: 503, Code: "server_error", Message: "the model's server could not take the request: The engine is currently overloaded, please try again later", Retryable: true},
		},
		"a setting that the model does not have": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: `{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":null}}`},
			Want:  model.Error{Status: 400, Code: "invalid_request_error", Message: "the model's server refused the request: Unsupported parameter: 'temperature' is not supported with this model.; remove temperature from the sampling of this model", Parameter: "temperature"},
		},
		"page of a proxy": {
			Reply: wiretest.Reply{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>\n  <h1>Bad Gateway</h1>"},
			Want:  model.Error{Status: 502, Message: "the model's server could not take the request: <html> <h1>Bad Gateway</h1>", Retryable: true},
		},
		"a server without this API": {
			Reply: wiretest.Reply{Status: 404, Header: http.Header{"Content-Type": {"text/plain"}}, Body: "404 page not found"},
			Want:  model.Error{Unusable: true, Status: 404, Message: "the model's server refused the request: 404 page not found"},
		},
		"no such API": {
			Reply: wiretest.Reply{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Welcome</html>"},
			Want:  model.Error{Status: 200, Message: `the answer is of type "text/html", not an event stream; check that the base URL is that of an OpenAI-compatible API, which often ends with /v1`},
		},
	})
}

// This is the table of docs/models.md, as far as the provider decides.
func TestEveryFinishReason(t *testing.T) {
	var stops []wiretest.Stop
	for status, want := range map[string]model.StopReason{
		"completed": model.StopEndTurn, "cancelled": "", "queued": "", "expired": "",
	} {
		stops = append(stops, wiretest.Stop{Reason: status, Want: want})
		if want == model.StopEndTurn {
			stops = append(stops, wiretest.Stop{Reason: status, Refused: true, Want: model.StopRefusal}, wiretest.Stop{Reason: status, Call: true, Refused: true, Want: model.StopRefusal})
			want = model.StopToolUse
		}
		stops = append(stops, wiretest.Stop{Reason: status, Call: true, Want: want})
	}
	for reason, want := range map[string]model.StopReason{
		"max_output_tokens": model.StopMaxTokens, "content_filter": model.StopContentFilter, "max_messages": "", "steered": "", "length": "",
	} {
		for _, call := range []bool{false, true} {
			stops = append(stops, wiretest.Stop{Reason: reason, Call: call, Want: want}, wiretest.Stop{Reason: reason, Call: call, Refused: true, Want: want})
		}
	}
	wiretest.Stops(t, stops, func(s wiretest.Stop) string {
		part := `{"type":"output_text","text":"hi"}`
		if s.Refused {
			part = `{"type":"refusal","refusal":"no"}`
		}
		output := `{"type":"message","id":"m","content":[` + part + `]}`
		if s.Call {
			output += `,{"type":"function_call","id":"f","call_id":"x","name":"one","arguments":"{}"}`
		}
		switch s.Reason {
		case "completed", "cancelled", "queued", "expired":
			return fmt.Sprintf("data: {\"object\":\"response\",\"status\":%q,\"output\":[%s]}\n\n", s.Reason, output)
		}
		return fmt.Sprintf("data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":%q},\"output\":[%s]}}\n\n", s.Reason, output)
	}, func(client *http.Client) (model.Model, error) { return openAt("http://test.invalid/v1", "", client) })
}

func TestNewRefuses(t *testing.T) {
	for name, config := range map[string]responses.Config{
		"no model":     {},
		"bad base URL": {Model: "m", BaseURL: "localhost:11434/v1"},
	} {
		if _, err := responses.New(config); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, "testdata", func(client *http.Client) (model.Model, error) { return openAt("http://test.invalid/v1", "", client) })
}

func TestLineWithoutEnd(t *testing.T) { wiretest.LongLines(t, openAt) }
