package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAnswer checks that an answer is one JSON message only if its first event is a response.
func TestAnswer(t *testing.T) {
	event := func(message string) string { return "event: message\ndata: " + message + "\n\n" }
	result, text := `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"a\",\"method\":","error":{}}`
	progress := event(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"id":1,"result":{}}}`)
	question := event(`{"jsonrpc":"2.0","id":"x,\"result\":","method":"elicitation/create","params":{}}`)
	for name, test := range map[string]struct {
		events     []string
		body, kind string
	}{
		"a result":                   {[]string{event(result)}, result, "application/json"},
		"an error with a text as id": {[]string{event(text)}, text, "application/json"},
		"progress, then a result":    {[]string{progress, event(result)}, progress + event(result), "text/event-stream"},
		"a question, then a result":  {[]string{question, event(result)}, question + event(result), "text/event-stream"},
		"another event":              {[]string{"event: close\ndata: \n\n"}, "event: close\ndata: \n\n", "text/event-stream"},
		"an event with an id":        {[]string{"event: message\nid: 7\ndata: " + result + "\n\n"}, "event: message\nid: 7\ndata: " + result + "\n\n", "text/event-stream"},
		"a comment":                  {[]string{": ok\n\n", event(result)}, ": ok\n\n" + event(result), "text/event-stream"},
		"a message that breaks off":  {[]string{event(`{"jsonrpc":"2.0","id":"`)}, event(`{"jsonrpc":"2.0","id":"`), "text/event-stream"},
		"a message without an id":    {[]string{event(`{"jsonrpc":"2.0","error":{}}`)}, event(`{"jsonrpc":"2.0","error":{}}`), "text/event-stream"},
	} {
		recorder := httptest.NewRecorder()
		a := &answer{ResponseWriter: recorder}
		a.Header().Set("Content-Type", "text/event-stream")
		for _, e := range test.events {
			if n, err := a.Write([]byte(e)); n != len(e) || err != nil {
				t.Errorf("%s: %d, %v", name, n, err)
			}
			if err := http.NewResponseController(a).Flush(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if kind := recorder.Header().Get("Content-Type"); kind != test.kind || recorder.Body.String() != test.body {
			t.Errorf("%s: %s %q", name, kind, recorder.Body)
		}
		if streams := test.kind == "text/event-stream"; recorder.Flushed != streams {
			t.Errorf("%s: flushed: %v", name, recorder.Flushed)
		}
	}
	recorder := httptest.NewRecorder()
	http.Error(&answer{ResponseWriter: recorder}, "no", http.StatusNotFound)
	if recorder.Code != http.StatusNotFound || recorder.Body.String() != "no\n" {
		t.Errorf("an error of HTTP: %d %q", recorder.Code, recorder.Body)
	}
}
