package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/process/fault"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
	"github.com/toolhost/toolhost/tool"
)

// TestMain lets the test binary run as the plugin, as the reaper, and as a toolhost that is to be
// killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "fault":
			os.Exit(fault.Main(os.Args[2:]))
		case "reaper":
			os.Exit(reaper.Main())
		case "toolhost":
			os.Exit(playToolhost(os.Args[2], os.Args[3]))
		case "sdk":
			playSDKPlugin()
			return
		}
	}
	os.Exit(m.Run())
}

// setup returns a config that launches the fault plugin with flags, and checks at the test's end
// that nothing of it is left.
func setup(t *testing.T, flags ...string) (process.Config, *recorder) {
	t.Helper()
	dir := leavesNothing(t)
	log := &recorder{changed: make(chan struct{})}
	return process.Config{
		Plugin:   "fault",
		Instance: "fault-1",
		Path:     executable(t),
		Args:     append([]string{"fault"}, flags...),
		// TEST_RUN finds it in any case. The race detector would let a plugin sleep for a second at
		// its end.
		Env:          []string{"TEST_RUN=" + dir, "GORACE=atexit_sleep_ms=0"},
		RunDir:       dir,
		StartTimeout: time.Minute,
		StopTimeout:  time.Minute,
		Logger:       slog.New(log),
		// Other tests cover namespaces: the pids that a plugin reports must be valid here.
		PIDNamespace: process.NamespaceOff,
	}, log
}

func executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// launch launches a plugin and kills it at the test's end.
func launch(t *testing.T, cfg process.Config) *process.Process {
	t.Helper()
	p, err := process.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		wait(t, p)
		if proc.Alive(p.PID()) {
			t.Errorf("process %d is alive", p.PID())
		}
	})
	return p
}

// refused launches a plugin that must fail to start, and returns the error.
func refused(t *testing.T, cfg process.Config) error {
	t.Helper()
	p, err := process.Launch(t.Context(), cfg)
	if err == nil {
		p.Kill()
		<-p.Done()
		t.Fatal("it was launched")
	}
	return err
}

func wait(t *testing.T, p *process.Process) tool.Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(2 * time.Minute):
		t.Fatal("the process is not done")
	}
	return p.Exit()
}

// arguments are those of the fault tool.
type arguments map[string]any

func start(t *testing.T, p *process.Process, args arguments) *pluginwire.Call {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	call, err := p.Conn().Start(t.Context(), pluginwire.Start{CallID: "c1", Tool: "fault", Arguments: text, Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(call.Close)
	return call
}

// outcome returns the text of a call's result.
func outcome(ctx context.Context, call *pluginwire.Call) (string, error) {
	for {
		event, err := call.Next(ctx)
		if err != nil {
			return "", err
		}
		if event.Ended == nil {
			continue
		}
		if event.Ended.Err != nil {
			return "", event.Ended.Err
		}
		return event.Ended.Result.Text(), nil
	}
}

func do(t *testing.T, p *process.Process, args arguments) string {
	t.Helper()
	text, err := outcome(t.Context(), start(t, p, args))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// recorder is a slog.Handler that keeps all records.
type recorder struct {
	held    sync.Mutex // held by a test that blocks the logger
	mu      sync.Mutex
	lines   []string // LEVEL message key=value…
	changed chan struct{}
}

// hold blocks the logger until release is called.
func (r *recorder) hold() (release func()) {
	r.held.Lock()
	return r.held.Unlock
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithGroup(string) slog.Handler            { return r }
func (r *recorder) WithAttrs(attrs []slog.Attr) slog.Handler { return &bound{r, attrs} }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.held.Lock()
	defer r.held.Unlock()
	line := record.Level.String() + " " + record.Message
	record.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// bound is a recorder with attributes, which it appends to each line.
type bound struct {
	*recorder
	attrs []slog.Attr
}

func (b *bound) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &bound{b.recorder, append(slices.Clip(b.attrs), attrs...)}
}

func (b *bound) Handle(ctx context.Context, record slog.Record) error {
	record.AddAttrs(b.attrs...)
	return b.recorder.Handle(ctx, record)
}

// await returns the first line that contains all words.
func (r *recorder) await(t *testing.T, words ...string) string {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		r.mu.Lock()
		changed := r.changed
		at := slices.IndexFunc(r.lines, func(line string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
		})
		lines := r.lines
		r.mu.Unlock()
		if at >= 0 {
			return lines[at]
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("no line with %q was logged, but %q", words, lines)
		}
	}
}

// exitOf returns the exit in an error.
func exitOf(t *testing.T, err error) tool.Exit {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Exit == nil {
		t.Fatalf("%v tells of no exit", err)
	}
	if e.Kind != tool.KindUnavailable || e.Plugin != "fault" || e.Instance != "fault-1" {
		t.Errorf("kind %s, plugin %q, instance %q", e.Kind, e.Plugin, e.Instance)
	}
	return *e.Exit
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
