package process_test

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
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/guardian"
	"github.com/toolhost/toolhost/internal/guardian/proc"
	"github.com/toolhost/toolhost/internal/pluginwire"
	"github.com/toolhost/toolhost/internal/process"
)

// scene is what a played toolhost started.
type scene struct {
	PIDs []int // plugins, grandchildren and the guardian
}

// playToolhost launches three plugins: one that did nothing yet, one with a child in its group and one in a session of its
// own, and one that is stopped and would ignore SIGTERM. It says so, and waits to be killed.
func playToolhost(dir string) int {
	s, err := playScene(context.Background(), dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	text, err := json.Marshal(s)
	if err != nil {
		return 1
	}
	fmt.Println(string(text))
	select {}
}

func playScene(ctx context.Context, dir string) (scene, error) {
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		return scene{}, err
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return scene{}, err
	}
	g, err := guardian.Start(ctx, guardian.Config{
		Command: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "guardian"},
		RunDir:  run,
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return scene{}, err
	}
	if err := g.SetSocket(ctx, socket.Addr().String()); err != nil {
		return scene{}, err
	}
	s := scene{PIDs: []int{g.PID()}}
	for i, requests := range [][]arguments{
		nil,
		{{"do": "spawn", "text": "group"}, {"do": "spawn", "text": "session"}},
		{{"do": "stop"}},
	} {
		p, err := process.Launch(ctx, process.Config{
			Plugin:   "fault",
			Instance: fmt.Sprint("fault-", i),
			Path:     os.Args[0],
			Args:     []string{"fault", "-ignore-term"},
			RunDir:   run,
			Guard:    g,
		})
		if err != nil {
			return scene{}, err
		}
		s.PIDs = append(s.PIDs, p.PID())
		for _, request := range requests {
			pid, err := ask(ctx, p, request)
			if err != nil {
				return scene{}, err
			}
			s.PIDs = append(s.PIDs, pid)
		}
	}
	return s, nil
}

// ask returns the pid that a call answers, or that of the plugin if the call leaves it stopped.
func ask(ctx context.Context, p *process.Process, request arguments) (int, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	call, err := p.Conn().Start(ctx, pluginwire.Start{CallID: "c1", Tool: "fault", Arguments: text, Complete: true})
	if err != nil {
		return 0, err
	}
	if request["do"] == "stop" {
		for !stopped(p.PID()) { // it never answers
			time.Sleep(time.Millisecond)
		}
		return p.PID(), nil
	}
	answer, err := outcome(ctx, call)
	if err != nil {
		return 0, err
	}
	var pid int
	err = json.Unmarshal([]byte(answer), &pid)
	return pid, err
}

// Trap 9: kill -9 of toolhost leaves nothing behind.
func TestKilledToolhostLeavesNothing(t *testing.T) {
	dir, err := os.MkdirTemp("", "th")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(executable(t), "toolhost", dir)
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
	if len(s.PIDs) != 7 {
		t.Fatalf("the scene is %+v", s)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = cmd.Wait()
	eventually(t, "everything is gone", func() bool {
		left, _ := os.ReadDir(dir)
		for _, pid := range s.PIDs {
			if proc.Alive(pid) {
				return false
			}
		}
		return len(left) == 0
	})
	t.Logf("%d processes, the socket and the run folder were gone %v after the kill", len(s.PIDs), time.Since(killed).Round(time.Millisecond))
}

// While toolhost lives, the guardian knows of what runs, and of nothing else.
func TestGuardedProcessEndsAsAnyOther(t *testing.T) {
	cfg, _ := setup(t)
	g, err := guardian.Start(t.Context(), guardian.Config{
		Command: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", executable(t), "guardian"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	cfg.Guard = g
	one, two := launch(t, cfg), launch(t, cfg)
	if err := one.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := do(t, two, arguments{"do": "echo", "text": "alive"}); got != "alive" {
		t.Errorf("the call says %q", got)
	}
	g.Close() // last of all, which ends what is left
	if exit := wait(t, two); exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
}
