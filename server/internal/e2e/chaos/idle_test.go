package chaos_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// awaitIdle returns when no thread of toolhost runs or is ready to run, and none has run between
// two looks.
//
// The test can dump the goroutines only once, because the SIGQUIT for the dump ends toolhost. At
// the time of the dump, a goroutine that has served an RPC may still be about to return, although
// the client has its answer already. On a loaded machine it may wait long for a processor, and the
// dump would show it as a leak. When no thread of toolhost wants a processor, every goroutine waits
// for something. A goroutine of a finished RPC that still exists then has leaked.
func (h *toolhost) awaitIdle(t *testing.T) {
	t.Helper()
	before := ""
	eventually.Shows(t, "no thread of toolhost runs", func() (bool, any) {
		times, running := threads(h.pid)
		idle := !running && times == before
		before = times
		return idle, times
	})
}

// threads returns the processor times of the threads of a process, and whether one of them runs or
// is ready to run.
func threads(pid int) (times string, running bool) {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "task")
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		stat, err := os.ReadFile(filepath.Join(folder, entry.Name(), "schedstat"))
		if err == nil {
			times += entry.Name() + ": " + string(stat)
		}
		stat, err = os.ReadFile(filepath.Join(folder, entry.Name(), "stat"))
		if _, state, found := bytes.Cut(stat, []byte(") ")); err == nil && found {
			running = running || state[0] == 'R'
		}
	}
	return times, running
}
