package chaos_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// checkQuiet stops all instances and waits until toolhost holds no more than before: only its own
// processes, no folders or control groups of plugins, and as many descriptors of each kind.
func (h *toolhost) checkQuiet(t *testing.T, before map[string]int) {
	t.Helper()
	h.stopAll(t)
	eventually.Shows(t, "toolhost holds no more than before", func() (bool, any) {
		var left []string
		for kind, count := range h.descriptors(t) {
			if count > before[kind] {
				left = append(left, fmt.Sprintf("%d %s, before %d", count, kind, before[kind]))
			}
		}
		for _, group := range h.groups {
			left = append(left, subfolders(group)...)
		}
		runs, _ := filepath.Glob(h.home.path("toolhost-*", "p*"))
		left = append(left, runs...)
		left = append(left, h.strangers()...)
		return len(left) == 0, strings.Join(left, "\n")
	})
}

// strangers returns the processes besides toolhost's own: itself, its reaper, and its subreapers if
// it has them. With those, it knows no plugin of a process that left its group and cleared its
// environment, and ends it only with itself (ADR 0009).
func (h *toolhost) strangers() []string {
	own, chain := 2, h.pid != h.cmd.Process.Pid
	if chain {
		own += 2
	}
	var found []string
	for _, dir := range h.home.processDirs() {
		process, ours := h.home.process(dir)
		if !ours {
			continue
		}
		if h.home.ownProgram(dir) {
			if own--; own >= 0 {
				continue
			}
		}
		if environ, err := os.ReadFile(filepath.Join(dir, "environ")); chain && err == nil && len(environ) == 0 {
			continue
		}
		found = append(found, process)
	}
	return found
}

// subfolders returns all folders below dir.
func subfolders(dir string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != dir {
			found = append(found, path)
		}
		return nil // a folder that disappears during the walk is not left behind
	})
	return found
}

// quit is the first line that the Go runtime prints at SIGQUIT.
const quit = "SIGQUIT: quit"

// dumpGoroutines ends toolhost with SIGQUIT and returns the number of its goroutines by the
// function that started them. The client stays connected, so that every dump contains the
// goroutines that serve the connection.
func (h *toolhost) dumpGoroutines(t *testing.T) map[string]int {
	t.Helper()
	const codeOfQuit = 2 // the exit code of the Go runtime
	h.awaitIdle(t)
	h.end(t, syscall.SIGQUIT, codeOfQuit)
	_, dump, found := strings.Cut(h.log.tail(mostWords), quit)
	if !found {
		t.Fatal("toolhost did not dump its goroutines")
	}
	starters := map[string]int{}
	for block := range strings.SplitSeq(dump, "\n\n") {
		_, by, found := strings.Cut(block, "\ncreated by ")
		if !strings.HasPrefix(block, "goroutine ") || !found {
			continue // the main goroutine, or one of the runtime
		}
		if idleWorker(block) {
			continue
		}
		starter, _, _ := strings.Cut(by, " in goroutine ")
		starters[starter]++
	}
	return starters
}

// idleWorker reports whether a goroutine of the dump is a worker that waits for a function to run.
// The test ignores idle workers, because their number depends on the load before the dump.
func idleWorker(block string) bool {
	_, frames, _ := strings.Cut(block, "\n")
	for line := range strings.Lines(frames) {
		waits := strings.HasPrefix(line, "runtime.") || strings.HasPrefix(line, "sync.")
		if !strings.HasPrefix(line, "\t") && !waits {
			return strings.Contains(line, "internal/wire/flow.(*Workers).run")
		}
	}
	return false
}

// checkGoroutines fails the test if a function has started more goroutines than in an idle
// toolhost.
func checkGoroutines(t *testing.T, idle, now map[string]int) {
	t.Helper()
	for starter, count := range now {
		if count > idle[starter] {
			t.Errorf("%d goroutines started by %s are left, %d are there when toolhost is idle", count, starter, idle[starter])
		}
	}
	total := func(m map[string]int) (sum int) {
		for count := range maps.Values(m) {
			sum += count
		}
		return sum
	}
	t.Logf("%d goroutines when idle, %d after the chaos", total(idle), total(now))
}
