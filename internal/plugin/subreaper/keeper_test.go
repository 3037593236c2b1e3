package subreaper_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"github.com/toolhost/toolhost/internal/plugin/subreaper"
)

// TestMain lets the test binary play keepers, a program that is kept, and what hides from it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "kept":
			os.Exit(playKept())
		case "daemon":
			os.Exit(playDaemon())
		case "sleep":
			time.Sleep(time.Hour) // not an empty select: the runtime ends a process in which nothing can happen any more
		}
	}
	goleak.VerifyTestMain(m)
}

func playKept() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if subreaper.Kept(os.Getenv) {
		return playProgram(ctx)
	}
	fmt.Println(os.Getpid())
	code, err := subreaper.Run(ctx, subreaper.Config{Command: os.Args, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// playProgram starts a daemon that left its session, its parent and its environment, and waits to be told to end.
func playProgram(ctx context.Context) int {
	fmt.Println(os.Getpid())
	daemon := exec.Command(os.Args[0], "daemon")
	daemon.Stdout, daemon.Env = os.Stdout, []string{}
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-ctx.Done()
	return 42
}

// playDaemon starts another process and ends, so that nothing but its adoption tells where that came from.
func playDaemon() int {
	cmd := exec.Command(os.Args[0], "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	return 0
}

// family is a kept program: the outer keeper, the inner one, the program and the daemon.
type family struct {
	cmd  *exec.Cmd
	pids [4]int
}

func start(t *testing.T) *family {
	t.Helper()
	f := &family{cmd: exec.Command(os.Args[0], "kept")}
	f.cmd.Stderr = os.Stderr
	stdout, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for i := range f.pids {
		if !lines.Scan() {
			t.Fatalf("it said no more after %v", f.pids)
		}
		if _, err := fmt.Sscan(strings.TrimSpace(lines.Text()), &f.pids[i]); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// gone waits until nobody of the family is there.
func (f *family) gone(t *testing.T) {
	t.Helper()
	for _, pid := range f.pids {
		for proc.Alive(pid) {
			if t.Context().Err() != nil {
				t.Fatalf("process %d of %v is there", pid, f.pids)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// TestWhoeverIsKilled: whichever of the three is, nothing is left, not even what hides.
func TestWhoeverIsKilled(t *testing.T) {
	for i, who := range []string{"outer keeper", "inner keeper", "program"} {
		t.Run(who, func(t *testing.T) {
			f := start(t)
			if hidden := f.pids[len(f.pids)-1]; !proc.Alive(hidden) {
				t.Fatalf("the process %d that hides has ended by itself", hidden)
			}
			if err := syscall.Kill(f.pids[i], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = f.cmd.Wait()
			f.gone(t)
			if code := f.cmd.ProcessState.ExitCode(); i > 0 && code != 137 {
				t.Errorf("the exit code is %d", code)
			}
		})
	}
}

// TestAnEndIsHandedDownAndUp: who is asked to end is the program, and its exit code comes back.
func TestAnEndIsHandedDownAndUp(t *testing.T) {
	f := start(t)
	if err := f.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = f.cmd.Wait()
	if code := f.cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("the exit code is %d, want that of the program", code)
	}
	f.gone(t)
}
