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

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// The thread that requests a launch may end at any time.
func TestPluginOutlivesTheThreadThatAskedForIt(t *testing.T) {
	cfg, _ := setup(t)
	var p *process.Process
	var err error
	tid := onDoomedThread(func() { p, err = process.Launch(context.WithoutCancel(t.Context()), cfg) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		wait(t, p)
	})
	eventually.Holds(t, "the thread has ended", func() bool { return !slices.Contains(threads(t), tid) })
	if got := do(t, p, arguments{"do": "echo", "text": "alive"}); got != "alive" {
		t.Errorf("the call says %q", got)
	}
}

// onDoomedThread runs f on a thread that ends soon after f, and returns the thread's id.
func onDoomedThread(f func()) (tid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
		if tid = syscall.Gettid(); tid != os.Getpid() {
			f()
			return
		}
		tid = onDoomedThread(f) // the first thread never ends, but while it is held, another one is used
		runtime.UnlockOSThread()
	}()
	<-done
	return tid
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
