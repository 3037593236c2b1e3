package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// screen is an output that a test reads while a command writes it.
type screen struct {
	mutex   sync.Mutex
	b       bytes.Buffer
	written chan struct{} // has capacity 1; receives after a write
}

func newScreen() *screen { return &screen{written: make(chan struct{}, 1)} }

func (s *screen) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	select {
	case s.written <- struct{}{}:
	default:
	}
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.b.String()
}

// until returns when the screen shows the text.
func (s *screen) until(t *testing.T, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.written:
		case <-ctx.Done():
			t.Fatalf("%q never came; there is %q", text, s.String())
		}
	}
}

// An interrupt ends following without an error.
func TestFollowUntilInterrupted(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	for _, args := range [][]string{{"logs", "-f"}, {"logs", "fixture", "--follow", "-o", "json"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out, errs := newScreen(), newScreen()
		code := make(chan int, 1)
		go func() {
			code <- run(ctx, cli.Process{Args: args, Getenv: func(n string) string { return env[n] }, Stdin: strings.NewReader(""), Stdout: out, Stderr: errs})
		}()
		if code, _, stderr := toolhost(t.Context(), env, "", "call", "talk", `{"text":"it \u001b[31mblinks"}`); code != cli.ExitOK {
			t.Fatal(stderr)
		}
		out.until(t, "blinks")
		interrupt()
		if got := <-code; got != cli.ExitOK || errs.String() != "" {
			t.Errorf("%v: exit %d, %s", args, got, errs.String())
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("a plugin can steer the terminal: %q", out.String())
		}
	}
}

// ps -f writes each process that is new, has changed or has exited, until an interrupt ends it.
func TestFollowProcesses(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	for _, test := range []struct{ args, ready, exited string }{
		{"ps -f", "fixture-1  fixture  ready", "fixture-1  fixture  exited"},
		{"ps fixture --follow -o json", `"instance":"fixture-2","plugin":"fixture","state":"ready"`, `"instance":"fixture-2","plugin":"fixture","state":"exited"`},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out, errs := newScreen(), newScreen()
		code := make(chan int, 1)
		go func() {
			code <- run(ctx, cli.Process{Args: strings.Fields(test.args), Getenv: func(n string) string { return env[n] }, Stdin: strings.NewReader(""), Stdout: out, Stderr: errs})
		}()
		for _, step := range [][]string{{"call", "echo", `{"text":"a"}`, test.ready}, {"drain", "fixture", test.exited}} {
			last := len(step) - 1
			if code, _, stderr := toolhost(t.Context(), env, "", step[:last]...); code != cli.ExitOK {
				t.Fatal(stderr)
			}
			out.until(t, step[last])
		}
		interrupt()
		if got := <-code; got != cli.ExitOK || errs.String() != "" {
			t.Errorf("%v: exit %d, %s", test.args, got, errs.String())
		}
	}
	if code, _, stderr := toolhost(t.Context(), env, "", "ps", "-f", "--fleet"); code != cli.ExitUsage || !strings.Contains(stderr, "ps follows one toolhost") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestLogsSince(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	if code, _, stderr := toolhost(t.Context(), env, "", "call", "talk", `{"text":"spoken"}`); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	for _, test := range []struct {
		since, stderr string
		lines         bool
	}{{"1h", "", true}, {"0s", "no lines of fixture from ", false}, {"tomorrow", "is no time", false}} {
		_, stdout, stderr := toolhost(t.Context(), env, "", "logs", "fixture", "--since", test.since)
		if strings.Contains(stdout, "spoken") != test.lines || !strings.Contains(stderr, test.stderr) {
			t.Errorf("--since %s: %q, %q", test.since, stdout, stderr)
		}
	}
	if _, _, stderr := toolhost(t.Context(), env, "", "logs", "fixture", "--call", "absent"); !strings.Contains(stderr, "from before the last start of toolhost are only in its own log") {
		t.Errorf("no lines: %q", stderr)
	}
}

// The command reports that toolhost stopped, with a message and the exit code.
func TestFollowUntilTheToolhostStops(t *testing.T) {
	addr, host := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	if code, _, stderr := toolhost(t.Context(), env, "", "call", "echo", `{"text":"x"}`); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	out, errs := newScreen(), newScreen()
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), cli.Process{
			Args: []string{"events", "-f"}, Getenv: func(n string) string { return env[n] }, Stdin: strings.NewReader(""), Stdout: out, Stderr: errs,
		})
	}()
	out.until(t, "instance ready")
	host.Close()
	if got := <-code; got != cli.ExitNoServer || !strings.Contains(errs.String(), "the toolhost that was followed has stopped") {
		t.Errorf("exit %d, %s", got, errs.String())
	}
}
