//go:build more

package database_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// Runs of an agentd that was killed go on in the database to which they were moved, also if migrate
// was killed several times, and each call is executed exactly once. Their file is of no use
// afterwards.
func TestMigrate(t *testing.T) {
	h := newHome(t)
	script, file, url := h.script(), filepath.Join(h.dir, "runs.db"), h.db.URL("postgres")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	// Each run waits at its third turn until its agentd is killed.
	turns := strings.SplitN(string(text), "delay: 50ms", 4)
	if err := os.WriteFile(script, []byte(strings.Join(turns[:3], "delay: 50ms")+"delay: 1h"+turns[3]), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", "--listen", h.socket("a"), "--toolhost", h.socket("t"), "--model", "scripted:" + script, "--journal"}
	agentd := h.start("agentd", nil, append(serve, file)...)
	runs := []string{"r0", "r1", "r2"}
	c := h.dial()
	for _, id := range runs {
		if _, err := c.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: id, Session: id}); err != nil {
			t.Fatal(err)
		}
	}
	eventually.Shows(t, "the runs have made calls", func() (bool, any) {
		n := len(h.executed("r0"))
		return n == 2, n
	})
	says := func(text string, args ...string) {
		t.Helper()
		out, err := h.command("agentd", nil, args...).CombinedOutput()
		if !strings.Contains(string(out), text) {
			t.Errorf("agentd %s: %v\n%s\nwant %q", strings.Join(args, " "), err, out, text)
		}
	}
	migrate := []string{"migrate", "--from", file, "--journal", url}
	says("can be moved: 3 runs, 3 of them unfinished", append(migrate, "--check")...)
	says("is in use; stop agentd first", migrate...)
	agentd.end(syscall.SIGKILL)
	for _, table := range []string{"agentd_runs", "agentd_outbox", "agentd_moves"} {
		h.killAt(table, migrate)
		says("r1 ", "runs", "--journal", file)
	}
	says("moved the runs of "+file, migrate...)
	says("were moved to", migrate...)
	says("were moved to the database", "runs", "--journal", file)
	h.serve(h.script())
	c = h.dial()
	for _, id := range runs {
		eventually.Shows(t, id+" ends", func() (bool, any) {
			run, err := c.GetRun(t.Context(), id)
			return err == nil && run.GetState() == agentdv1.RunState_RUN_STATE_FINISHED, fmt.Sprint(run, err)
		})
		executed := h.executed(id)
		for key, n := range executed {
			if n != 1 {
				t.Errorf("%s has executed %s %d times", id, key, n)
			}
		}
		if len(executed) != calls {
			t.Errorf("%s has executed %d calls", id, len(executed))
		}
	}
}

// killAt kills a command when it waits for a table of the database.
func (h *home) killAt(table string, args []string) {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.db.URL("postgres"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close(h.t.Context())
	if _, err := conn.Exec(h.t.Context(), "BEGIN; LOCK TABLE "+table+" IN SHARE MODE"); err != nil { // reading is possible
		h.t.Fatal(err)
	}
	cmd := h.command("agentd", nil, args...)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	eventually.Shows(h.t, "the command waits for "+table, func() (bool, any) {
		waiting := h.db.Do(h.t, "postgres", "SELECT relation::regclass FROM pg_locks WHERE NOT granted")
		return len(waiting) == 1 && waiting[0][0] == table, waiting
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
}
