package gemini_test

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
	"github.com/toolhost/toolhost/server/internal/agentd/model/gemini"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

var _ = flag.Bool("update", false, "write what the tests got into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, server *wiretest.Server) model.Model {
	return named(t, server, "gemini-3-flash")
}

func named(t *testing.T, server *wiretest.Server, name string) model.Model {
	t.Helper()
	m, err := gemini.New(gemini.Config{Model: name, BaseURL: server.URL, APIKey: "key", HTTPClient: server.Client})
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

// The same streams arrive three bytes at a time. The result must not depend on which bytes arrive
// together.
func TestStreamsInPieces(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		return play(t, wiretest.Reply{Body: files["events"], Piece: 3})
	})
}

var random = regexp.MustCompile(`[A-Z2-7]{26}`)

// play returns the transcript, in which random ids have a fixed form. The content type is that of
// the API for a body that is no event stream.
func play(t *testing.T, reply wiretest.Reply) string {
	t.Helper()
	if strings.HasPrefix(reply.Body, "{") || strings.HasPrefix(reply.Body, "[") {
		reply.Header = http.Header{"Content-Type": {"application/json; charset=UTF-8"}}
	}
	got := wiretest.Transcript(t, connect(t, wiretest.Serve(t, reply)).Generate(t.Context(), wiretest.Hello()))
	return random.ReplaceAllString(got, "RANDOM")
}

const half = `data: {"candidates": [{"content": {"parts": [{"text": "x", "thought": true}], "role": "model"}}]}

data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "write", "args": {"a": 1}}}], "role": "model"}}]}

`

// A call arrives at once with all of its arguments, so the tests of the other providers, in which
// arguments arrive in pieces, do not fit.
func TestInterruptions(t *testing.T) {
	t.Run("deltas are passed on at once", func(t *testing.T) {
		step := make(chan struct{})
		server := wiretest.Serve(t, wiretest.Reply{Body: half, Step: step, Hold: true})
		var seen []string
		go func() { step <- struct{}{} }() // ends when the server takes the value
		for chunk, err := range connect(t, server).Generate(t.Context(), wiretest.Hello()) {
			switch {
			case err != nil:
				t.Fatal(err)
			case chunk.ReasoningDelta != nil:
				seen = append(seen, chunk.ReasoningDelta.Text)
				step <- struct{}{} // the server sends the next event only now
			case chunk.CallBegun != nil:
				seen = append(seen, chunk.CallBegun.Name)
			case chunk.ArgumentDelta != nil:
				seen = append(seen, chunk.ArgumentDelta.Text)
			}
			if len(seen) == 3 {
				break
			}
		}
		<-server.Gone
		if got := strings.Join(seen, " "); got != `x write {"a":1}` {
			t.Errorf("saw %s", got)
		}
	})
	wiretest.Cancellations(t, connect, half)
}

func TestNoServerIsWorthAnotherTry(t *testing.T) { wiretest.NoServer(t, openAt) }

func TestABrokenConnectionIsWorthAnotherTry(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Body: half, Cut: true})
	got := wiretest.Transcript(t, connect(t, server).Generate(t.Context(), wiretest.Hello()))
	if !strings.Contains(got, "arguments 0 \"{\\\"a\\\":1}\"\nerror reading Gemini's answer failed: ") || !strings.Contains(got, "retryable true") {
		t.Fatalf("got\n%s", got)
	}
}

// A comment of a proxy yields a chunk with Alive set, as does an event without content.
func TestAWaitingModelIsAlive(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/comments.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
	var seen []string
	for chunk, err := range connect(t, server).Generate(t.Context(), wiretest.Hello()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case chunk.Alive:
			seen = append(seen, "alive")
		case chunk.TextDelta != nil:
			seen = append(seen, chunk.TextDelta.Text)
		}
	}
	if got := fmt.Sprint(seen); got != "[alive a alive b alive]" {
		t.Fatalf("saw %s", got)
	}
}

