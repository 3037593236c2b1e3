package wiretest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// LongLines checks that a response whose first line never ends is malformed, and that the error
// says so.
func LongLines(t *testing.T, open Open) {
	m, err := open("https://api.example.com/v1", "key", &http.Client{Transport: Transport(func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(io.MultiReader(strings.NewReader("data: "), letters{}))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	failed := Failure(t, m, model.Request{})
	if !failed.Malformed || !strings.Contains(failed.Message, "an event is larger than") {
		t.Errorf("it ended with %v", failed)
	}
}

// letters is a text without end.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
