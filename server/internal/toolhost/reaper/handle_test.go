package reaper

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"go.uber.org/goleak"
)

// TestMain lets the test binary run as the reaper and as a toolhost that is to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "reaper":
			os.Exit(Main())
		case "toolhost":
			os.Exit(playToolhost(os.Args[2]))
		}
	}
	goleak.VerifyTestMain(m)
}

// scene describes what the toolhost in a subprocess started.
type scene struct {
	Guardian, Told, Marked int
	Cgroups                []string // with one group below each of them
}

// playToolhost plays a toolhost with a run folder and a socket. It starts one process that can be
// found only by its group and one that can be found only by its marker, prints them, and waits to
// be killed.
func playToolhost(dir string) int {
	fail := func(err error) int { fmt.Fprintln(os.Stderr, err); return 1 }
	run := filepath.Join(dir, "run")
	if err := os.MkdirAll(filepath.Join(run, "p1", "tmp"), 0o700); err != nil {
		return fail(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return fail(err)
	}
	defer socket.Close()
	second, err := net.Listen("unix", filepath.Join(dir, "s2"))
	if err != nil {
		return fail(err)
	}
	defer second.Close()
	cgroups := limits.OpenCgroups()
	g, err := Start(context.Background(), Config{Command: self(), RunDir: run, Cgroups: cgroups.Dirs()})
	if err != nil {
		return fail(err)
	}
	if err := g.SetSockets(context.Background(), socket.Addr().String(), second.Addr().String()); err != nil {
		return fail(err)
	}
	told, marked := exec.Command("/bin/sleep", "600"), exec.Command("/bin/sleep", "600")
	told.Env, marked.Env = []string{}, []string{proc.MarkName + "=" + g.Token() + "/1"}
	told.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	marked.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	for _, cmd := range []*exec.Cmd{told, marked} {
		if err := cmd.Start(); err != nil {
			return fail(err)
		}
	}
	g.Add(context.Background(), proc.Identify(told.Process.Pid))
	if _, err := limits.Hold(limits.Config{MemoryBytes: 1 << 30, Processes: 100}, cgroups, "fs-1"); err != nil {
		return fail(err)
	}
	text, err := json.Marshal(scene{g.PID(), told.Process.Pid, marked.Process.Pid, cgroups.Dirs()})
	if err != nil {
		return fail(err)
	}
	fmt.Println(string(text))
	select {}
}

func TestKilledToolhostLeavesNothing(t *testing.T) {
	dir := shortdir.Make(t)
	cmd := exec.Command(os.Args[0], "toolhost", dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var s scene
	if err := json.NewDecoder(bufio.NewReader(stdout)).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = cmd.Wait()
	eventually.Holds(t, "everything is gone", func() bool {
		left, _ := os.ReadDir(dir)
		for _, dir := range s.Cgroups {
			if _, err := os.Stat(dir); err == nil {
				return false
			}
		}
		return len(left) == 0 && !proc.Alive(s.Told) && !proc.Alive(s.Marked) && !proc.Alive(s.Guardian)
	})
	t.Logf("everything was gone %v after the kill", time.Since(killed).Round(time.Millisecond))
}

func TestCloseCleansAndLeavesNothing(t *testing.T) {
	run := shortdir.Make(t)
	var log recorder
	g := start(t, Config{RunDir: run, Logger: slog.New(&log)})
	child := sleeper(t, "")
	g.Add(t.Context(), proc.Identify(child.Process.Pid))
	g.Close()
	if _, err := os.Stat(run); !os.IsNotExist(err) {
		t.Errorf("the run folder is there: %v", err)
	}
	if proc.Alive(g.PID()) {
		t.Error("the reaper is there")
	}
	if err := child.Wait(); err == nil {
		t.Error("the group was not killed")
	}
	if got := log.String(); got != "" {
		t.Errorf("logged %q", got)
	}
}

func TestRemovedGroupIsSpared(t *testing.T) {
	g := start(t, Config{})
	child := sleeper(t, "")
	id := proc.Identify(child.Process.Pid)
	g.Add(t.Context(), id)
	g.Remove(id)
	g.Close()
	if !proc.Alive(id.PID) {
		t.Error("a group was killed that is under guard no more")
	}
}

func TestDeadReaperIsReplacedAndGetsTheState(t *testing.T) {
	var log recorder
	g := start(t, Config{Logger: slog.New(&log)})
	child := sleeper(t, "")
	g.Add(t.Context(), proc.Identify(child.Process.Pid))
	first := g.PID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "another reaper is there", func() bool { return g.PID() != first && proc.Alive(g.PID()) })
	g.Close()
	if err := child.Wait(); err == nil {
		t.Error("the group was not killed")
	}
	if !strings.Contains(log.String(), "the reaper died; starting another") {
		t.Errorf("logged %q", log.String())
	}
}

func TestReaperThatCannotLiveIsGivenUp(t *testing.T) {
	program := filepath.Join(t.TempDir(), "reaper")
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	run := shortdir.Make(t)
	var log recorder
	g := start(t, Config{Command: []string{program, "reaper"}, RunDir: run, Logger: slog.New(&log)})
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(g.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the guard gives up", func() bool { return strings.Contains(log.String(), "cannot be kept alive") })
	if got := strings.Count(log.String(), "starting the reaper again"); got != maxRestarts {
		t.Errorf("%d tries, want %d", got, maxRestarts)
	}
	g.Close()
	if _, err := os.Stat(run); !os.IsNotExist(err) {
		t.Errorf("without a reaper, the run folder stays: %v", err)
	}
}

func TestReaperIgnoresWhatATerminalSends(t *testing.T) {
	var log recorder
	g := start(t, Config{RunDir: t.TempDir(), Logger: slog.New(&log)})
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if err := syscall.Kill(g.PID(), signal); err != nil {
			t.Fatal(err)
		}
	}
	if group, err := syscall.Getpgid(g.PID()); err != nil || group != g.PID() {
		t.Errorf("the reaper is in group %d, %v; want one of its own", group, err)
	}
	g.mu.Lock()
	h := g.process
	g.mu.Unlock()
	g.Close()
	if !h.cmd.ProcessState.Success() || log.String() != "" {
		t.Errorf("the reaper ended with %v, logged %q", h.cmd.ProcessState, log.String())
	}
}

func TestStartRefusesAnotherProgram(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		want string
	}{
		{"no command", Config{}, "no command"},
		{"no such program", Config{Command: []string{"/nowhere/reaper"}}, "no such file"},
		{"another program", Config{Command: []string{"/bin/echo", "hello"}}, `says "hello", expected`},
		{"a silent program", Config{Command: []string{"/bin/true"}}, "ended without a word"},
		{"the root folder", Config{Command: []string{"/bin/true"}, RunDir: "/"}, "not an absolute path"},
		{"a relative folder", Config{Command: []string{"/bin/true"}, RunDir: "run"}, "not an absolute path"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Start(t.Context(), test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestStartIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Config{Command: []string{"/bin/sleep", "600"}}); err == nil {
		t.Error("a program that says nothing was accepted")
	}
}

// self is the command that runs this test binary as a reaper. The race detector would let it sleep
// for a second at its end. Its environment holds only the entries of env.
func self() []string {
	return []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "reaper"}
}

// start starts this test binary as a reaper, unless cfg says otherwise.
func start(t *testing.T, cfg Config) *Handle {
	t.Helper()
	if cfg.Command == nil {
		cfg.Command = self()
	}
	g, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// sleeper starts a process in a group of its own that ends with the test.
func sleeper(t *testing.T, mark string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "600")
	cmd.Env = []string{proc.MarkName + "=" + mark}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestAddOfAStoppedReaperIsBounded(t *testing.T) {
	var log recorder
	g := start(t, Config{Logger: slog.New(&log)})
	first := g.PID()
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// The pipe takes a while to fill up. Then the reaper is killed, and another one gets the state.
	for i := range 64 << 10 {
		g.Add(t.Context(), proc.ID{PID: 1 << 30, Start: uint64(i)})
		if g.PID() != first {
			return
		}
	}
	t.Error("the stopped reaper was kept")
}
