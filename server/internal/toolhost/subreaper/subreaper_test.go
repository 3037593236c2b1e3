package subreaper_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/subreaper"
)

// TestMain lets the test binary run as a member of the chain, as the served program, and as a
// daemon.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "chain":
			os.Exit(runChain())
		case "daemon":
			os.Exit(runDaemon())
		case "sleep":
			time.Sleep(time.Hour) // not an empty select: the runtime ends a process in which no goroutine can ever run
		}
	}
	goleak.VerifyTestMain(m)
}

// runChain is each of the three members: it prints its process id, and then acts by its role.
func runChain() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println(os.Getpid())
	if subreaper.Served(os.Getenv) {
		code := 0
		if err := subreaper.Serve(nil, func() error { code = runProgram(ctx); return nil }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}
	code, err := subreaper.Run(ctx, subreaper.Config{Command: os.Args, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// runProgram starts daemons, each of which leaves its session, its parent and its environment. Then
// it waits until it is asked to end.
func runProgram(ctx context.Context) int {
	for range daemons {
		daemon := exec.Command(os.Args[0], "daemon")
		daemon.Stdout, daemon.Env = os.Stdout, []string{}
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := daemon.Run(); err != nil { // it fails if the main thread reaps what this goroutine started
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	<-ctx.Done()
	return 42
}

// runDaemon starts another process and ends. Only the adoption of that process then shows where it
// came from.
func runDaemon() int {
	cmd := exec.Command(os.Args[0], "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	return 0
}

// daemons is the number of daemons of a chain.
const daemons = 3

// chain is a running chain: the process ids of the outer subreaper, the inner one, the served
// program and the daemons.
type chain struct {
	cmd  *exec.Cmd
	pids [3 + daemons]int
}

func start(t *testing.T) *chain {
	t.Helper()
	c := &chain{cmd: exec.Command(os.Args[0], "chain")}
	c.cmd.Stderr = os.Stderr
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for i := range c.pids {
		if !lines.Scan() {
			t.Fatalf("the chain ended its output after %v", c.pids)
		}
		if _, err := fmt.Sscan(strings.TrimSpace(lines.Text()), &c.pids[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range c.pids {
		if !proc.Alive(pid) {
			t.Fatalf("process %d of %v ended by itself", pid, c.pids)
		}
	}
	return c
}

// gone waits until no process of the chain is alive.
func (c *chain) gone(t *testing.T) {
	t.Helper()
	const patience = time.Minute
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left := slices.DeleteFunc(slices.Clone(c.pids[:]), func(pid int) bool { return !proc.Alive(pid) })
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			t.Fatalf("processes %v of %v were alive after %v", left, c.pids, patience)
		}
	}
}

// TestAKillOfMembersLeavesNothing kills every set of one or two members, in every order, at once
// and after the chain has noticed the first kill. No daemon is left.
func TestAKillOfMembersLeavesNothing(t *testing.T) {
	names := []string{"outer", "inner", "served"}
	for first, name := range names {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			c.kill(t, first)
			_ = c.cmd.Wait()
			c.gone(t)
			if code := c.cmd.ProcessState.ExitCode(); first > 0 && code != 137 {
				t.Errorf("the exit code is %d", code)
			}
		})
		for second := range names {
			if second == first {
				continue
			}
			t.Run(name+", "+names[second], func(t *testing.T) {
				c := start(t)
				c.kill(t, first)
				c.kill(t, second)
				_ = c.cmd.Wait()
				c.gone(t)
			})
			t.Run(name+", later "+names[second], func(t *testing.T) {
				c := start(t)
				c.kill(t, first)
				for proc.Alive(c.pids[3]) && proc.Alive(c.pids[second]) {
					time.Sleep(time.Microsecond)
				}
				c.kill(t, second)
				_ = c.cmd.Wait()
				c.gone(t)
			})
		}
	}
}

func (c *chain) kill(t *testing.T, member int) {
	t.Helper()
	if err := syscall.Kill(c.pids[member], syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Fatal(err)
	}
}

// The served program reaps an orphan that it adopted, and no other process.
func TestOrphansAreReaped(t *testing.T) {
	c := start(t)
	if err := syscall.Kill(c.pids[3], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for syscall.Kill(c.pids[3], 0) == nil { // a zombie counts
		if t.Context().Err() != nil {
			t.Fatal("the orphan stays a zombie")
		}
		time.Sleep(time.Millisecond)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	c.gone(t)
}

// SIGTERM reaches the served program, and its exit code is that of the outer subreaper.
func TestSignalsAndTheExitCode(t *testing.T) {
	c := start(t)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()
	if code := c.cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("the exit code is %d, want that of the program", code)
	}
	c.gone(t)
}
