package serve

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// changed is a configuration file whose difference a test sets.
type changed struct{ diff *tool.ConfigurationChange }

func (c *changed) Reload(context.Context) (*tool.ConfigurationChange, []tool.ReloadFailure) {
	return nil, nil
}
func (c *changed) Diff() *tool.ConfigurationChange { return c.diff }

// unread is a pipe that no process reads, until it is closed.
type unread struct{ closed chan struct{} }

func (u unread) Write(p []byte) (int, error) {
	<-u.closed
	return 0, io.ErrClosedPipe
}

// Each condition is reported while it holds, as a problem if it should alert a person.
func TestConditions(t *testing.T) {
	calls, err := callstore.Open(t.Context(), callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db"), Bounds: callstore.Bounds{MaxIDs: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	decisions, err := audit.Open(audit.Config{File: filepath.Join(t.TempDir(), "audit.jsonl"), All: true})
	if err != nil {
		t.Fatal(err)
	}
	defer decisions.Close()
	pipe := unread{make(chan struct{})}
	log := logging.Open(logging.Config{To: pipe, MaxWaiting: 1})
	defer log.Close()
	defer close(pipe.closed)
	file := &changed{}
	c := conditions{calls: calls, decisions: decisions, log: log, configuration: file}
	want := func(want ...string) {
		t.Helper()
		got := []string{}
		for _, found := range c.list() {
			name := found.Name
			if found.Problem {
				name += "!"
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the conditions are %q, want %q", got, want)
		}
	}
	want()

	if err := calls.Begin(t.Context(), callstore.Entry{Key: callstore.Key{Principal: "uid:1", ID: "c1"}}); err != nil {
		t.Fatal(err)
	}
	want("ledger_full!")
	log.Logger(loglevel.Server).Info("a record for which there is no room")
	want("ledger_full!", "log_dropped!")
	file.diff = &tool.ConfigurationChange{File: "/etc/toolhost.yaml", Changes: []tool.SettingChange{{Key: "a", Old: "secret"}}}
	want("ledger_full!", "log_dropped!", "configuration_changed")
	file.diff = &tool.ConfigurationChange{File: "/etc/toolhost.yaml", Problem: "line 1 says: secret"}
	want("ledger_full!", "log_dropped!", "configuration_refused!")
	for _, found := range c.list() {
		if strings.Contains(found.Message, "secret") || !strings.Contains(found.Message, " ") {
			t.Errorf("%s says %q", found.Name, found.Message)
		}
	}

	if err := decisions.Record(t.Context(), audit.Decision{Outcome: audit.Allowed}); err != nil {
		t.Fatal(err)
	}
	want("ledger_full!", "log_dropped!", "configuration_refused!")
	if err := decisions.Close(); err != nil {
		t.Fatal(err)
	}
	if decisions.Record(t.Context(), audit.Decision{Outcome: audit.Allowed}) == nil {
		t.Fatal("a closed log takes a line")
	}
	want("ledger_full!", "audit_failing!", "log_dropped!", "configuration_refused!")
}
