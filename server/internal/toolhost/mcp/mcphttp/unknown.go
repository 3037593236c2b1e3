package mcphttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// methodNotFound is JSON-RPC's code for a method that does not exist.
const methodNotFound = -32_601

// notHandled begins the SDK's answer to a method that it does not know.
const notHandled = "JSON RPC not handled"

// unknown is the writer of the answer to one message. The SDK answers an unknown method with the
// status 400 and a text, in the versions before 2026-07-28. A client cannot give that to the
// request that it made, and takes the server for broken (n8n-mcp#994). So a request gets the error
// -32601, and a notification is accepted.
type unknown struct {
	http.ResponseWriter
	body []byte // the message
	held bool   // the status is 400, and is not sent yet
}

// WriteHeader implements http.ResponseWriter.
func (w *unknown) WriteHeader(status int) {
	if status == http.StatusBadRequest {
		w.held = true
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. The SDK writes the text of an error at once.
func (w *unknown) Write(text []byte) (int, error) {
	if !w.held {
		return w.ResponseWriter.Write(text)
	}
	w.held = false
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if !bytes.HasPrefix(text, []byte(notHandled)) || json.Unmarshal(w.body, &req) != nil {
		w.ResponseWriter.WriteHeader(http.StatusBadRequest)
		return w.ResponseWriter.Write(text)
	}
	h := w.Header()
	h.Del("Content-Length")
	h.Del("X-Content-Type-Options")
	if len(req.ID) == 0 || string(req.ID) == "null" { // a notification
		h.Del("Content-Type")
		w.ResponseWriter.WriteHeader(http.StatusAccepted)
		return len(text), nil
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": req.ID, "error": map[string]any{
		"code": methodNotFound, "message": "this server has no method " + strings.ToValidUTF8(req.Method[:min(len(req.Method), 100)], "\uFFFD"),
	}})
	if err != nil {
		return 0, err
	}
	h.Set("Content-Type", "application/json")
	w.ResponseWriter.WriteHeader(http.StatusOK)
	if _, err := w.ResponseWriter.Write(answer); err != nil {
		return 0, err
	}
	return len(text), nil
}

// sendHeld sends the status, if no text followed it.
func (w *unknown) sendHeld() {
	if w.held {
		w.ResponseWriter.WriteHeader(http.StatusBadRequest)
	}
}

// Unwrap returns the writer for http.ResponseController.
func (w *unknown) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *unknown) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }
