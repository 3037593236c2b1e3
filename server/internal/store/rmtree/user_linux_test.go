package rmtree_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// unprivileged calls f with a folder, as a user that file modes restrict: for root, on a thread
// with the file system user nobody. f must not end the test.
func unprivileged(t *testing.T, f func(folder string)) {
	t.Helper()
	folder, err := os.MkdirTemp("", "rmtree-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if os.Geteuid() != 0 {
		f(folder)
		return
	}
	const nobody = 65534
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := syscall.Setfsuid(nobody)
		if err == nil {
			f(folder)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
