package mcphttp

import (
	"context"
	"net/http/httptest"
	"testing"
)

// An answer sends nothing after the credential of its request has become invalid.
func TestLastingAnswer(t *testing.T) {
	sent, valid := httptest.NewRecorder(), true
	w := &lasting{ResponseWriter: sent, ctx: t.Context(), valid: func(context.Context) bool { return valid }}
	if _, err := w.Write([]byte("before")); err != nil {
		t.Fatal(err)
	}
	valid = false
	if n, err := w.Write([]byte("after")); n != 0 || err == nil || sent.Body.String() != "before" {
		t.Errorf("sent %q, %v", sent.Body, err)
	}
}
