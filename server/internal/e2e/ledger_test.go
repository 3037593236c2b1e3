package e2e_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the ledger

	"github.com/toolhost/toolhost/tool"
)

// fails starts a toolhost that must refuse to start, and returns its message.
func (h *toolhost) fails(t *testing.T, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r := run(t, command(ctx, h.home, nil, "toolhost", append([]string{"serve",
		"--plugins", h.plugins, "--listen", h.addr, "--state", h.state, "--workspace", h.workspace}, flags...)...))
	if r.code == 0 || strings.Contains(r.stdout, "ready") {
		t.Fatalf("it started: %s%s", r.stdout, r.stderr)
	}
	return r.stderr
}

// TestTokensBeforeTheFirstStart checks that tokens which an operator creates before the first
// start, and which the audit log records, are no sign of a lost ledger.
func TestTokensBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	for _, name := range []string{"ada", "bob"} {
		h.do(t, "token", "create", name, "--state", h.state).exits(t, 0)
	}
	if _, err := os.Stat(filepath.Join(h.state, "audit.jsonl")); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	h.do(t, "tools").exits(t, 0)
}

// toolhost does not start with an empty ledger if other state shows that there was one. It starts
// if the operator names the id of the lost ledger.
func TestALostLedgerIsNotReplacedSilently(t *testing.T) {
	t.Parallel()
	another := start(t)
	another.stop(t)
	remove := func(t *testing.T, h *toolhost, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.RemoveAll(filepath.Join(h.state, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, lose := range map[string]func(t *testing.T, h *toolhost){
		"removed": func(t *testing.T, h *toolhost) { remove(t, h, "calls.db", "calls.db-wal", "calls.db-shm") },
		"emptied": func(t *testing.T, h *toolhost) {
			remove(t, h, "calls.db-wal", "calls.db-shm")
			write(t, filepath.Join(h.state, "calls.db"), "", 0o600)
		},
		"that of another": func(t *testing.T, h *toolhost) {
			remove(t, h, "calls.db-wal", "calls.db-shm")
			other, err := os.ReadFile(filepath.Join(another.state, "calls.db"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(h.state, "calls.db"), string(other), 0o600)
		},
		"removed with its id": func(t *testing.T, h *toolhost) { remove(t, h, "calls.db", "calls.db-wal", "calls.db-shm", "ledger.id") },
	} {
		t.Run(name, func(t *testing.T) {
			h := prepare(t)
			installStamped(t, h, "one", "", "")
			h.serve(t)
			call := tool.Call{ID: "only-once", Tool: "versionplugin_write", Arguments: []byte(`{"file":"written","text":"once"}`), Timeout: patience}
			if _, err := h.dial(t).Call(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			if log := h.stderr.String(); strings.Contains(log, "ledger") {
				t.Errorf("the first start speaks of the ledger:\n%s", log)
			}
			h.stop(t)
			lose(t, h)
			said := h.fails(t)
			match := regexp.MustCompile(`--accept-lost-ledger ([\w@]+)`).FindStringSubmatch(said)
			if match == nil || !strings.Contains(said, "calls.db") {
				t.Fatalf("it does not say how to go on:\n%s", said)
			}
			if again := h.fails(t, "--accept-lost-ledger", "0123456789abcdef"); !strings.Contains(again, match[1]) {
				t.Errorf("with the id of another ledger it says:\n%s", again)
			}
			h.serve(t, "--accept-lost-ledger", match[1])
			h.stop(t)
			h.serve(t) // the new ledger belongs to the folder from now on
		})
	}
}

// toolhost does not start with a ledger that has fewer calls than were begun: an earlier copy of
// the file, or the file without its log after a kill.
func TestAnOlderLedgerIsRefused(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"an earlier copy": false, "an earlier copy after a kill": true, "without its log": true} {
		t.Run(name, func(t *testing.T) {
			h := prepare(t)
			installStamped(t, h, "one", "", "")
			send := func(id string) error {
				_, err := h.dial(t).Call(t.Context(), tool.Call{ID: id, Tool: "versionplugin_write", Arguments: []byte(`{"file":"written","text":"once"}`), Timeout: patience})
				return err
			}
			h.serve(t)
			if err := send("first"); err != nil {
				t.Fatal(err)
			}
			h.stop(t)
			path := filepath.Join(h.state, "calls.db")
			earlier, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			h.serve(t)
			if err := send("second"); err != nil {
				t.Fatal(err)
			}
			if kill {
				if err := h.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				<-h.exited
			} else {
				h.stop(t)
			}
			if name != "without its log" {
				write(t, path, string(earlier), 0o600)
			}
			for _, log := range []string{"-wal", "-shm"} {
				if err := os.RemoveAll(path + log); err != nil {
					t.Fatal(err)
				}
			}
			said := h.fails(t)
			match := regexp.MustCompile(`--accept-lost-ledger ([\w@]+)`).FindStringSubmatch(said)
			if match == nil || !strings.Contains(said, "calls.db") {
				t.Fatalf("it does not say how to go on:\n%s", said)
			}
			h.fails(t) // a refusal changes nothing
			h.serve(t, "--accept-lost-ledger", match[1])
			h.stop(t)
			h.serve(t)
		})
	}
}

// toolhost does not start if the number of the newest call is missing, because it then could not
// see that the ledger's log is lost. A ledger of a build without this number is accepted.
func TestALedgerWithoutTheNumberOfItsNewestCall(t *testing.T) {
	t.Parallel()
	for name, withLog := range map[string]bool{"after a stop": true, "after a kill, without the log": false} {
		t.Run(name, func(t *testing.T) {
			h := prepare(t)
			installStamped(t, h, "one", "", "")
			h.serve(t)
			call := tool.Call{ID: "once", Tool: "versionplugin_write", Arguments: []byte(`{"file":"written","text":"once"}`), Timeout: patience}
			if _, err := h.dial(t).Call(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(h.state, "calls.db")
			if withLog {
				h.stop(t)
			} else {
				if err := h.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				<-h.exited
				for _, log := range []string{"-wal", "-shm"} {
					if err := os.RemoveAll(path + log); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Remove(filepath.Join(h.state, "ledger.newest")); err != nil {
				t.Fatal(err)
			}
			said := h.fails(t)
			match := regexp.MustCompile(`--accept-lost-ledger ([\w@]+)`).FindStringSubmatch(said)
			if match == nil || !strings.Contains(said, "ledger.newest") {
				t.Fatalf("it does not say how to go on:\n%s", said)
			}
			h.fails(t) // a refusal changes nothing
			h.serve(t, "--accept-lost-ledger", match[1])
			h.stop(t)
			h.serve(t)
			h.stop(t)

			// An earlier build knew no such file.
			if err := os.Remove(filepath.Join(h.state, "ledger.newest")); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), "UPDATE ledger SET noted = 0"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			h.serve(t)
		})
	}
}
