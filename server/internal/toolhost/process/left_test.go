package process_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// leavesNothing returns a run folder and checks, at the end of the test, that nothing more exists
// than before: no process, zombies included, no descriptor and so no socket, no goroutine, and no
// file or folder in the run folder or among temporary files. Processes of the test must have
// TEST_RUN=FOLDER in their environment.
func leavesNothing(t *testing.T) (dir string) {
	t.Helper()
	// The test does not use t.TempDir, because its name is too long for a socket.
	dir, err := os.MkdirTemp("/tmp", "th")
	if err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp("/tmp", "th")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	goroutines, files, children := goleak.IgnoreCurrent(), openFiles(t), childProcesses()
	t.Cleanup(func() {
		goleak.VerifyNone(t, goroutines)
		if after := openFiles(t); len(after) > len(files) {
			t.Errorf("these descriptors are open: %q; before, there were %q", after, files)
		}
		if left := processesWith("TEST_RUN=" + dir); len(left) > 0 {
			t.Errorf("left running: %v", left)
		}
		for _, pid := range childProcesses() {
			if !slices.Contains(children, pid) {
				t.Errorf("process %d was not reaped", pid)
			}
		}
		for _, folder := range []string{dir, tmp} {
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("left in %s: %v", folder, left)
			}
			_ = os.RemoveAll(folder)
		}
	})
	return dir
}

// openFiles returns this process's descriptors and, on systems with /proc, what they are.
func openFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		link, _ := os.Readlink(filepath.Join("/proc/self/fd", entry.Name()))
		files = append(files, entry.Name()+" "+link)
	}
	return files
}

// childProcesses returns the pids of this process's descendants, zombies included, on systems that
// list them.
func childProcesses() []int { return proc.Tree(os.Getpid())[1:] }

// processesWith returns the pids of all processes that have the entry in their environment, on
// systems with /proc.
func processesWith(entry string) []string {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, path := range environs {
		if text, err := os.ReadFile(path); err == nil && slices.Contains(strings.Split(string(text), "\x00"), entry) {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}
