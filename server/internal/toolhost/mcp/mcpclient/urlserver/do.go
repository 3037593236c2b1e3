package urlserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Big is the size of the largest answers of do, in bytes.
const Big = 100 << 20

func (s *Server) call(w http.ResponseWriter, r *http.Request, m *message) {
	var p struct {
		Name      string
		Arguments struct{ Text string }
		Meta      struct {
			ProgressToken any `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	s.mu.Lock()
	refused := s.refusing > 0
	if refused {
		s.refusing--
	}
	s.mu.Unlock()
	if refused {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return
	}
	if p.Name == "echo" {
		s.reply(w, m, texts(p.Arguments.Text))
		return
	}
	s.mu.Lock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[p.Arguments.Text]++
	s.mu.Unlock()
	s.do(w, r, m, p.Arguments.Text, p.Meta.ProgressToken)
}

// hijack returns the connection of an answer.
func hijack(w http.ResponseWriter) io.WriteCloser {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // the tests use HTTP/1.1
	}
	return conn
}

// do behaves as the argument of the tool says.
func (s *Server) do(w http.ResponseWriter, r *http.Request, m *message, what string, token any) {
	switch what {
	case "stream":
		events(w)
		for i := range 3 {
			event(w, object{"jsonrpc": "2.0", "method": "notifications/progress", "params": object{"progressToken": token, "progress": i + 1, "total": 3}})
		}
		event(w, s.answer(m, texts("streamed")))
	case "refuse":
		s.send(w, http.StatusOK, object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": -32000, "message": "out of order"}})
	case "crash": // in the middle of an answer
		conn := hijack(w)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\":")
		_ = conn.Close()
	case "crash-stream":
		events(w)
		event(w, object{"jsonrpc": "2.0", "method": "notifications/progress", "params": object{"progressToken": token, "progress": 1}})
	case "close": // without an answer
		_ = hijack(w).Close()
	case "hang":
		<-r.Context().Done()
	case "drip": // one byte after the other, and no end
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			flush(w)
		}
	case "wait":
		s.wait(w, r, m, token)
	case "lie":
		events(w)
		for _, id := range []string{`999999`, `1`, `"other"`, `null`} {
			event(w, json.RawMessage(`{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[{"type":"text","text":"a lie"}]}}`))
		}
		event(w, s.answer(m, texts("the truth")))
	case "lie-json":
		s.send(w, http.StatusOK, s.answer(&message{ID: json.RawMessage(`999999`)}, texts("a lie")))
	case "flood":
		s.flood(w, m)
	case "big":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
		large(w)
		_, _ = io.WriteString(w, `"}]}}`)
	case "big-event":
		events(w)
		_, _ = io.WriteString(w, "data: ")
		large(w)
	case "endless": // the answer comes, and the stream never ends
		events(w)
		event(w, s.answer(m, texts("answered")))
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, ": and on\n\n"); err != nil {
				return
			}
		}
	case "html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<h1>Welcome</h1>")
	case "garbage":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[1, 2")
	case "empty":
		w.WriteHeader(http.StatusAccepted)
	case "redirect":
		http.Redirect(w, r, s.Elsewhere, http.StatusTemporaryRedirect)
	case "redirect-here":
		http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
	case "status-500":
		http.Error(w, "it broke", http.StatusInternalServerError)
	case "status-429":
		w.Header().Set("Retry-After", "7")
		http.Error(w, "slower", http.StatusTooManyRequests)
	case "other-session":
		w.Header().Set("Mcp-Session-Id", "another")
		s.reply(w, m, texts("another session"))
	case "change":
		s.mu.Lock()
		s.changed = true
		s.mu.Unlock()
		s.Announce("notifications/tools/list_changed")
		s.reply(w, m, texts("changed"))
	case "resume":
		s.resume(w, m)
	case "question":
		events(w)
		event(w, object{"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": object{"messages": []object{}, "maxTokens": 1}})
		event(w, s.answer(m, texts("asked")))
	default:
		s.reply(w, m, texts("unknown: "+what))
	}
}

// large writes Big bytes, unless the client leaves.
func large(w io.Writer) {
	piece := strings.Repeat("x", 1<<20)
	for range Big / len(piece) {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

func (s *Server) flood(w http.ResponseWriter, m *message) {
	events(w)
	notice := strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"nobody\",\"progress\":1}}\n\n", 1_000)
	for range 10 {
		_, _ = io.WriteString(w, notice)
	}
	for i := range 300 {
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[],\"maxTokens\":1}}\n\n", i)
	}
	event(w, s.answer(m, texts("after the flood")))
}

// wait reports progress, and waits for the cancellation: a notification, or the end of the request.
func (s *Server) wait(w http.ResponseWriter, r *http.Request, m *message, token any) {
	end := make(chan struct{})
	s.mu.Lock()
	if s.waiting == nil {
		s.waiting = map[string]chan struct{}{}
	}
	s.waiting[string(m.ID)] = end
	s.mu.Unlock()
	events(w)
	event(w, object{"jsonrpc": "2.0", "method": "notifications/progress", "params": object{"progressToken": token, "progress": 1}})
	select {
	case <-end:
	case <-r.Context().Done():
	}
	s.mu.Lock()
	s.calls["canceled"]++
	s.mu.Unlock()
}

// resume closes the stream before its answer, which the client can fetch.
func (s *Server) resume(w http.ResponseWriter, m *message) {
	answer := s.answer(m, texts("resumed"))
	s.mu.Lock()
	if s.rest == nil {
		s.rest = map[string]func(io.Writer){}
	}
	s.rest["event-1"] = func(w io.Writer) { _, _ = io.WriteString(w, "id: event-2\nretry: 20\ndata:\n\n") }
	s.rest["event-2"] = func(w io.Writer) { event(w, answer) }
	s.mu.Unlock()
	events(w)
	_, _ = io.WriteString(w, "id: event-1\nretry: 10\ndata:\n\n")
	flush(w)
}
