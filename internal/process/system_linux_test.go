package process_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/process"
)

// Trap 10: the thread that asks for a launch may end at any time.
func TestPluginOutlivesTheThreadThatAskedForIt(t *testing.T) {
	cfg, _ := setup(t)
	launched := make(chan *process.Process)
	thread := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
		thread <- syscall.Gettid()
		p, err := process.Launch(context.WithoutCancel(t.Context()), cfg)
		if err != nil {
			t.Error(err)
		}
		launched <- p
	}()
	p := <-launched
	if p == nil {
		return
	}
	tid := <-thread
	eventually(t, "the thread has ended", func() bool { return !slices.Contains(threads(t), tid) })
	if got := do(t, p, arguments{"do": "echo", "text": "alive"}); got != "alive" {
		t.Errorf("the call says %q", got)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

// threads returns this process's threads.
func threads(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, entry := range entries {
		if id, err := strconv.Atoi(entry.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// stopped reports whether SIGSTOP has stopped the process.
func stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(rest, "T ")
}
