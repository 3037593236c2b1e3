package wiretest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Connect returns the model under test, which sends its requests to a server.
type Connect func(t *testing.T, server *Server) model.Model

// Open returns the model under test with a base URL, an API key and a client.
type Open func(base, key string, client *http.Client) (model.Model, error)

// Hello returns a request with one message.
func Hello() model.Request {
	return model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: &model.Text{Text: "hi"}}}}}}
}

// Interruptions checks what a model does when a response stops in the middle, by the server or by
// the caller. half is the beginning of a response: a call begins, and its arguments are {"a": so
// far. silent is the number of events at its beginning that yield no chunk.
func Interruptions(t *testing.T, connect Connect, half string, silent int) {
	t.Run("deltas are passed on at once", func(t *testing.T) { passesOnAtOnce(t, connect, half, silent) })
	Cancellations(t, connect, half)
}

// Cancellations checks that a model closes its connection when the caller does not want the rest of
// a response. half is the beginning of a response with a call.
func Cancellations(t *testing.T, connect Connect, half string) {
	t.Run("a cancel ends the stream and closes the connection", func(t *testing.T) {
		server := Serve(t, Reply{Body: half, Hold: true})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for chunk, err := range connect(t, server).Generate(ctx, Hello()) {
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
	})
	t.Run("leaving the loop closes the connection", func(t *testing.T) {
		server := Serve(t, Reply{Body: half, Hold: true})
		for range connect(t, server).Generate(t.Context(), Hello()) {
			break
		}
		<-server.Gone
	})
	t.Run("a cancel before the answer", func(t *testing.T) {
		server := Serve(t, Reply{Hold: true})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range connect(t, server).Generate(ctx, Hello()) {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
		}
	})
}

// passesOnAtOnce checks that the caller has each delta before the server sends the next one.
func passesOnAtOnce(t *testing.T, connect Connect, half string, silent int) {
	step := make(chan struct{}, silent+1)
	server := Serve(t, Reply{Body: half, Step: step, Hold: true})
	for range silent + 1 {
		step <- struct{}{}
	}
	var seen []string
	for chunk, err := range connect(t, server).Generate(t.Context(), Hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Alive {
			continue
		}
		// The server waits for a value from step before each event. It cannot send the next event
		// before the test has this chunk.
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

// Failing is a reply of a server, and the error that the model must return, without its cause.
type Failing struct {
	Reply Reply
	Want  model.Error
}

// Failures checks the errors of a model. The model must not repeat a request itself, because agentd
// does.
func Failures(t *testing.T, connect Connect, tests map[string]Failing) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := Serve(t, test.Reply)
			got := Failure(t, connect(t, server), Hello())
			got.Err = nil
			if diff := cmp.Diff(test.Want, *got, cmpopts.IgnoreUnexported(model.Error{})); diff != "" {
				t.Fatalf("the error (-want +got):\n%s", diff)
			}
			if n := len(server.Requests()); n != 1 {
				t.Fatalf("the request was sent %d times", n)
			}
		})
	}
}

// Failure returns the error with which a response ends.
func Failure(t *testing.T, m model.Model, req model.Request) *model.Error {
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

// NoServer checks that agentd may repeat a request that reached no server.
func NoServer(t *testing.T, open Open) {
	m, err := open("", "", &http.Client{Transport: Transport(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })})
	if err != nil {
		t.Fatal(err)
	}
	if got := Failure(t, m, Hello()); !got.Retryable || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Fatalf("got %#v", got)
	}
}

// Transport is a function that answers the requests of a client.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
