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
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
)

// scene describes the processes that a toolhost in a subprocess started.
type scene struct {
	PIDs []int // plugins, grandchildren and the reaper
}

// playToolhost sets a scene up in the folder, prints it, and waits to be killed.
func playToolhost(name, dir string) int {
	play := map[string]func(context.Context, string) (scene, error){
		"guarded": playGuarded, "namespaced": playNamespaced, "lifeline": playLifeline,
	}[name]
	s, err := play(context.Background(), dir)
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

// playGuarded launches three plugins: an idle one, one with a child in its group and one in another
// session, and one that is stopped and would ignore SIGTERM.
func playGuarded(ctx context.Context, dir string) (scene, error) {
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		return scene{}, err
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return scene{}, err
	}
	g, err := reaper.Start(ctx, reaper.Config{
		Command: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "reaper"},
		RunDir:  run,
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return scene{}, err
	}
	if err := g.SetSockets(ctx, socket.Addr().String()); err != nil {
		return scene{}, err
	}
	s := scene{PIDs: []int{g.PID()}}
	for i, requests := range [][]arguments{
		nil,
		{{"do": "spawn", "text": "group"}, {"do": "spawn", "text": "session"}},
		{{"do": "stop"}},
	} {
		p, err := process.Launch(ctx, process.Config{
			Plugin:       "fault",
			Instance:     fmt.Sprint("fault-", i),
			Path:         os.Args[0],
			Args:         []string{"fault", "-ignore-term"},
			RunDir:       run,
			Reaper:       g,
			PIDNamespace: process.NamespaceOff,
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

// playNamespaced launches a plugin with a child that carries no mark, without a reaper.
func playNamespaced(ctx context.Context, dir string) (scene, error) {
	p, err := process.Launch(ctx, process.Config{
		Plugin: "fault", Instance: "fault-1", Path: os.Args[0], Args: []string{"fault", "-ignore-term"}, RunDir: dir,
		PIDNamespace: process.NamespaceRequired,
	})
	if err != nil {
		return scene{}, err
	}
	if _, err := ask(ctx, p, arguments{"do": "spawn", "text": "bare"}); err != nil {
		return scene{}, err
	}
	return scene{PIDs: proc.Tree(os.Getpid())[1:]}, nil
}

// playLifeline launches a plugin of the SDK that no signal and no reaper reaches.
func playLifeline(ctx context.Context, dir string) (scene, error) {
	p, err := process.Launch(ctx, process.Config{
		Plugin: "sdk", Instance: "sdk-1", Path: os.Args[0], Args: []string{"sdk"}, RunDir: dir,
		Env:          []string{"GORACE=atexit_sleep_ms=0"},
		PIDNamespace: process.NamespaceOff,
	})
	if err != nil {
		return scene{}, err
	}
	// An answer shows that the plugin has its stream. Before, there is no lifeline.
	call, err := p.Conn().Start(ctx, pluginwire.Start{CallID: "c1", Tool: "nothing", Arguments: []byte("{}"), Complete: true})
	if err != nil {
		return scene{}, err
	}
	if _, err := outcome(ctx, call); err != nil {
		return scene{}, err
	}
	return scene{PIDs: []int{p.PID()}}, nil
}

// ask returns the pid that a call answers, or that of the plugin if the call stops it.
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

// kill -9 of toolhost leaves nothing behind.
func TestKilledToolhostLeavesNothing(t *testing.T) {
	tests := []struct {
		scene     string
		processes int
		files     bool // whether a process is left that removes them
	}{
		{"guarded", 7, true},
		{"lifeline", 1, false},
	}
	if namespaces() {
		tests = append(tests, tests[1])
		tests[2].scene, tests[2].processes = "namespaced", 3 // the first process, the plugin and the hidden one
	}
	for _, test := range tests {
		t.Run(test.scene, func(t *testing.T) {
			dir := leavesNothing(t)
			s := killPlayed(t, test.scene, dir)
			if len(s.PIDs) != test.processes {
				t.Fatalf("the scene is %+v", s)
			}
			killed := time.Now()
			eventually.Holds(t, "everything is gone", func() bool {
				left, _ := os.ReadDir(dir)
				return !slices.ContainsFunc(s.PIDs, proc.Alive) && (len(left) == 0 || !test.files)
			})
			if !test.files {
				removeAll(t, dir)
			}
			t.Logf("%d processes were gone %v after the kill", len(s.PIDs), time.Since(killed).Round(time.Millisecond))
		})
	}
}

// removeAll removes the content of the folder.
func removeAll(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// killPlayed runs this binary as a toolhost and kills it once the scene is set up.
func killPlayed(t *testing.T, name, dir string) scene {
	t.Helper()
	cmd := exec.Command(executable(t), "toolhost", name, dir)
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
	_ = cmd.Wait()
	return s
}

// While toolhost lives, the reaper knows the running processes and no others.
func TestGuardedProcessEndsAsAnyOther(t *testing.T) {
	cfg, _ := setup(t)
	g, err := reaper.Start(t.Context(), reaper.Config{
		Command: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", executable(t), "reaper"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	cfg.Reaper = g
	one, two := launch(t, cfg), launch(t, cfg)
	if err := one.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := do(t, two, arguments{"do": "echo", "text": "alive"}); got != "alive" {
		t.Errorf("the call says %q", got)
	}
	g.Close() // last: it kills what is left
	if exit := wait(t, two); exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
}
