package console

import (
	"net/http"
	"slices"
	"testing"
)

// A browser learns that something changed, and the position, but no text of a call.
func TestEvents(t *testing.T) {
	s := newSite(t, approval())
	s.logIn(7)
	const want = ":\n\nid: p1\nevent: position\ndata: \n\nid: p2\ndata: \"run-1 \\u003cb\\u003e\"\n\n"
	for position, asked := range map[string][]string{"": {""}, "p1": {"p1"}, "of another": {"of another", ""}} {
		s.server.from = nil
		resp := s.send(http.MethodGet, "/events", nil, with("Last-Event-ID", position))
		if got := body(t, resp); got != want || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("after %q: got %q", position, got)
		}
		if !slices.Equal(s.server.from, asked) {
			t.Errorf("after %q: the server was asked for %q", position, s.server.from)
		}
	}
	if len(s.pages.streams.each) > 0 || s.pages.streams.all != 0 {
		t.Error("streams that have ended count")
	}
}

// A session has some streams, and so have all of them.
func TestStreamsAreBounded(t *testing.T) {
	s := newStreams()
	one := &session{}
	for range maxOfSession {
		if !s.open(one) {
			t.Fatal("too few")
		}
	}
	if s.open(one) {
		t.Error("a session has any number")
	}
	for s.all < maxStreams {
		s.open(&session{used: one.used})
	}
	if s.open(&session{}) {
		t.Error("all have any number")
	}
	s.close(one)
	if !s.open(one) {
		t.Error("a stream that was closed counts")
	}
}
