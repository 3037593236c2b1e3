//go:build linux && (amd64 || arm64)

package entry_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox/entry"
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

func TestFirstFailedSystemCallIsReported(t *testing.T) {
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

func TestFileThatCannotBeExecutedIsReported(t *testing.T) {
	var p entry.Program
	p.Call(unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	_, _, err := run(t, &p, "/no/such/program", []string{"program"}, nil)
	failed, ok := errors.AsType[*entry.CallError](err)
	if !ok || failed.Index != p.Len() || failed.Err != syscall.ENOENT {
		t.Errorf("got %v, want call %d and ENOENT", err, p.Len())
	}
}

func TestASignalBeforeTheFileIsExecutedIsReported(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "terminated": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			entered, made := enter(t)
			if err := syscall.Kill(entered.PID(), signal); err != nil {
				t.Fatal(err)
			}
			_, err := entered.Execute(t.Context())
			if ended, ok := errors.AsType[*entry.EndedError](err); !ok || ended.Signal != signal {
				t.Errorf("got %v, want %v", err, signal)
			}
			if _, err := os.Lstat(made); err == nil {
				t.Error("the file was executed")
			}
		})
	}
}

// enter starts a sandboxed shell that waits, and that would make a file.
func enter(t *testing.T) (entered *entry.Entered, made string) {
	t.Helper()
	var p entry.Program
	p.Call(unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	loaded, err := p.Load("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	made = filepath.Join(t.TempDir(), "made")
	entered, err = loaded.Enter([]string{"sh", "-c", ": > " + made}, &os.ProcAttr{Files: []*os.File{null, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	return entered, made
}

func TestOnlyTheGivenFileIsExecuted(t *testing.T) {
	t.Run("abandoned", func(t *testing.T) {
		entered, made := enter(t)
		entered.Abandon()
		if _, err := os.Lstat(made); err == nil {
			t.Error("the file was executed")
		}
	})
	t.Run("left alone", func(t *testing.T) {
		entered, made := enter(t)
		state, err := entered.Forsake().Wait()
		if _, missing := os.Lstat(made); missing == nil || err != nil || state.Success() {
			t.Errorf("it ended with %v, %v; the file was executed: %v", state, err, missing == nil)
		}
	})
	t.Run("killed", func(t *testing.T) {
		entered, made := enter(t)
		if err := syscall.Kill(entered.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_, err := entered.Execute(t.Context())
		if _, missing := os.Lstat(made); missing == nil || err == nil {
			t.Errorf("error %v; the file was executed: %v", err, missing == nil)
		}
	})
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
