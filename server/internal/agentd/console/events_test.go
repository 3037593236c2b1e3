package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A browser learns that something changed, and the position, but no text of a call.
func TestEvents(t *testing.T) {
	s := newSite(t, approval())
	s.logIn(7)
	const later = "id: p1\nevent: position\ndata: \n\nid: p2\ndata: \"run-1 \\u003cb\\u003e\"\n\n"
	for position, test := range map[string]struct {
		begins string
		asked  []string
	}{
		"": {":\n\n", []string{""}}, "p0": {"", []string{"p0"}},
		"old": {"data: \"run-1\"\n\n", []string{"old"}}, "of another": {"data: \"run-1\"\n\n", []string{"of another", ""}}, // what the page shows is not known
	} {
		want, asked := test.begins+later, test.asked
		s.server.from = nil
		resp := s.send(http.MethodGet, "/events?position="+url.QueryEscape(position), nil)
		if got := body(t, resp); got != want || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("after %q: got %q", position, got)
		}
		if !slices.Equal(s.server.from, asked) {
			t.Errorf("after %q: the server was asked for %q", position, s.server.from)
		}
	}
	for _, page := range []string{"/", "/?page=%26", "/decisions/run-1/d1"} {
		if got := body(t, s.send(http.MethodGet, page, nil)); !strings.Contains(got, ` data-position="p0"`) {
			t.Errorf("%s has no position:\n%s", page, got)
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
