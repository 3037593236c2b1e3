//go:build linux && (amd64 || arm64)

package pidns

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The other namespaces that can be made with a PID namespace.
const (
	Network uintptr = unix.CLONE_NEWNET
	IPC     uintptr = unix.CLONE_NEWIPC
)

// readyTimeout bounds the start of the first process, which takes less than a millisecond on an
// idle machine.
const readyTimeout = 10 * time.Second

// Namespace is a PID namespace with its first process. It must not be used concurrently.
type Namespace struct {
	first  *os.Process
	pid    int     // of the first process; kept because Release clears it there
	beside uintptr // flags of the other namespaces
}

// New makes a PID namespace, and the other namespaces that beside names: Network and IPC, or 0. The
// first process has env as its environment, and dies with the calling thread. So the calling
// goroutine must be locked to a thread that outlives the namespace, and must not be the main
// goroutine. Call Close at the end.
func New(env []string, beside uintptr) (*Namespace, error) {
	first, ready, err := startFirst(env, beside)
	if err != nil {
		return nil, fmt.Errorf("making a PID namespace: %w", err)
	}
	defer ready.Close()
	n := &Namespace{first: first, pid: first.Pid, beside: beside}
	err = ready.SetReadDeadline(time.Now().Add(readyTimeout))
	if err == nil {
		_, err = ready.Read(make([]byte, 1))
	}
	if err == nil {
		return n, nil
	}
	_ = first.Kill() // it may have ended by itself
	state, waitErr := first.Wait()
	if waitErr == nil && state.Exited() {
		err = syscall.Errno(state.ExitCode())
	}
	return nil, fmt.Errorf("preparing a PID namespace: %w", err)
}

// startFirst starts the first process and returns the pipe on which it writes when it is ready.
func startFirst(env []string, beside uintptr) (*os.Process, *os.File, error) {
	file, err := executable()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	ready, stdout, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer stdout.Close()
	// It is passed like any other file: package syscall puts its own descriptors above the passed
	// ones, over whatever is there.
	const path = "/proc/self/fd/3"
	first, err := os.StartProcess(path, []string{"toolhost-init"}, &os.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: []*os.File{null, stdout, null, file},
		Sys: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | beside,
			Pdeathsig:  syscall.SIGKILL,
			Setpgid:    true, // not its own session, which would wait for its first turn on a busy machine
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, ready.Close())
	}
	return first, ready, nil
}

// executable returns the program as a file that exists only in memory.
func executable() (*os.File, error) {
	const mfdExec = 0x10 // MFD_EXEC, which kernels before 6.3 do not know
	fd, err := unix.MemfdCreate("toolhost-init", unix.MFD_CLOEXEC|mfdExec)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate("toolhost-init", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("making its first program: %w", err)
	}
	written := os.NewFile(uintptr(fd), "toolhost-init")
	defer written.Close()
	if _, err := written.Write(program()); err != nil {
		return nil, fmt.Errorf("making its first program: %w", err)
	}
	// Opened again: a file that is open for writing cannot be executed.
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// Enter moves the calling thread into the namespace. The thread then starts processes there, and
// sees the files there. It cannot be used for anything else afterwards, even if Enter fails. path
// names a file that must be the same inside and outside. That shows that the thread still sees
// toolhost's files.
func (n *Namespace) Enter(path string) error {
	outside, err := os.Stat(path)
	if err != nil {
		return err
	}
	doors, err := n.open()
	defer func() {
		for _, door := range doors {
			_ = door.Close()
		}
	}()
	if err != nil {
		return err
	}
	// A thread cannot have its own mounts while it shares its working folder with other threads.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("entering the namespaces: %w", err)
	}
	for _, door := range doors {
		if err := unix.Setns(int(door.Fd()), 0); err != nil {
			return fmt.Errorf("entering the namespace %s: %w", door.Name(), err)
		}
	}
	if inside, err := os.Stat(path); err != nil || !os.SameFile(outside, inside) {
		return fmt.Errorf("entering the mount namespace: %s is not the same file there; is toolhost in a chroot?", path)
	}
	return nil
}

// open opens the namespaces of the first process. The caller closes what it returns, also with an
// error.
func (n *Namespace) open() (doors []*os.File, err error) {
	for _, of := range []struct {
		name string
		flag uintptr
	}{{"net", Network}, {"ipc", IPC}, {"mnt", 0}, {"pid", 0}} {
		if of.flag != n.beside&of.flag {
			continue
		}
		door, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", n.pid, of.name))
		if err != nil {
			return doors, err
		}
		doors = append(doors, door)
	}
	return doors, nil
}

// PID returns the process id of the first process, which gets the orphans of the namespace.
func (n *Namespace) PID() int { return n.pid }

// Close kills all processes of the namespace and returns when they are gone. The caller must have
// reaped those that it started itself.
func (n *Namespace) Close() {
	_ = n.first.Kill() // it may have been killed already
	_, _ = n.first.Wait()
}
