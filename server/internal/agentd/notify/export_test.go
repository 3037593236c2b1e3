package notify

import (
	"net/http"
	"time"
)

// NewContent returns a message as it is made of foreign texts.
func NewContent(c Content) *Content {
	for _, text := range []*string{&c.Tenant, &c.Agent, &c.For, &c.Tool, &c.Rule} {
		*text = clean(*text, maxName)
	}
	c.Arguments = clean(c.Arguments, maxArguments)
	c.place("", c.Run, c.Decision)
	return &c
}

// Signatures and PauseAfter are what the sender uses.
func Signatures(keys [][]byte, id, at string, body []byte) string {
	return signatures(keys, id, at, body)
}

func PauseAfter(n int, err error) time.Duration { return pauseAfter(n, err) }

// CloseIdle closes the idle connections of a target.
func CloseIdle(t Target) { t.(*post).CloseIdleConnections() }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// WithTransport replaces the transport of a target.
func WithTransport(t Target, f func(*http.Request) (*http.Response, error)) Target {
	t.(*post).transport = roundTrip(f)
	return t
}
