//go:build linux && (amd64 || arm64)

package prestart_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/plugin/prestart"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/process/fault"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// TestMain lets the test binary run as the plugin.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fault" {
		os.Exit(fault.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// setup returns a pool, and a function that makes the Config of a plugin. Nothing of either may be
// left at the test's end.
func setup(t *testing.T, most int, wanted func(process.Config) bool) (pool *prestart.Pool, config func(plugin string) process.Config) {
	t.Helper()
	dir, err := os.MkdirTemp("", "th") // not t.TempDir, whose name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	goroutines := goleak.IgnoreCurrent()
	pool = prestart.New(prestart.Config{Most: most, Wanted: wanted, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		pool.Close()
		goleak.VerifyNone(t, goroutines)
		if left := processes(dir); len(left) > 0 {
			t.Errorf("left running: %v", left)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left in the run folder: %v", left)
		}
		_ = os.RemoveAll(dir)
	})
	return pool, func(plugin string) process.Config {
		return process.Config{
			Plugin: plugin, Instance: plugin + "-1", Path: program, Args: []string{"fault"}, RunDir: dir, StartTimeout: time.Minute,
			Env:     []string{"TEST_RUN=" + dir, "TEST_PLUGIN=" + plugin, "GORACE=atexit_sleep_ms=0"},
			Sandbox: sandbox.Config{Mode: sandbox.ModeOn}, PIDNamespace: process.NamespaceOff,
		}
	}
}

// always wants every process.
func always(process.Config) bool { return true }

// processes returns the processes of a test by their ids, each with the plugin that it runs or
// waits for.
func processes(dir string) map[string]string {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	found := map[string]string{}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if entries := strings.Split(string(text), "\x00"); err == nil && slices.Contains(entries, "TEST_RUN="+dir) {
			at := slices.IndexFunc(entries, func(e string) bool { return strings.HasPrefix(e, "TEST_PLUGIN=") })
			found[filepath.Base(filepath.Dir(path))] = strings.TrimPrefix(entries[at], "TEST_PLUGIN=")
		}
	}
	return found
}

// eventually waits until the test has exactly one process for each entry of want, which names
// plugins. It returns the ids of the processes.
func eventually(t *testing.T, dir string, want ...string) (numbers []string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		numbers = nil
		var plugins []string
		for number, plugin := range processes(dir) {
			numbers, plugins = append(numbers, number), append(plugins, plugin)
		}
		slices.Sort(plugins)
		switch {
		case slices.Equal(plugins, want):
			return numbers
		case time.Now().After(deadline):
			t.Fatalf("there are processes of %q, want %q", plugins, want)
		}
	}
}

// used launches a plugin, lets it end, and returns its process id.
func used(t *testing.T, pool *prestart.Pool, cfg process.Config) string {
	t.Helper()
	p, err := pool.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	<-p.Done()
	return fmt.Sprint(p.PID())
}

func TestTheNextLaunchTakesAPrestartedProcess(t *testing.T) {
	pool, config := setup(t, 8, always)
	cfg := config("a")
	for range 3 {
		first := used(t, pool, cfg)
		waiting := eventually(t, cfg.RunDir, "a")
		if waiting[0] == first {
			t.Fatalf("process %s is there still", first)
		}
		if next := used(t, pool, cfg); next != waiting[0] {
			t.Errorf("process %s waited, and %s was launched", waiting[0], next)
		}
	}
}

func TestAnImmediateLaunchTakesTheProcessThatIsPrestarted(t *testing.T) {
	pool, config := setup(t, 8, always)
	cfg := config("a")
	for range 5 { // in any state of its preparation
		first, second := used(t, pool, cfg), used(t, pool, cfg)
		if first == second {
			t.Errorf("process %s was launched twice", first)
		}
	}
	eventually(t, cfg.RunDir, "a")
}

func TestNoPrestartForARunningPlugin(t *testing.T) {
	pool, config := setup(t, 8, always)
	cfg := config("a")
	p, err := pool.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	used(t, pool, cfg)
	if there := eventually(t, cfg.RunDir, "a"); there[0] != fmt.Sprint(p.PID()) {
		t.Errorf("process %s is there, want %d", there[0], p.PID())
	}
	p.Kill()
	<-p.Done()
	eventually(t, cfg.RunDir, "a") // the one that waits now
}

func TestUnfitPrestartedProcessIsClosed(t *testing.T) {
	pool, config := setup(t, 8, always)
	cfg := config("a")
	used(t, pool, cfg)
	waiting := eventually(t, cfg.RunDir, "a")
	cfg.Args = append(cfg.Args, "-stderr=other")
	p, err := pool.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if there := eventually(t, cfg.RunDir, "a"); there[0] == waiting[0] || there[0] != fmt.Sprint(p.PID()) {
		t.Errorf("process %s is there, want %d", there[0], p.PID())
	}
}

func TestPrestartedProcessesAreBounded(t *testing.T) {
	pool, config := setup(t, 2, always)
	for _, plugin := range []string{"a", "b", "c"} {
		used(t, pool, config(plugin))
		eventually(t, config(plugin).RunDir, map[string][]string{"a": {"a"}, "b": {"a", "b"}, "c": {"b", "c"}}[plugin]...)
	}
}

func TestEmptyPrestartPool(t *testing.T) {
	var wanted atomic.Bool
	pool, config := setup(t, 8, func(process.Config) bool { return wanted.Load() })
	cfg := config("a")
	used(t, pool, cfg)
	eventually(t, cfg.RunDir)
	wanted.Store(true)
	used(t, pool, cfg)
	eventually(t, cfg.RunDir, "a")
	pool.Sweep()
	eventually(t, cfg.RunDir, "a")
	wanted.Store(false)
	pool.Sweep()
	eventually(t, cfg.RunDir)
	none, config := setup(t, 0, always)
	used(t, none, config("a"))
	eventually(t, config("a").RunDir)
}

func TestAClosedRoomLaunchesAsBefore(t *testing.T) {
	pool, config := setup(t, 8, always)
	cfg := config("a")
	used(t, pool, cfg)
	eventually(t, cfg.RunDir, "a")
	pool.Close()
	eventually(t, cfg.RunDir)
	used(t, pool, cfg)
	pool.Close()
	eventually(t, cfg.RunDir)
}

func TestNoPrestartAfterAFailedLaunch(t *testing.T) {
	pool, config := setup(t, 8, always)
	cfg := config("a")
	cfg.Args = append(cfg.Args, "-exit=1")
	if _, err := pool.Launch(context.Background(), cfg); err == nil {
		t.Fatal("it was launched")
	}
	eventually(t, cfg.RunDir)
}
