//go:build more

package pods_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// containerEnv has a container as JSON. The test binary then becomes the program of the container.
const containerEnv = "PODS_TEST_CONTAINER"

// container is a program with a root file system of its own.
type container struct {
	Root     string
	Hostname string
	Filtered bool     // it may make no namespaces and mounts, as in the default seccomp profile of runtimes
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
	if c.Filtered {
		if err := filter(); err != nil {
			return err
		}
	}
	return syscall.Exec(c.Command[0], c.Command, c.Env)
}

// filter refuses to this thread the system calls by which a process without capabilities makes
// namespaces and mounts, as the default profiles of containerd and CRI-O do.
func filter() error {
	const (
		allow, refuse = 0x7fff0000, 0x00050000 // SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
		namespaces    = 0x7e020000             // all flags of clone that make one
	)
	refused := []uint32{
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4}, // the number of the call
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1},
		bpf.RetConstant{Val: refuse | uint32(unix.ENOSYS)},
	}
	for _, call := range refused {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, bpf.RetConstant{Val: refuse | uint32(unix.EPERM)})
	}
	code, err := bpf.Assemble(append(program,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE, SkipTrue: 3},
		bpf.LoadAbsolute{Off: 16, Size: 4}, // its flags
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: namespaces, SkipTrue: 1},
		bpf.RetConstant{Val: refuse | uint32(unix.EPERM)},
		bpf.RetConstant{Val: allow},
	))
	if err != nil {
		return err
	}
	filters := make([]unix.SockFilter, len(code))
	for i, c := range code {
		filters[i] = unix.SockFilter{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
	}
	whole := unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&whole)), 0, 0); err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	return nil
}

// isMissing reports whether this kernel has no such file.
func isMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
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
	// As runtimes do unless procMount is Unmasked. The paths are those of containerd.
	for _, path := range slices.DeleteFunc([]string{"/proc/acpi", "/proc/scsi"}, isMissing) {
		mounts = append(mounts, mount{"tmpfs", at(path), "tmpfs", unix.MS_RDONLY})
	}
	for _, path := range slices.DeleteFunc([]string{"/proc/kcore", "/proc/keys", "/proc/timer_list"}, isMissing) {
		mounts = append(mounts, mount{"/dev/null", at(path), "", unix.MS_BIND})
	}
	for _, path := range slices.DeleteFunc([]string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}, isMissing) {
		mounts = append(mounts, mount{at(path), at(path), "", unix.MS_BIND}, mount{"", at(path), "", unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY})
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
