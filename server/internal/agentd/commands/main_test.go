package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
)

// The test binary is also the program toolhost or agentd, if it is called by that name. These
// variables configure the toolhost.
const (
	// a file to which it writes how it was started, and that it was stopped
	noteEnv = "AGENTD_TEST_NOTE"
	dieEnv  = "AGENTD_TEST_DIE" // it prints this and exits at once
)

// raceEnv is the variable with the settings of the race detector. With atOnce, a process does not
// sleep for a second before it exits.
const (
	raceEnv = "GORACE"
	atOnce  = "atexit_sleep_ms=0"
)

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case toolhostProgram:
		os.Exit(beToolhost())
	case program:
		Main()
	}
	// agentd looks for toolhost in its own folder.
	self, err := os.Executable()
	if err == nil {
		beside := filepath.Join(filepath.Dir(self), toolhostProgram)
		if err = os.Symlink(self, beside); err == nil {
			defer os.Remove(beside)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The SDK of Temporal forgets a workflow that was open at the end, and does not end its goroutine.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("go.temporal.io/sdk/internal.(*coroutineState).initialYield"))
}

// beToolhost is `toolhost serve` with the tools of the conformance suite.
func beToolhost() int {
	if words := os.Getenv(dieEnv); words != "" {
		fmt.Fprintln(os.Stderr, words)
		return 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	at, err := address.Parse(os.Args[slices.Index(os.Args, "--listen")+1])
	if err != nil {
		return 2
	}
	host, err := hosttest.Start(nil, hosttest.Tools()...)
	if err != nil {
		return 3
	}
	stopServing, err := serveTools(at, host)
	if err != nil {
		return 3
	}
	fmt.Println("toolhost is ready")
	<-ctx.Done()
	stopServing()
	host.Close()
	note := fmt.Sprintf("%s\nkey %q\nstopped\n", strings.Join(os.Args[1:], " "), os.Getenv("ANTHROPIC_API_KEY"))
	if os.WriteFile(os.Getenv(noteEnv), []byte(note), 0o600) != nil {
		return 3
	}
	return 0
}

// serveTools serves a host until the caller calls stop, which closes all connections.
func serveTools(at address.Address, host hostserver.Host) (stop func(), err error) {
	listener, err := at.Listen(context.Background(), toolhostProgram)
	if err != nil {
		return nil, err
	}
	decisions, _ := host.(hostserver.Decisions)
	server := hostserver.NewServer(hostserver.Config{Host: host, Decisions: decisions})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return sync.OnceFunc(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(now)
		<-served
	}), nil
}

// world is the environment of a test: folders, variables and a toolhost.
type world struct {
	t        *testing.T
	folder   string
	env      map[string]string
	toolhost address.Address
	host     hostserver.Host
	cut      func() // closes the connections to the host
}

func newWorld(t *testing.T) *world {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "agentd") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	w := &world{t: t, folder: folder, env: map[string]string{"HOME": folder, "XDG_RUNTIME_DIR": folder}}
	if w.toolhost, err = address.Unix(filepath.Join(folder, "th.sock")); err != nil {
		t.Fatal(err)
	}
	return w
}

// withToolhost serves tools at the address in the environment.
func (w *world) withToolhost() *world {
	w.t.Helper()
	if w.host == nil {
		w.host = hosttest.New(w.t, nil, hosttest.Tools()...)
	}
	stop, err := serveTools(w.toolhost, w.host)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(stop)
	w.cut = stop
	w.env["TOOLHOST_ADDR"] = w.toolhost.String()
	return w
}

// script writes a script and returns the value of --model for it.
func (w *world) script(text string) string {
	w.t.Helper()
	path := filepath.Join(w.folder, "script.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return "scripted:" + path
}

// output collects the output of a command. A test may read it while the command writes.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // receives after each write, with capacity 1
	ended   chan struct{} // closed when the command that begin started has ended
}

func newOutput() *output { return &output{changed: make(chan struct{}, 1), ended: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// until waits for words in the output.
func (o *output) until(t *testing.T, words string) {
	t.Helper()
	for !strings.Contains(o.String(), words) {
		select {
		case <-o.changed:
		case <-o.ended:
			if !strings.Contains(o.String(), words) {
				t.Fatalf("agentd ended before it printed %q:\n%s", words, o)
			}
		case <-t.Context().Done():
			t.Fatalf("%q never came:\n%s", words, o)
		}
	}
}

// ended is a finished command with its outputs.
type ended struct {
	code           int
	stdout, stderr *output
}

// run runs agentd to its end.
func (w *world) run(args ...string) ended {
	w.t.Helper()
	e := ended{stdout: newOutput(), stderr: newOutput()}
	e.code = run(w.t.Context(), w.process(e, args...))
	return e
}

// begin starts agentd. interrupt cancels it, and wait returns its exit code.
func (w *world) begin(args ...string) (e ended, interrupt func(), wait func() int) {
	w.t.Helper()
	e = ended{stdout: newOutput(), stderr: newOutput()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int, 1)
	go func() {
		code := run(ctx, w.process(e, args...))
		if code != 0 {
			w.t.Logf("agentd ended with exit code %d:\n%s", code, e.stderr)
		}
		close(e.stdout.ended)
		close(e.stderr.ended)
		done <- code
	}()
	wait = sync.OnceValue(func() int { return <-done })
	w.t.Cleanup(func() { cancel(); wait() })
	return e, cancel, wait
}

func (w *world) process(e ended, args ...string) cli.Process {
	return cli.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: e.stdout, Stderr: e.stderr,
		Getenv: func(name string) string { return w.env[name] },
	}
}

// want checks the exit code, and words of both outputs.
func (e ended) want(t *testing.T, code int, words ...string) {
	t.Helper()
	if e.code != code {
		t.Errorf("exit code %d, want %d\n%s\n%s", e.code, code, e.stdout, e.stderr)
	}
	for _, w := range words {
		if !strings.Contains(e.stdout.String()+e.stderr.String(), w) {
			t.Errorf("want %q in\n%s\n%s", w, e.stdout, e.stderr)
		}
	}
}
