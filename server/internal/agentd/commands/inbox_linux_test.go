package commands

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
)

// At a terminal, the inbox shows the whole call and asks. Whoever looks, leaves or says no decides
// nothing.
func TestTheInboxAsks(t *testing.T) {
	w := newWorld(t).withPay()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script(payScript))
	server.stdout.until(t, "agentd is ready")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "go", People: &client.People{Attended: true}})
	if err != nil {
		t.Fatal(err)
	}
	awaitDecisions(t, a, id, 1)
	asked, err := a.InboxDecision(t.Context(), id+"/d1")
	if err != nil {
		t.Fatal(err)
	}
	later := asked.Expires.Add(90 * time.Minute).Local()
	w.run("inbox", "extend", id+"/d1", "90m", "--addr", socket).want(t, 0, id+"/d1: waits until "+later.Format(time.DateTime))
	w.run("inbox", "extend", id+"/d1", "0h", "--addr", socket).want(t, 2, "is no duration")
	w.run("inbox", "extend", id+"/d1", "200h", "--addr", socket).want(t, 3, "at most until", "7 days after it was requested")
	w.run("inbox", "extend", id+"/d9", "--addr", socket).want(t, 3, "no decision")
	w.run("show", id, "--addr", socket).want(t, 0, "… d1 waits until "+later.Format("2006-01-02 15:04"))
	w.run("show", id, "-o", "json", "--addr", socket).want(t, 0, `"decision_extended"`, `"expire_time":"`+later.UTC().Format("2006-01-02T15:04:05"))
	shown := []string{"pay needs approval (d1)", "100", "mallory"}
	const asks, sure = "allow it?", "? [y]es, or no:"
	for _, test := range []struct {
		args  []string
		steps []string // what the terminal shows, and the keys that are pressed then
		code  int
		waits int
	}{
		{nil, []string{asks, "/help\r", "leaves the question open", "", asks, "/quit\r"}, 0, 1},
		{nil, []string{asks, "\x03"}, 0, 1},
		{[]string{"--approve"}, []string{sure, "n\r"}, 2, 1},
		{[]string{"--reject"}, []string{sure, "\r"}, 2, 1},
		{nil, []string{asks, "n\r", "why not (empty", "too much\r"}, 0, 0},
	} {
		y, left := w.sits(append([]string{"inbox", id + "/d1", "--addr", socket}, test.args...)...)
		y.sees(shown...)
		for i := 0; i < len(test.steps); i += 2 {
			y.sees(test.steps[i])
			y.press(test.steps[i+1])
		}
		if code := left(); code != test.code {
			t.Errorf("%q, %q: exit code %d, want %d\n%s", test.args, test.steps, code, test.code, y.out)
		}
		run, err := a.GetRun(t.Context(), id)
		if err != nil || len(run.Pending) != test.waits {
			t.Errorf("%q, %q: %d decisions wait, %v", test.args, test.steps, len(run.Pending), err)
		}
	}
	d, err := a.InboxDecision(t.Context(), id+"/d1")
	if err != nil || d.Made.Verdict != client.Reject || d.Made.Text != "too much" || d.Made.Principal == "" {
		t.Errorf("the decision is %+v, %v", d, err)
	}
	interrupt()
	wait()
}
