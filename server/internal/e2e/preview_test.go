package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// runEvent has the fields of a line of `agentd run -o json` that the tests use.
type runEvent struct {
	Type     string `json:"type"`
	CallID   string `json:"call_id"`
	State    string `json:"state"`
	Message  string `json:"message"`
	Text     string `json:"text"`
	Instance string `json:"instance"`
}

// draftScript makes the model write "good morning" with versionplugin_draft. Its last piece waits
// for a file. The test inserts turns before it.
const draftScript = `
turns:
%s
  - chunks: 2
    calls: [{id: d, tool: versionplugin_draft, arguments: {text: "good morning", file: written}, pause_until: %q}]
  - text: 'It was {{result "d"}}.'
`

// agentd starts a run of a script and passes each event to seen, until the run or the context ends.
func (h *toolhost) agentd(t *testing.T, ctx context.Context, script string, seen func(e runEvent)) {
	t.Helper()
	path := filepath.Join(h.home, "script.yaml")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(ctx, h.home, nil, "agentd", "run", "--toolhost", h.addr, "--model", "scripted:"+path, "-o", "json", "go")
	stderr := &syncbuf.Buffer{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var e runEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		seen(e)
	}
	if err := cmd.Wait(); err != nil && ctx.Err() == nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
}

func (h *toolhost) written(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.workspace, "written"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// The model sends half of a call's arguments and pauses until a watcher has seen the tool's status
// for that half. The complete call then reaches the tool object that reported the status, and
// executes once. The same holds if a model stream broke after it had shown the call, and the
// request was repeated.
func TestToolLooksOnWhileTheModelWrites(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	broken := filepath.Join(h.home, "broken")
	proceed := filepath.Join(h.home, "go")
	failing := fmt.Sprintf(`  - chunks: 2
    calls: [{id: d, tool: versionplugin_draft, arguments: {text: "good evening", file: written}, pause_until: %q}]
    error: {status: 529}
`, broken)
	awaited, file := "good", broken
	drafters := make(map[string]string) // by the file of the wait
	var order []string
	var answer string
	h.agentd(t, ctx, fmt.Sprintf(draftScript, failing, proceed), func(e runEvent) {
		name, text, _ := strings.Cut(e.Message, " ")
		switch {
		case e.Type == "call_status" && e.State == "WAIT" && strings.HasPrefix(text, awaited) && file != "":
			drafters[file] = name
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Error(err)
			}
			file = ""
			order = append(order, "shown")
		case e.Type == "turn_reset":
			file = proceed
			order = append(order, e.Type)
		case e.Type == "call_result":
			answer = e.Text
			order = append(order, e.Type)
		case e.Type == "assistant_message", e.Type == "run_finished":
			order = append(order, e.Type)
		}
	})
	want := []string{"shown", "turn_reset", "shown", "assistant_message", "call_result", "assistant_message", "run_finished"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("the run's events (-want +got):\n%s", diff)
	}
	if drafters[broken] == "" || drafters[proceed] == drafters[broken] || answer != drafters[proceed] {
		t.Errorf("the call was executed by %q; its arguments were shown to %v", answer, drafters)
	}
	if got := h.written(t); got != "good morning 1\n" {
		t.Errorf("the tool wrote %q", got)
	}
}

// toolhost abandons a call if its agentd dies before the arguments are complete.
func TestDeadAgentdExecutesNothing(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	shown := false
	h.agentd(t, ctx, fmt.Sprintf(draftScript, "", filepath.Join(h.home, "never")), func(e runEvent) {
		if e.Type == "call_status" && !shown {
			shown = true
			cancel() // kills agentd
		}
	})
	if !shown {
		t.Fatal("the tool did not look on")
	}
	c := h.dial(t)
	eventually.Holds(t, "the instance is idle", func() bool {
		instances, err := c.Admin().Instances(t.Context(), "")
		return err == nil && len(instances) == 1 && instances[0].Calls == 0
	})
	if got := h.written(t); got != "" {
		t.Errorf("the tool wrote %q", got)
	}
}
