package commands

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// At a terminal, the inbox shows a held call with who makes it, and offers no other arguments.
func TestTheInboxAsksAboutHeldCalls(t *testing.T) {
	w := newWorld(t).withToolhost()
	store := w.host.(hostserver.Decisions).HeldCalls()
	d, _, err := store.Hold(held.KeyOf("1"), held.Call{
		Principal: "ada", Session: "s1", ID: "call-1", Agent: "writer", Tool: "pay", Plugin: "bank", Arguments: json.RawMessage(`{"to":"mallory"}`), Context: `{"account":"of ada"}`,
		Reason: "it is money",
	})
	if err != nil {
		t.Fatal(err)
	}
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script("turns: [{text: hi}]"))
	server.stdout.until(t, "agentd is ready")
	for _, test := range []struct {
		args  []string
		steps []string // what the terminal shows, and the keys that are pressed then
		code  int
		state held.State
	}{
		{nil, []string{"or say why not:", "e\r", "The arguments are those of the caller", "", "or say why not:", "/quit\r"}, 0, held.Waiting},
		{[]string{"--approve"}, []string{"? [y]es, or no:", "n\r"}, 2, held.Waiting},
		{nil, []string{"or say why not:", "y\r"}, 0, held.Approved},
	} {
		y, left := w.sits(append([]string{"inbox", d.Name, "--addr", socket}, test.args...)...)
		for i := 0; i < len(test.steps); i += 2 {
			y.sees(test.steps[i])
			y.press(test.steps[i+1])
		}
		code := left()
		for _, want := range []string{"mallory", "it is money", "call call-1 of ada", "agent writer", "session s1", "with the context", `account: "of ada"`} {
			if !strings.Contains(y.out.String(), want) {
				t.Errorf("%q: the person does not see %q:\n%s", test.args, want, y.out)
			}
		}
		if now, _ := store.Get(d.Name); code != test.code || now.State != test.state {
			t.Errorf("%q: exit code %d, %s\n%s", test.args, code, now.State, y.out)
		}
	}
	interrupt()
	wait()
}
