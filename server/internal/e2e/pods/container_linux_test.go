//go:build more

package pods_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// containerEnv has a container as JSON. The test binary then becomes the program of the container.
const containerEnv = "PODS_TEST_CONTAINER"

// container is a program with a root file system of its own.
type container struct {
	Root     string
	Hostname string
	Writable []string // paths below Root
	UID, GID int
	Command  []string
	Env      []string
}

// enter turns this process, which has its own mount, UTS and PID namespace, into the program of the
// container. It returns only an error.
func enter(text string) error {
	var c container
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	runtime.LockOSThread() // no_new_privs and the bounding set belong to the thread that becomes the program
	if err := c.mount(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(c.Hostname)); err != nil {
		return err
	}
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return fmt.Errorf("dropping capability %d: %w", capability, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for _, err := range []error{syscall.Setgroups([]int{c.GID}), syscall.Setresgid(c.GID, c.GID, c.GID), syscall.Setresuid(c.UID, c.UID, c.UID)} {
		if err != nil {
			return err
		}
	}
	return syscall.Exec(c.Command[0], c.Command, c.Env)
}

// mount makes Root the root file system. Only Writable can be written.
func (c *container) mount() error {
	at := func(path string) string { return filepath.Join(c.Root, path) }
	type mount struct {
		from, to, kind string
		flags          uintptr
	}
	mounts := []mount{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{c.Root, c.Root, "", unix.MS_BIND},
		{"/dev", at("dev"), "", unix.MS_BIND | unix.MS_REC},
		{"proc", at("proc"), "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
	}
	for _, path := range c.Writable {
		mounts = append(mounts, mount{at(path), at(path), "", unix.MS_BIND})
	}
	mounts = append(mounts, mount{"", c.Root, "", unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY})
	for _, m := range mounts {
		if err := unix.Mount(m.from, m.to, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mounting %+v: %w", m, err)
		}
	}
	if err := os.Chdir(c.Root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root lies above the new one
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}
