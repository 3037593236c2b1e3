package trust_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// A workspace is recognized behind a bind mount. Only root can make the mount, and some containers
// forbid it to root too. Without the mount, the test checks nothing.
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
	for name, path := range map[string]string{"a file": "a.yaml", "a file to be made": "new/b.yaml"} {
		if folder, err := trust.Around(filepath.Join(mount, path), []string{w.workspace}, nil); err != nil || folder != w.workspace {
			t.Errorf("%s behind the mount is in %q, %v", name, folder, err)
		}
		if folder, err := trust.Around(filepath.Join(mount, path), []string{w.workspace}, []string{mount}); err != nil || folder != "" {
			t.Errorf("%s in a hidden folder is in %q, %v", name, folder, err)
		}
	}
	must(t, syscall.Unmount(mount, 0))
}
