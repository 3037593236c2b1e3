package mcpserver

import (
	"bytes"
	"net/http"
)

// withoutBatches is the first version of MCP in which a POST has a single message.
const withoutBatches = "2025-06-18"

// answer writes the answer to a POST as one JSON message if nothing precedes it.
//
// A server may answer with JSON or with a stream of server-sent events. A stream costs both ends
// more, and only a request with notifications or questions before its result needs one. The SDK's
// handler has one form for all requests, because it does not know what will follow. But it writes
// each event at once, so answer sees whether the first event is the result. It then writes what the
// event contains. Any other first event makes the answer a stream.
type answer struct {
	http.ResponseWriter
	begun bool // the header was written, or the form is decided
	whole bool // the answer is one message
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(data []byte) (int, error) {
	if a.begun {
		return a.ResponseWriter.Write(data)
	}
	a.begun = true
	message, ok := onlyResponse(data)
	if !ok || a.Header().Get("Content-Type") != "text/event-stream" {
		return a.ResponseWriter.Write(data)
	}
	a.whole = true
	a.Header().Set("Content-Type", "application/json")
	if _, err := a.ResponseWriter.Write(message); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Flush implements http.Flusher. The end of the request flushes a single message.
func (a *answer) Flush() {
	if !a.whole {
		_ = http.NewResponseController(a.ResponseWriter).Flush()
	}
}

// Unwrap returns the writer for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// onlyResponse returns the JSON-RPC response in a server-sent event as the SDK writes it.
func onlyResponse(event []byte) (message []byte, ok bool) {
	message, begins := bytes.CutPrefix(event, []byte("event: message\ndata: "))
	message, ends := bytes.CutSuffix(message, []byte("\n\n"))
	if !begins || !ends || bytes.IndexByte(message, '\n') >= 0 {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(message, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return nil, false
	}
	rest = rest[scalar(rest):]
	return message, bytes.HasPrefix(rest, []byte(`,"result":`)) || bytes.HasPrefix(rest, []byte(`,"error":`))
}

// scalar returns the length of the JSON text or number at the beginning of valid JSON.
func scalar(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return max(bytes.IndexByte(text, ','), 0)
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
