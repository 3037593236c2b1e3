package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// proved has the fields of `toolhost prove -o json` that the tests use.
type proved struct {
	OK, Agentd   bool
	Seed         int
	WithoutCheck tallied `json:"without_check"`
	WithCheck    tallied `json:"with_check"`
	Folder       string
}

type tallied struct{ Kills, Calls, Doubled, Lost, Unknown, Settled, Stuck int }

// With each of the victims killed at each place, no call is doubled, lost or stuck, with and
// without an agentd. The calls whose outcome was lost are unknown without a check, and settled with
// one.
func TestProve(t *testing.T) {
	for name, kinds := range map[string]int{"with agentd": 16, "alone": 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			cmd := command(t.Context(), home, nil, "toolhost", "prove", "--kills", "16", "--seed", "3", "-o", "json")
			if name == "alone" {
				cmd.Path = filepath.Join(home, "toolhost")
				if err := os.Link(filepath.Join(bin, "toolhost"), cmd.Path); err != nil {
					t.Fatal(err)
				}
			}
			r := run(t, cmd)
			r.exits(t, 0)
			var got proved
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
				t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
			}
			// A run whose calls end before its kill is made again.
			for _, calls := range []*int{&got.WithoutCheck.Calls, &got.WithCheck.Calls} {
				if *calls > 48 && *calls < 2*48 && *calls%3 == 0 {
					*calls = 48
				}
			}
			unknown, settled := got.WithoutCheck.Unknown, got.WithCheck.Settled
			want := proved{
				OK: true, Agentd: kinds == 16, Seed: 3,
				WithoutCheck: tallied{Kills: 16, Calls: 48, Unknown: unknown}, WithCheck: tallied{Kills: 16, Calls: 48, Settled: settled},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			// At a boundary, the call that has halted loses its outcome, unless only agentd is killed.
			if unknown < 9 || settled < 9 {
				t.Errorf("%d calls are unknown, and %d were settled", unknown, settled)
			}
			if left, _ := filepath.Glob(filepath.Join(home, "toolhost-*")); len(left) > 0 {
				t.Errorf("prove left %v", left)
			}
		})
	}
}

// Ctrl-C ends all processes, and leaves no folder.
func TestProveIsInterrupted(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	cmd := command(t.Context(), home, nil, "toolhost", "prove", "--kills", "1000")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(line, "2000 kills with seed ") {
		t.Fatalf("prove says %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // also for the processes that have its standard error
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "toolhost-*")); len(left) > 0 {
		t.Errorf("prove left %v", left)
	}
}
