package boundary_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// The test kills agentd and its toolhost after a call has begun. The run then continues with a
// ledger that does not contain the call: another toolhost, deleted ledger files, or an empty
// ledger. The call is not executed again, and its outcome is unknown.
func TestRunThatMovesToAnotherLedger(t *testing.T) {
	script := "turns:\n  - {calls: [{id: a, tool: counterplugin_hang, arguments: {key: a}}]}\n  - {text: done}\n"
	for name, move := range map[string]func(t *testing.T, p *privateRun) []string{
		"another toolhost": func(t *testing.T, p *privateRun) []string {
			return []string{"--toolhost", otherToolhost(t, p, filepath.Join(p.home, "other.sock"))}
		},
		"lost files": func(t *testing.T, p *privateRun) []string {
			if err := os.RemoveAll(filepath.Join(p.home, "runs.db.calls")); err != nil {
				t.Fatal(err)
			}
			return nil
		},
		"an empty ledger": func(t *testing.T, p *privateRun) []string {
			dir := filepath.Join(p.home, "runs.db.calls", p.id)
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			// This deletes also the sign that a ledger existed. Otherwise toolhost would refuse to
			// start.
			for _, file := range files {
				if file.Name() != "agentd.lock" {
					if err := os.RemoveAll(filepath.Join(dir, file.Name())); err != nil {
						t.Fatal(err)
					}
				}
			}
			return nil
		},
		"a toolhost at the default address": func(t *testing.T, p *privateRun) []string {
			if err := os.MkdirAll(filepath.Join(p.home, "toolhost"), 0o700); err != nil {
				t.Fatal(err)
			}
			otherToolhost(t, p, filepath.Join(p.home, "toolhost", "toolhost.sock"))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPrivateRun(t, script, rand.New(rand.NewPCG(1, 1)))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			p.begin(ctx, t)
			flags := move(t, p)
			p.work(ctx, t, append([]string{"resume", p.id}, flags...), 0)
			id := p.id + ".t1.c0"
			data, err := os.ReadFile(filepath.Join(p.home, "w", p.id))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), id+"\n"); n != 1 {
				t.Errorf("the call was executed %d times", n)
			}
			if p.results[id] != "outcome_unknown" || p.end != "end_turn" {
				t.Errorf("the call ended with %q, the run with %q", p.results[id], p.end)
			}
		})
	}
}

// begin starts the run and kills agentd and its toolhost as soon as the first call executes.
func (p *privateRun) begin(ctx context.Context, t *testing.T) {
	t.Helper()
	p.until = func() bool {
		files, err := filepath.Glob(filepath.Join(p.home, "w", "run-*"))
		if err != nil || len(files) == 0 {
			return false
		}
		file, err := os.Stat(files[0])
		return err == nil && file.Size() > 0
	}
	p.work(ctx, t, []string{"run", "count everything"}, 0)
	p.until = nil
}

// otherToolhost starts a toolhost with the same plugins and workspace but another state dir. It
// returns the address.
func otherToolhost(t *testing.T, p *privateRun, socket string) string {
	t.Helper()
	addr := "unix://" + socket
	other, err := launch(p.home, &syncbuf.Buffer{}, nil, nil, "toolhost", "serve", "--listen", addr,
		"--plugins", filepath.Join(bin, "plugins"), "--state", filepath.Join(p.home, "other"), "--workspace", filepath.Join(p.home, "w"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.stop)
	return addr
}
