package wire

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The pause of a rate limit is in a header, or only in the message.
func TestThePauseInAMessage(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"Please try again in 1.898s. Visit":      1898 * time.Millisecond,
		"Try again in 350 ms":                    350 * time.Millisecond,
		"try again in 20 seconds":                20 * time.Second,
		"try again in 3h0m0s":                    3 * time.Hour,
		"Please try again in 7m12.5s.":           7*time.Minute + 12500*time.Millisecond,
		"try again in 1 hour 5 minutes, or pay":  65 * time.Minute,
		"try again in a while":                   0,
		"try again in 3 parsecs":                 0,
		"try again in 99999999999999999999999 h": 0,
		"":                                       0,
	} {
		refused := http.Response{StatusCode: 429, Body: io.NopCloser(strings.NewReader(`{"error":{"message":"` + message + `"}}`))}
		if got := modelErrorOf(Failure(context.Background(), &refused, io.EOF)).RetryAfter; got != want {
			t.Errorf("%q: refused for %s, want %s", message, got, want)
		}
		if got := modelErrorOf(BrokenOff([]byte(`{"message":"` + message + `"}`))).RetryAfter; got != want {
			t.Errorf("%q: broken off for %s, want %s", message, got, want)
		}
	}
	header := http.Header{"Retry-After": {"10800"}}
	refused := http.Response{StatusCode: 429, Header: header, Body: io.NopCloser(strings.NewReader(`{"error":{"message":"try again in 1s"}}`))}
	if got := modelErrorOf(Failure(context.Background(), &refused, io.EOF)).RetryAfter; got != 3*time.Hour {
		t.Errorf("the header asks for three hours, got %s", got)
	}
}

func modelErrorOf(err error) *model.Error { return err.(*model.Error) }
