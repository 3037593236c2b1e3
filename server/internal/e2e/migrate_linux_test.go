//go:build more

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/tool"
)

// A toolhost that was killed moves its ledger into a database that another one uses. Both answer
// for its calls as before, under the former id of the ledger. It never starts with the file again.
func TestMigrate(t *testing.T) {
	server := postgrestest.Start(t)
	name := server.Create(t)
	database := server.URL(name)
	other := startLedgerNodes(t, database, 1)[0]
	(&writing{id: "new"}).askAgain(t, other.calls)
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	calls := h.dial(t)
	done := &writing{id: "done"}
	done.askAgain(t, calls)
	hold := tool.Call{ID: "hold", Tool: "versionplugin_hold", Arguments: []byte(`{"until":"never"}`), Timeout: time.Hour}
	started := make(chan struct{})
	ended := make(chan error, 1)
	go func() { // ends with the toolhost
		var once sync.Once
		_, err := calls.Follow(t.Context(), hold, func(tool.Event) { once.Do(func() { close(started) }) })
		ended <- err
	}()
	<-started
	settings := filepath.Join(h.home, "toolhost.yaml")
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	use := func(content string) {
		write(t, settings, content, 0o600)
		h.do(t, "trust", settings).exits(t, 0)
	}
	use("records: " + database + "\n")
	h.maintain(t, "migrate", "--config", settings).says(t, "is in use by another toolhost")
	if r := h.done(t, "migrate", "--check", "--config", settings); r.Calls != 2 {
		t.Errorf("while it runs, a check finds %+v", r)
	}
	_ = h.cmd.Process.Kill()
	<-h.exited
	<-ended
	if why := h.fails(t); !strings.Contains(why, "`toolhost migrate`") {
		t.Errorf("it does not name the command: %s", why)
	}
	marked, err := os.ReadFile(filepath.Join(h.state, "ledger.id"))
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(marked))
	if r := h.done(t, "migrate", "--config", settings); r.Calls != 2 || r.Ledger == id || r.Former != id || len(r.Warnings) > 0 {
		t.Errorf("moved %+v of the ledger %s", r, id)
	}
	h.maintain(t, "migrate", "--config", settings).says(t, "were moved before")
	h.serve(t)
	fresh := &writing{id: "fresh"}
	under := fresh.call()
	under.Ledger = id
	if outcome, err := h.dial(t).Call(t.Context(), under); err != nil {
		t.Errorf("a call that is new under the ledger of the file: %v %v", outcome, err)
	}
	hold.Ledger, hold.Timeout = id, patience
	for _, at := range []*toolhost{h, other.toolhost} {
		calls := at.dial(t)
		done.askAgain(t, calls)
		under := done.call()
		under.Ledger = id
		if outcome, err := calls.Call(t.Context(), under); err != nil || outcome.Result.Text() != done.answer {
			t.Errorf("under the ledger of the file: %v %v", outcome, err)
		}
		if _, err := calls.Call(t.Context(), hold); tool.KindOf(err) != tool.KindOutcomeUnknown || mayGoOn(err) {
			t.Errorf("the call that was under way: %v", err)
		}
	}
	if n := h.linesWritten(t)["done"] + other.linesWritten(t)["done"]; n != 1 {
		t.Errorf("the side effect happened %d times", n)
	}
	h.stop(t)
	// The database loses the move. Calls that followed it may be lost, too.
	server.Do(t, name, "DELETE FROM toolhost_calls WHERE node IN (SELECT node FROM toolhost_nodes WHERE why LIKE '%moved%'); UPDATE toolhost_ledger SET former = '{}'")
	h.maintain(t, "migrate", "--config", settings).says(t, "start once with --accept-lost-ledger "+id)
	use(string(before))
	if why := h.fails(t); !strings.Contains(why, "its calls were moved to the database") {
		t.Errorf("with the file: %s", why)
	}
}
