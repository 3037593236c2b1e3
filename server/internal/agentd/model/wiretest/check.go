package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Check forwards a stream and fails the test if the stream violates a rule of model.Model. The
// stream must end with one response or one error. Each call must begin once, in order, and before
// its arguments. The deltas must add up to the response.
func Check(t *testing.T, chunks iter.Seq2[model.Chunk, error]) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		t.Helper()
		var shown sum
		for chunk, err := range chunks {
			if shown.ended {
				t.Fatalf("after the end of the stream came %+v, %v", chunk, err)
			}
			if err != nil {
				shown.ended = true
			} else {
				shown.add(t, chunk)
			}
			if !yield(chunk, err) {
				return
			}
		}
		if !shown.ended {
			t.Fatal("the stream ended with neither a response nor an error")
		}
	}
}

// sum is what the deltas of a stream add up to.
type sum struct {
	text  string
	calls []model.ToolCall
	ended bool
}

func (s *sum) add(t *testing.T, chunk model.Chunk) {
	t.Helper()
	switch {
	case chunk.TextDelta != nil:
		s.text += chunk.TextDelta.Text
	case chunk.CallBegun != nil:
		if c := chunk.CallBegun; c.Index != len(s.calls) || c.Name == "" || c.ID == "" {
			t.Fatalf("call %d begins as %+v", len(s.calls), *c)
		}
		s.calls = append(s.calls, model.ToolCall{ID: chunk.CallBegun.ID, Name: chunk.CallBegun.Name})
	case chunk.ArgumentDelta != nil:
		d := chunk.ArgumentDelta
		if d.Index < 0 || d.Index >= len(s.calls) {
			t.Fatalf("arguments %+v belong to none of %d calls", *d, len(s.calls))
		}
		s.calls[d.Index].Arguments += d.Text
	case chunk.ReasoningDelta != nil:
		if chunk.ReasoningDelta.Text == "" {
			t.Fatal("a piece of reasoning is empty")
		}
	case chunk.Alive:
	case chunk.Response != nil:
		s.ended = true
		s.compare(t, chunk.Response)
	default:
		t.Fatal("a chunk is empty")
	}
}

func (s *sum) compare(t *testing.T, response *model.Response) {
	t.Helper()
	if response.StopReason == "" || response.Message.Role != model.RoleAssistant {
		t.Fatalf("the response is incomplete: %+v", *response)
	}
	var text strings.Builder
	calls := s.calls
	for _, block := range response.Message.Blocks {
		switch {
		case block.Text != nil:
			text.WriteString(block.Text.Text)
		case block.ToolCall != nil:
			if len(calls) == 0 || calls[0] != *block.ToolCall {
				t.Fatalf("the response has the call %+v, the deltas add up to %+v", *block.ToolCall, calls)
			}
			calls = calls[1:]
		}
	}
	if len(calls) > 0 || text.String() != s.text {
		t.Fatalf("the deltas add up to the text %q and the calls %+v, the response to %q and less calls", s.text, s.calls, text.String())
	}
}

// Fuzz feeds event streams to a model, starting with those of the archives in a folder. Each
// response then becomes part of the history of a second request. The model must send that history
// as JSON that every server accepts.
func Fuzz(f *testing.F, folder string, open func(*http.Client) (model.Model, error)) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("there are no archives in %s: %v", folder, err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, events []byte) {
		sent := &sentBodies{next: answering(events)}
		m, err := open(&http.Client{Transport: sent})
		if err != nil {
			t.Fatal(err)
		}
		var req model.Request
		for chunk, err := range Check(t, m.Generate(t.Context(), req)) {
			if err == nil && chunk.Response != nil {
				req.Messages = append(req.Messages, chunk.Response.Message)
			}
		}
		for range m.Generate(t.Context(), req) {
			break
		}
		for _, body := range sent.bodies {
			if err := strictJSON(body); err != nil {
				t.Errorf("a request cannot be read: %v\n%q", err, body)
			}
		}
	})
}

// sentBodies records the bodies of requests.
type sentBodies struct {
	next   http.RoundTripper
	bodies [][]byte
}

func (s *sentBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.bodies = append(s.bodies, body)
	return s.next.RoundTrip(r)
}

var (
	escapes = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)
	pairs   = regexp.MustCompile(`(?i)u(d[89ab]..)\\u(d[c-f]..)`)
	halves  = regexp.MustCompile(`(?i)^\\ud[89a-f]`)
)

// strictJSON returns the reason why a strict server refuses a text: it is not JSON, not UTF-8, or
// has a lone surrogate.
func strictJSON(text []byte) error {
	if !json.Valid(text) || !utf8.Valid(text) {
		return errors.New("it is no JSON, or no UTF-8")
	}
	for _, escape := range escapes.FindAllString(pairs.ReplaceAllString(string(text), "u0041"), -1) {
		if halves.MatchString(escape) {
			return fmt.Errorf("it has half a pair, %s", escape)
		}
	}
	return nil
}

// answering is a transport that answers every request with the same events.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "text/event-stream")
	if _, err := recorder.Write(a); err != nil {
		return nil, err
	}
	response := recorder.Result()
	response.Request = r
	return response, nil
}
