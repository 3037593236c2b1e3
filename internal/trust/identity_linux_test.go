package trust_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestABindMountOfAWorkspaceIsKnown: only root can make the mount, and some containers forbid it to
// root too. Then the test shows nothing.
func TestABindMountOfAWorkspaceIsKnown(t *testing.T) {
	w := newWorld(t)
	w.write(t, "ws/a.yaml", "x")
	must(t, w.store.AddWritable(w.workspace))
	mount := filepath.Join(w.dir, "mount")
	must(t, os.Mkdir(mount, 0o700))
	if err := syscall.Mount(w.workspace, mount, "", syscall.MS_BIND, ""); err != nil {
		return
	}
	refused(t, w.check(t, filepath.Join(mount, "a.yaml"), true), "could write earlier")
	must(t, syscall.Unmount(mount, 0))
}
