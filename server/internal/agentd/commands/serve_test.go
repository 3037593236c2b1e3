package commands

import (
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/version"
)

func TestServe(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	args := []string{
		"serve", "--listen", socket, "--journal", filepath.Join(w.folder, "runs.db"),
		"--model", w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'it was {{result \"a\"}}'}]"),
	}
	w.run("serve", "--listen", "127.0.0.1:0", "--model", args[6]).want(t, 2, "admits: caller")
	first, interrupt, wait := w.begin(args...)
	first.stdout.until(t, "agentd is ready at "+socket)
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if v, err := a.Version(t.Context()); err != nil || v != version.Info() {
		t.Errorf("the version is %+v, %v", v, err)
	}
	w.run("status", "--addr", socket).want(t, 0, "agentd "+version.Number+"\n", "address    "+socket+"\n")
	w.run("status", "--addr", "unix://"+filepath.Join(w.folder, "none.sock")).want(t, 4, "no agentd")
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	seen := uint64(0)
	for e, err := range a.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen = e.Seq; e.Type == "call_started" {
			break
		}
	}
	second := w.run("serve", "--listen", "unix://"+filepath.Join(w.folder, "other.sock"), "--journal", filepath.Join(w.folder, "runs.db"), "--model", args[6])
	second.want(t, 3, "another agentd serves the journal")

	// The command is interrupted while the call runs. It ends, and the call continues.
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, first.stderr)
	}
	again, interrupt, wait := w.begin(args...)
	again.stdout.until(t, "1 interrupted runs go on")
	w.untilWaiting("k")
	w.release("k")
	if text := finalText(t, a, id, seen); text != "it was released" {
		t.Errorf("the run ended with %q", text)
	}
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, again.stderr)
	}
}

// finalText watches a run of a server after a position, and returns the text with which it ends.
func finalText(t *testing.T, a *client.AgentClient, id string, after uint64) (text string) {
	t.Helper()
	for e, err := range a.WatchRun(t.Context(), id, after) {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := e.Payload.(*client.RunEnded); ok {
			text = end.Text
		}
	}
	return text
}
