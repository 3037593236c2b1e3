package e2e_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// TestAttachingAnMCPServerToARun checks that the model of a run sees the tools of an MCP server
// that is added during the run, and that the run can call them.
func TestAttachingAnMCPServerToARun(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "policy: {rules: [{name: all, when: \"true\", then: allow}]}\n", 0o600)
	h.serve(t)
	offered := func(asked thought) (names []string) {
		for _, each := range asked.Tools {
			names = append(names, each.Function.Name)
		}
		return names
	}
	m := newMind(t, func(asked thought) (string, string) {
		last, _ := asked.Messages[len(asked.Messages)-1].Content.(string)
		switch {
		case strings.Contains(last, "said by the server"):
			return "done: " + last, ""
		case last == "go":
			if slices.Contains(offered(asked), "w_echo") {
				t.Error("the tool is there before its server")
			}
			h.addMCP(t, "web", "--prefix", "w_", "--", filepath.Join(bin, "mcpserver")).says(t, "in service")
			return "", call("a", "calculator", `{"expression":"6*7"}`)
		case slices.Contains(offered(asked), "w_echo"):
			return "", call("b", "w_echo", `{"text":"said by the server"}`)
		}
		return fmt.Sprintf("the model is offered %q after %q", offered(asked), last), ""
	})
	d := h.agentdServe(t, m.flags()...)
	id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, e := range d.story(t, id, 0, nil) {
		text += e.GetRunFinished().GetText()
	}
	if text != "done: said by the server" {
		t.Errorf("the run ends with %q", text)
	}
}
