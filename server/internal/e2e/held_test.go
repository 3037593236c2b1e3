package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// pending returns the name of the call that waits, once there is one.
func (h *toolhost) pending(t *testing.T) string {
	t.Helper()
	var names []string
	eventually.Holds(t, "one call waits", func() bool {
		names = nil
		for d, err := range h.looks.Inbox(t.Context(), client.InboxFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, d.Name)
		}
		return len(names) == 1
	})
	return names[0]
}

// approveHeld approves the call that waits from another process, as a program without a terminal.
func (h *toolhost) approveHeld(t *testing.T) {
	t.Helper()
	name := h.pending(t)
	var shown struct{ Arguments, Etag string }
	if err := json.Unmarshal([]byte(h.do(t, "approvals", "pending", name, "-o", "json").stdout), &shown); err != nil || !strings.Contains(shown.Arguments, `"amount":100`) {
		t.Fatalf("%v: %+v", err, shown)
	}
	unseen := h.do(t, "approvals", "approve", name)
	unseen.exits(t, 2)
	unseen.says(t, "--etag "+shown.Etag)
	h.do(t, "approvals", "approve", name, "--etag", "another").says(t, "conflict")
	h.do(t, "approvals", "approve", name, "--etag", shown.Etag).exits(t, 0)
}

// A call of a program without a person waits until somebody approves it in another process. So does
// that of an MCP client without elicitation, which repeats it. The tool gets the arguments that
// were shown, which are not those that were sent.
func TestHeldCalls(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "approvalplugin"), filepath.Join(h.plugins, "approvalplugin")); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	waiting := command(t.Context(), h.home, []string{"TOOLHOST_ADDR=" + h.addr}, "toolhost", "call", "--wait-for-approval", "10m", "pay", `{"amount":1}`)
	var out, errs strings.Builder
	waiting.Stdout, waiting.Stderr = &out, &errs
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	h.approveHeld(t)
	if err := waiting.Wait(); err != nil || !strings.Contains(out.String(), `"amount":100`) || !strings.Contains(errs.String(), "toolhost approvals approve calls/") {
		t.Errorf("%v: %s %s", err, out.String(), errs.String())
	}
	h.do(t, "call", "--wait-for-approval", "0s", "pay", `{"amount":2}`).says(t, "approval_required", "toolhost approvals approve calls/")
	h.do(t, "approvals", "reject", h.pending(t), "--reason", "too much").exits(t, 0)
	h.do(t, "call", "--wait-for-approval", "0s", "pay", `{"amount":2}`).says(t, "denied", "too much")

	c := h.mcpServe(t, "2025-11-25", nil)
	pay := func() string {
		_, text := c.call(t, "pay", map[string]any{"amount": 3}, nil)
		return text
	}
	if got := pay(); !strings.Contains(got, "toolhost approvals approve "+h.pending(t)) {
		t.Errorf("the client is told %s", got)
	}
	h.approveHeld(t)
	if got := pay(); !strings.Contains(got, `"amount":100`) {
		t.Errorf("after the approval: %s", got)
	}
	if got := pay(); !strings.Contains(got, "approvals approve") {
		t.Errorf("once more: %s", got)
	}
}