// A response that the API ends with CONTINUATION goes on in a second request, which the SDK sends.
func TestALongResponseContinues(t *testing.T) {
	event := func(text, rest string) string {
		return `data: {"candidates": [{"content": {"parts": [{"text": "` + text + `"}], "role": "model"}` + rest + `}], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}` + "\n\n"
	}
	server := wiretest.Serve(t,
		wiretest.Reply{Body: event("one ", `, "continuationToken": "dG9rZW4=", "finishReason": "CONTINUATION"`)},
		wiretest.Reply{Body: event("two", `, "finishReason": "STOP"`)})
	var response *model.Response
	for chunk, err := range wiretest.Check(t, connect(t, server).Generate(t.Context(), wiretest.Hello())) {
		if err != nil {
			t.Fatal(err)
		}
		response = chunk.Response
	}
	if got := response.Message.Blocks[0].Text.Text; got != "one two" || response.StopReason != model.StopEndTurn || response.Usage.OutputTokens != 4 {
		t.Errorf("got %q, %+v", got, response)
	}
	if sent := server.Requests(); len(sent) != 2 || !strings.Contains(string(sent[1].Body), `"continuationToken":"dG9rZW4="`) {
		t.Errorf("sent %+v", sent)
	}
}

func TestFailures(t *testing.T) {
	body := func(code int, status, message, details string) string {
		return fmt.Sprintf(`{"error": {"code": %d, "message": %q, "status": %q, "details": [%s]}}`, code, message, status, details)
	}
	json := http.Header{"Content-Type": {"application/json; charset=UTF-8"}}
	const invalidKey = `{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}`
	const wait = `{"@type": "type.googleapis.com/google.rpc.Help"}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "27.5s"}`
	wiretest.Failures(t, connect, map[string]wiretest.Failing{
		"rate limit": {
			Reply: wiretest.Reply{Status: 429, Header: json, Body: body(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", wait)},
			Want:  model.Error{Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "Gemini could not take the request: You exceeded your current quota.", RetryAfter: 27500 * time.Millisecond, Retryable: true},
		},
		"rate limit with a header": {
			Reply: wiretest.Reply{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: body(429, "RESOURCE_EXHAUSTED", "slow down", wait)},
			Want:  model.Error{Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "Gemini could not take the request: slow down", RetryAfter: 7 * time.Second, Retryable: true},
		},
		"overloaded": {
			Reply: wiretest.Reply{Status: 503, Header: json, Body: body(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "")},
			Want:  model.Error{Status: 503, Code: "UNAVAILABLE", Message: "Gemini could not take the request: The model is overloaded. Please try again later.", Retryable: true},
		},
		"cancelled by the server": {
			Reply: wiretest.Reply{Status: 499, Header: json, Body: body(499, "CANCELLED", "The operation was cancelled.", "")},
			Want:  model.Error{Status: 499, Code: "CANCELLED", Message: "Gemini could not take the request: The operation was cancelled.", Retryable: true},
		},
		"bad key": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: body(400, "INVALID_ARGUMENT", "API key not valid.", invalidKey)},
			Want:  model.Error{Unusable: true, Status: 400, Code: "INVALID_ARGUMENT", Message: "Gemini refused the request: API key not valid.; check the API key"},
		},
		"too long": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: body(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "")},
			Want:  model.Error{Status: 400, Code: "INVALID_ARGUMENT", Message: "Gemini refused the request: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ContextOverflow: true},
		},
		"too large": {
			Reply: wiretest.Reply{Status: 400, Header: json, Body: body(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", "")},
			Want:  model.Error{Status: 400, Code: "INVALID_ARGUMENT", Message: "Gemini refused the request: Request payload size exceeds the limit: 20971520 bytes.", ContextOverflow: true},
		},
		"no such model": {
			Reply: wiretest.Reply{Status: 404, Header: json, Body: "[" + body(404, "NOT_FOUND", "models/gemini-9 is not found", "") + "]"},
			Want:  model.Error{Unusable: true, Status: 404, Code: "NOT_FOUND", Message: "Gemini refused the request: models/gemini-9 is not found"},
		},
		"page of a proxy": {
			Reply: wiretest.Reply{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>\n  <h1>Bad Gateway</h1>\n" + strings.Repeat("é", 400)},
			Want:  model.Error{Status: 502, Message: "Gemini could not take the request: <html> <h1>Bad Gateway</h1> " + strings.Repeat("é", 136) + "…", Retryable: true},
		},
		"nothing": {
			Reply: wiretest.Reply{Status: 500},
			Want:  model.Error{Status: 500, Message: "Gemini could not take the request: it did not say why", Retryable: true},
		},
		"no such API": {
			Reply: wiretest.Reply{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Welcome</html>"},
			Want:  model.Error{Status: 200, Message: `the answer is of type "text/html", not an event stream; check that the base URL is that of a Gemini API, without v1beta`},
		},
	})
}

func TestNewRefuses(t *testing.T) {
	for name, config := range map[string]gemini.Config{
		"no model":     {},
		"bad base URL": {Model: "m", BaseURL: "localhost:8080"},
	} {
		if _, err := gemini.New(config); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func openAt(base, key string, client *http.Client) (model.Model, error) {
	return gemini.New(gemini.Config{Model: "gemini-3-flash", BaseURL: base, APIKey: key, HTTPClient: client})
}

func TestKeyAndConversationStayAtTheOrigin(t *testing.T) { wiretest.Redirects(t, openAt) }

func TestRedirectWithinTheOriginIsFollowed(t *testing.T) { wiretest.FollowsWithinItsOrigin(t, openAt) }

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, "testdata", func(client *http.Client) (model.Model, error) {
		return openAt("http://test.invalid", "", client)
	})
}

// The journal and each later request have what only Gemini reads, such as an image that a model
// made. A response with more of it than a bound is refused, and what it used counts.
func TestLargeDataInAResponse(t *testing.T) {
	event := func(parts string) string {
		return `data: {"candidates": [{"content": {"parts": [` + parts + `], "role": "model"}}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5}}` + "\n\n"
	}
	image := func(bytes int) string {
		return `{"inlineData": {"mimeType": "image/png", "data": "` + strings.Repeat("A", bytes) + `"}}`
	}
	thought := `{"text": "", "thought": true, "thoughtSignature": "` + strings.Repeat("A", 600<<10) + `"}`
	const end = `data: {"candidates": [{"content": {"parts": [{"text": "done"}], "role": "model"}, "finishReason": "STOP"}]}` + "\n\n"
	for name, test := range map[string]struct{ body, want string }{
		"a small image":    {event(image(4<<10)) + end, ""},
		"large text":       {event(`{"text": "`+strings.Repeat("x", 2<<20)+`"}`) + end, ""},
		"a large image":    {event(image(2<<20)) + end, `data of the type "image/png"`},
		"many images":      {strings.Repeat(event(image(300<<10)), 4) + end, `data of the type "image/png"`},
		"large signatures": {event(thought) + event(thought) + end, "neither text nor calls"},
	} {
		t.Run(name, func(t *testing.T) {
			m := connect(t, wiretest.Serve(t, wiretest.Reply{Body: test.body}))
			if test.want == "" {
				if got := wiretest.Transcript(t, m.Generate(t.Context(), wiretest.Hello())); !strings.Contains(got, "end_turn") {
					t.Errorf("the response is %.300s", got)
				}
				return
			}
			got := wiretest.Failure(t, m, wiretest.Hello())
			if got.Retryable || !strings.Contains(got.Message, test.want) || !strings.Contains(got.Message, "1048576 bytes") || got.Usage.OutputTokens != 5 || len(got.Message) > 300 {
				t.Errorf("the error is %+v", got)
			}
		})
	}
}

func TestLineWithoutEnd(t *testing.T) { wiretest.LongLines(t, openAt) }
