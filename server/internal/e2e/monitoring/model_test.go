//go:build more

package monitoring

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// model is an API for models. The text of a request says how it answers.
type model struct {
	url    string
	uneven atomic.Int32 // requests with the word "uneven"
}

func startModel(t *testing.T) *model {
	m := &model{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// ServeHTTP answers a request. "broken" fails for ever, and "uneven" once. "ask" asks a person,
// "compute" calls a tool, and both end after the result of the call.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	text := string(body)
	over := strings.Contains(text, `"role":"tool"`)
	switch {
	case err != nil || strings.Contains(text, "this is broken"):
		http.Error(w, `{"error":{"message":"the key has expired"}}`, http.StatusUnauthorized)
	case strings.Contains(text, "this is uneven") && m.uneven.Add(1) == 1:
		http.Error(w, `{"error":{"message":"try again"}}`, http.StatusServiceUnavailable)
	case strings.Contains(text, "please ask") && !over:
		call(w, "ask_user", `{\"question\":\"which?\"}`)
	case strings.Contains(text, "please compute") && !over:
		call(w, "calculator", `{\"expression\":\"6*7\"}`)
	default:
		send(w, `{"content":"done"}`, "stop")
	}
}

func call(w io.Writer, tool, arguments string) {
	send(w, fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":%q,"arguments":"%s"}}]}`, tool, arguments), "tool_calls")
}

// send writes a response as a stream of events: the text or call, the end, and the tokens.
func send(w io.Writer, delta, reason string) {
	for _, event := range []string{
		`{"choices":[{"index":0,"delta":` + delta + `}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":1000000,"completion_tokens":1000}}`, `[DONE]`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}
