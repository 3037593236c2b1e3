//go:build linux && (amd64 || arm64)

package entry

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	exitCode = 126 // the program's exit code if a call failed
	// programFD is the program's descriptor in the new process. The first call of the program
	// closes it. The descriptor is passed like any other file, because package syscall puts its own
	// descriptors above the passed ones and overwrites what is there.
	programFD = StatusFD + 1
	// patience bounds the time of all calls together. They take about a millisecond on an idle
	// machine.
	patience = 20 * time.Second
)

// CallError says which call failed.
type CallError struct {
	Index int // index of the call; Program.Len for the execution of the file
	Err   error
}

func (e *CallError) Error() string { return fmt.Sprintf("system call %d: %v", e.Index, e.Err) }
func (e *CallError) Unwrap() error { return e.Err }

// Loaded is a program that can be started any number of times. Close it.
type Loaded struct {
	file  *os.File
	table uint64
	calls int
}

// Entered is a process that makes the calls of a program and then waits. The owner must call
// Execute or Abandon, once.
type Entered struct {
	process *os.Process
	status  *os.File
	table   uint64
	calls   int
}

// Load loads the program, whose last call executes the file at path. path is interpreted after the
// other calls, in the file system that they made. The calling thread must see its own process in
// /proc.
func (p *Program) Load(path string) (*Loaded, error) {
	if p.Len() > maxTable {
		return nil, fmt.Errorf("%d system calls are too many", p.Len())
	}
	image, table := p.image(path)
	file, err := inMemory(image)
	if err != nil {
		return nil, fmt.Errorf("making the program that goes before: %w", err)
	}
	return &Loaded{file: file, table: table, calls: p.Len()}, nil
}

// Close releases the program. It does not affect started processes.
func (l *Loaded) Close() { _ = l.file.Close() }

// Enter starts a process that makes the calls at once, and executes the file when Execute says so.
// The attributes are those of os.StartProcess, with three files. The calling thread is the
// process's parent for a parent-death signal.
func (l *Loaded) Enter(argv []string, attr *os.ProcAttr) (*Entered, error) {
	status, theirs, err := statusPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	copied := *attr
	copied.Files = append(slices.Clone(attr.Files), theirs, l.file)
	process, err := os.StartProcess(fmt.Sprintf("/proc/self/fd/%d", programFD), argv, &copied)
	if err != nil {
		return nil, errors.Join(err, status.Close())
	}
	return &Entered{process: process, status: status, table: l.table, calls: l.calls}, nil
}

// PID returns the process id.
func (e *Entered) PID() int { return e.process.Pid }

// EndedError says that the process ended while it made the calls, and not because one failed. A
// signal ended it.
type EndedError struct {
	Signal syscall.Signal
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("the program that goes before ended by a signal: %v", e.Signal)
}

// errNoMessage means that the process ended and left no message.
var errNoMessage = errors.New("waiting for the program that goes before: it ended")

// Execute makes the process execute the file after all calls of the program, and returns when it
// has. The error is a *CallError if a call failed, and an *EndedError if a signal ended the process
// before. With an error, nothing of the process is left.
func (e *Entered) Execute(ctx context.Context) (*os.Process, error) {
	_, _ = e.status.Write([]byte{0}) // if the process has ended, its message can still be read
	if err := e.await(ctx); err != nil {
		state := e.abandon()
		if err == errNoMessage && state != nil {
			if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				err = &EndedError{status.Signal()}
			}
		}
		return nil, err
	}
	_ = e.status.Close()
	return e.process, nil
}

// Abandon kills the process before it executes the file, and waits for its end.
func (e *Entered) Abandon() { e.abandon() }

// abandon returns how the process ended, or nil.
func (e *Entered) abandon() *os.ProcessState {
	_ = e.process.Kill() // it may have ended by itself
	state, _ := e.process.Wait()
	_ = e.status.Close()
	return state
}

// statusPair returns the two ends of the socket on which the program waits and reports. It keeps
// messages apart.
func statusPair() (ours, theirs *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(ends[0], true); err != nil { // so that deadlines work
		return nil, nil, errors.Join(err, unix.Close(ends[0]), unix.Close(ends[1]))
	}
	return os.NewFile(uintptr(ends[0]), "status"), os.NewFile(uintptr(ends[1]), "status"), nil
}

// await waits for the program and returns nil when the program has executed the file. That closes
// the program's end of the socket. If a call of the program failed, await returns a *CallError.
func (e *Entered) await(ctx context.Context) error {
	_ = e.status.SetReadDeadline(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { _ = e.status.SetReadDeadline(time.Now()) })
	defer stop()
	var told [passedSize + failureSize]byte
	n, err := io.ReadFull(e.status, told[:])
	if n == 0 && errors.Is(err, syscall.ECONNRESET) { // the process ended before the gate
		n, err = io.ReadFull(e.status, told[:]) // its message can be read now
	}
	switch {
	case n == passedSize && err == io.ErrUnexpectedEOF:
		return nil
	case n >= failureSize:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case n == 0 && err == io.EOF:
		return errNoMessage
	default:
		return fmt.Errorf("waiting for the program that goes before: %w", err)
	}
	failure := told[n-failureSize : n]
	answer, at := int64(binary.NativeEndian.Uint64(failure)), binary.NativeEndian.Uint64(failure[8:])
	return &CallError{Index: min(int(at-e.table)/callSize, e.calls), Err: syscall.Errno(-answer)}
}

// inMemory returns an executable file that exists only in memory.
func inMemory(image []byte) (*os.File, error) {
	const name, mfdExec = "toolhost-entry", 0x10 // MFD_EXEC, which kernels before 6.3 do not know
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|mfdExec)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	written := os.NewFile(uintptr(fd), name)
	defer written.Close()
	if _, err := written.Write(image); err != nil {
		return nil, err
	}
	// The file is opened again for reading, because a file that is open for writing cannot be
	// executed.
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}
