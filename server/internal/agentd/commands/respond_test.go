package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
)

const threeDecisions = `
turns:
  - calls:
      - {id: a, tool: danger, arguments: {}}
      - {id: b, tool: danger, arguments: {}}
      - {id: q, tool: ask_user, arguments: {question: Where to?}}
  - text: 'a {{result "a"}}; b {{result "b"}}; q {{result "q"}}'
`

// A run waits for decisions, a signal kills agentd, and agentd starts again. The decisions still
// continue the run.
func TestDecisionsOutliveAgentd(t *testing.T) {
	w := newWorld(t).withToolhost()
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, w: w, socket: "unix://" + filepath.Join(w.folder, "agentd.sock"), script: w.script(threeDecisions)}
	d.start()
	a, err := client.DialAgent(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "decide", RunID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	awaitDecisions(t, a, id, 3)
	w.run("resume", "r", "--model", d.script).want(t, 3, "`agentd serve` works on run r")
	d.kill()
	w.run("respond", "r", "--addr", d.socket, "--approve", "t1.c0").want(t, 4, "agentd resume RUN")
	d.start()

	respond := func(args ...string) ended {
		return w.run(append([]string{"respond", "r", "--addr", d.socket}, args...)...)
	}
	for name, test := range map[string]struct {
		args  []string
		words string
	}{
		"no such call":      {[]string{"--approve", "t9.c9"}, `the run does not wait for a decision on "t9.c9"; it waits for d`},
		"nothing":           {nil, "--approve DECISION"},
		"a call to approve": {[]string{"--approve", "t1.c0"}, "--approve t1.c0: name the decision that you have seen"},
		"no text":           {[]string{"--answer", "t1.c2"}, "has no text"},
		"stray text":        {[]string{"--approve", "t1.c0", "x"}, "belongs to no decision"},
		"reason alone":      {[]string{"--reason", "x"}, "follows the decision"},
		"reason foreign":    {[]string{"--reason=x", "--approve", "t1.c0"}, "follows the decision"},
	} {
		t.Run(name, func(t *testing.T) { respond(test.args...).want(t, 2, test.words) })
	}
	respond("--edit", "t1.c0", "[1]").want(t, 3, "no JSON object")
	respond("--approve", decisionOf(t, a, id, "r.t1.c2")).want(t, 3, "answer")
	respond("--edit", "t1.c0", "{ }", "--reject", "r.t1.c1", "--reason", "not now", "--answer", "t1.c2=to Rome", "--by", "ada").want(t, 0, "3 decided, 0 still wait")
	text := finalText(t, a, id, 0)
	for _, want := range []string{"a done", "not now", "q to Rome"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in how the run ended: %s", want, text)
		}
	}
	if runtime.GOOS == "linux" { // only there the kernel reports the user of a connection
		w.run("show", "r", "-o", "json").want(t, 0, fmt.Sprintf(`"decided_by":"ada","principal":"uid:%d"`, os.Getuid()))
	}
	w.run("cancel", "r", "--addr", d.socket).want(t, 0, "asked to stop")
	w.run("cancel", "other", "--addr", d.socket).want(t, 3, "not_found")
}

// If no person can answer, the model learns that the call was refused, and the output says what the
// call needs.
func TestHeadlessMeansNo(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{calls: [{id: a, tool: danger, arguments: {}}]}, {text: 'it said {{result \"a\"}}'}]")
	got := w.run("run", "--model", script, "go")
	got.want(t, 0, "✗ danger", "danger was not called, because no person could be asked", "run it in a terminal")
}

// `agentd resume` ends a run that `agentd run` left.
func TestRunIsResumed(t *testing.T) {
	w := newWorld(t).withToolhost()
	file := filepath.Join(w.folder, "agentd.yaml")
	w.script("turns: [{calls: [{id: a, tool: danger, arguments: {}}]}, {text: 'it said {{result \"a\"}}'}]")
	yaml := "models: {demo: {provider: scripted, model: script.yaml}}\nmodel: demo\napprovals: {headless: never}\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	left := w.run("run", "--config", file, "go") // no input arrives
	left.want(t, 6, "allow it?", "agentd resume run-")
	_, command, _ := strings.Cut(strings.TrimSpace(left.stderr.String()), "agentd ")
	e := ended{stdout: newOutput(), stderr: newOutput()}
	p := w.process(e, strings.Fields(command)...) // the command as agentd prints it
	id := strings.Fields(command)[1]
	p.Stdin = strings.NewReader("y\n")
	e.code = run(t.Context(), p)
	e.want(t, 0, "? danger needs approval", "✓ d1 approved", "it said done")
	w.run("resume", "--config", file, id).want(t, 0) // the run has ended
	w.run("resume", "--config", file, "other").want(t, 3, "not_found")
}

// awaitDecisions waits until a run has requested n decisions.
func awaitDecisions(t *testing.T, a *client.AgentClient, id string, n int) {
	t.Helper()
	for e, err := range a.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "decision_requested" {
			if n--; n == 0 {
				return
			}
		}
	}
}

// decisionOf returns the id of the open decision about a call.
func decisionOf(t *testing.T, a *client.AgentClient, runID, callID string) string {
	t.Helper()
	r, err := a.GetRun(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Pending {
		if p.CallID == callID {
			return p.ID
		}
	}
	t.Fatalf("the run does not wait for a decision on %s", callID)
	return ""
}
