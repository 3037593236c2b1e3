package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// With the workspace mode `session`, each run of agentd has its own workspace, and its sub-runs
// work in it. Two runs of one session share a workspace. What a run wrote is still there when the
// run has ended, because `keep` decides when the workspace goes away.
func TestRunsHaveTheirOwnWorkspaces(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fs", "plugins/fs", "")
	folder := filepath.Join(h.home, "workspaces")
	write(t, filepath.Join(h.home, "toolhost.yaml"), "workspace: {mode: session, folder: "+folder+"}\n", 0o600)
	h.workspace = "" // the configuration names it
	h.serve(t)
	file := filepath.Join(h.home, "agentd.yaml")
	write(t, file, "system_tools: [new_task]\n", 0o600)
	steps := map[string][]string{
		"write": {call("a", "write_file", `{"path":"parent.txt","content":"of the parent"}`), call("b", "new_task", `{"task":"sub"}`), call("c", "read_file", `{"path":"sub.txt"}`)},
		"sub":   {call("d", "read_file", `{"path":"parent.txt"}`), call("e", "write_file", `{"path":"sub.txt","content":"of the sub-run"}`)},
		"look":  {call("f", "list_dir", `{}`), call("g", "read_file", `{"path":"parent.txt"}`)},
		"later": {call("h", "read_file", `{"path":"parent.txt"}`)},
	}
	m := newMind(t, func(asked thought) (string, string) {
		prompt := fmt.Sprint(asked.Messages[1].Content)
		results := 0
		for _, message := range asked.Messages {
			if message.Role == "tool" {
				results++
			}
		}
		for name, calls := range steps {
			if strings.Contains(prompt, name) && results < len(calls) {
				return "", calls[results]
			}
		}
		return "done", ""
	})
	d := h.agentdServe(t, append(m.flags(), "--config", file)...)
	work := func(prompt, session string) (id, told string) {
		id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: prompt, Session: session})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, e := range d.story(t, id, 0, nil) {
			if r := e.GetCallResult(); r != nil {
				for _, c := range r.GetResult().GetContent() {
					all.WriteString(c.GetText())
				}
			}
		}
		return id, all.String()
	}
	first, told := work("write", "")
	if !strings.Contains(told, "of the sub-run") {
		t.Errorf("the run does not find the file of its sub-run: %s", told)
	}
	for _, asked := range m.thoughts() {
		if last := asked.Messages[len(asked.Messages)-1]; last.ToolCallID == "d" && !strings.Contains(fmt.Sprint(last.Content), "of the parent") {
			t.Errorf("the sub-run does not find the file of its run: %v", last.Content)
		}
	}
	if _, told := work("look", ""); strings.Contains(told, "of the parent") || strings.Contains(told, "sub.txt") {
		t.Errorf("another run finds the files of the first: %s", told)
	}
	if _, told := work("later", first); !strings.Contains(told, "of the parent") {
		t.Errorf("a run that continues the session of the first does not find its files: %s", told)
	}
	owners, err := filepath.Glob(filepath.Join(folder, "*", "owner.json"))
	if err != nil || len(owners) != 2 {
		entries, _ := os.ReadDir(folder)
		t.Errorf("the folder has the workspaces %v of %v, %v; want one of each run", owners, entries, err)
	}
}
