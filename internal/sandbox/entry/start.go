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
	exitCode = 126 // of the program, if a call failed
	// programFD is the program in the new process, until its first call closes it. It is given like any other file, because
	// package syscall puts descriptors of its own where it pleases above those that are given, over whatever is there.
	programFD = StatusFD + 1
	// patience bounds how long all calls may take. They need about a millisecond; a machine may be busy.
	patience = 20 * time.Second
)

// CallError says which call failed.
type CallError struct {
	Index int // of the call; Program.Len if it is the execution of the file
	Err   error
}

func (e *CallError) Error() string { return fmt.Sprintf("system call %d: %v", e.Index, e.Err) }
func (e *CallError) Unwrap() error { return e.Err }

// Loaded is a program that is ready to be started, again and again. Close it when it is not needed any more.
type Loaded struct {
	file  *os.File
	table uint64
}

// Load makes the program, which ends by executing the file at path, as it is named after the calls. The calling thread must
// see its own process in /proc.
func (p *Program) Load(path string) (*Loaded, error) {
	if p.Len() > maxTable {
		return nil, fmt.Errorf("%d system calls are too many", p.Len())
	}
	file, err := inMemory(p.image(path))
	if err != nil {
		return nil, fmt.Errorf("making the program that goes before: %w", err)
	}
	return &Loaded{file: file, table: p.tableAt()}, nil
}

// Close releases the program. It does not matter to what was started.
func (l *Loaded) Close() { _ = l.file.Close() }

// Start starts a process that makes the calls and then executes the file. The attributes are those of os.StartProcess, with
// three files. started is called once there is a process, which waits for its end. Start returns when it
// has; an error is a *CallError if a call failed, and then nothing is left of the process. The calling thread is the parent
// that the process may be told to die with.
func (l *Loaded) Start(ctx context.Context, argv []string, attr *os.ProcAttr, started func(pid int)) (*os.Process, error) {
	status, theirs, err := statusPair()
	if err != nil {
		return nil, err
	}
	defer status.Close()
	defer theirs.Close()
	own := *attr
	own.Files = append(slices.Clone(attr.Files), theirs, l.file)
	process, err := os.StartProcess(fmt.Sprintf("/proc/self/fd/%d", programFD), argv, &own)
	if err != nil {
		return nil, err
	}
	_ = theirs.Close()
	started(process.Pid)
	_, err = status.Write([]byte{0})
	if err == nil {
		err = l.await(ctx, status)
	}
	if err != nil {
		_ = process.Kill() // it may have ended by itself
		_, _ = process.Wait()
		return nil, err
	}
	return process, nil
}

// statusPair returns two ends of what the program waits for and tells on, message by message.
func statusPair() (ours, theirs *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(ends[0], true); err != nil { // for deadlines
		return nil, nil, errors.Join(err, unix.Close(ends[0]), unix.Close(ends[1]))
	}
	return os.NewFile(uintptr(ends[0]), "status"), os.NewFile(uintptr(ends[1]), "status"), nil
}

// await returns when the file is being executed, which closes their end, or with what failed.
func (l *Loaded) await(ctx context.Context, status *os.File) error {
	_ = status.SetReadDeadline(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { _ = status.SetReadDeadline(time.Now()) })
	defer stop()
	var told [16]byte
	n, err := io.ReadFull(status, told[:])
	switch {
	case n == 0 && err == io.EOF:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("waiting for the program that goes before: %w", err)
	}
	answer, at := int64(binary.NativeEndian.Uint64(told[:])), binary.NativeEndian.Uint64(told[8:])
	return &CallError{Index: int(at-l.table)/callSize - 1, Err: syscall.Errno(-answer)}
}

// inMemory returns an executable file that is only in memory.
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
	// Opened anew, for what is open for writing cannot be executed.
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}
