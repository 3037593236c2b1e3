//go:build linux && (amd64 || arm64)

package entry_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/sandbox/entry"
)

// run starts a program and returns what it prints.
func run(t *testing.T, p *entry.Program, path string, argv, env []string) (string, *os.ProcessState, error) {
	t.Helper()
	loaded, err := p.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	entered, err := loaded.Enter(argv, &os.ProcAttr{Env: env, Files: []*os.File{null, outW, outW}})
	outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	process, err := entered.Execute(t.Context())
	if err != nil {
		return "", nil, err
	}
	if entered.PID() != process.Pid {
		t.Errorf("process %d entered, and %d executes", entered.PID(), process.Pid)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	state, err := process.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), state, nil
}

func TestProgramMakesItsCallsAndExecutesTheFile(t *testing.T) {
	var p entry.Program
	p.Call(unix.SYS_CLOSE_RANGE, entry.StatusFD+1, 1<<32-1, 0)
	p.Call(unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	dir := t.TempDir()
	p.Call(unix.SYS_CHDIR, p.Text(dir))
	greeting := "hello\n"
	p.Call(unix.SYS_WRITE, 1, p.Text(greeting), uint64(len(greeting)))
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"sh", "-c", `pwd; echo "$A $1 $2"; ls /proc/self/fd | tr '\n' ' '; exit 7`, "x", "one", "two"}
	got, state, err := run(t, &p, sh, argv, []string{"A=alpha", "PATH=/usr/bin:/bin", "PWD="})
	if err != nil {
		t.Fatal(err)
	}
	want := greeting + dir + "\nalpha one two\n0 1 2 3 "
	if got != want || state.ExitCode() != 7 {
		t.Errorf("it printed %q and ended with %v; want %q and 7", got, state, want)
	}
}

func TestFirstCallThatFailsIsTold(t *testing.T) {
	var p entry.Program
	p.Call(unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	p.Call(unix.SYS_CHDIR, p.Text("/no/such/folder"))
	p.Call(unix.SYS_CLOSE, 77)
	_, _, err := run(t, &p, "/bin/sh", []string{"sh", "-c", "echo never"}, nil)
	failed, ok := errors.AsType[*entry.CallError](err)
	if !ok || failed.Index != 1 || failed.Err != syscall.ENOENT {
		t.Errorf("got %v, want call 1 and ENOENT", err)
	}
}

func TestFileThatCannotBeExecutedIsTold(t *testing.T) {
	var p entry.Program
	p.Call(unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	_, _, err := run(t, &p, "/no/such/program", []string{"program"}, nil)
	failed, ok := errors.AsType[*entry.CallError](err)
	if !ok || failed.Index != p.Len() || failed.Err != syscall.ENOENT {
		t.Errorf("got %v, want call %d and ENOENT", err, p.Len())
	}
}

func TestTooManyCallsAreRefused(t *testing.T) {
	var p entry.Program
	for range 5000 {
		p.Call(unix.SYS_GETPID)
	}
	if _, err := p.Load("/bin/sh"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("Load = %v", err)
	}
}
