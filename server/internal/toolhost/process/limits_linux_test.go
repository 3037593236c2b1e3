package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// ways are the mechanisms of limits: control groups where this machine has them, or none.
func ways(t *testing.T) map[string]*limits.Cgroups {
	t.Helper()
	groups := limits.OpenCgroups()
	t.Cleanup(func() {
		for _, dir := range groups.Dirs() {
			left, _ := filepath.Glob(filepath.Join(dir, "*", "cgroup.procs"))
			if len(left) > 0 {
				t.Errorf("left are the control groups %q", left)
			}
		}
		if err := groups.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]*limits.Cgroups{"with control groups": groups, "without": nil}
}

// mechanism returns the mechanism of the limit.
func mechanism(t *testing.T, p *process.Process, name string) string {
	t.Helper()
	for _, l := range p.Limits() {
		if l.Name == name {
			return l.Mechanism
		}
	}
	t.Fatalf("the limit %s is not among %+v", name, p.Limits())
	return ""
}

func TestMemoryEaterIsKilledAndReported(t *testing.T) {
	for name, groups := range ways(t) {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t)
			cfg.Cgroups = groups
			neighbour := launch(t, cfg)
			cfg.Limits.MemoryBytes = 192 << 20
			p := launch(t, cfg)
			how := mechanism(t, p, "memory")
			t.Logf("memory is held by %s", how)
			if _, err := outcome(t.Context(), start(t, p, arguments{"do": "eat", "number": 320 << 20})); !errors.Is(err, pluginwire.ErrConnLost) {
				t.Errorf("the call ends with %v", err)
			}
			exit := wait(t, p)
			want := "it used more than its memory limit of 192 MiB (" + how + ")"
			if !exit.OutOfMemory || exit.Signal != "SIGKILL" || exit.Reason != want {
				t.Errorf("exit %+v, want out of memory: %s", exit, want)
			}
			if got := do(t, neighbour, arguments{"do": "echo", "text": "alive"}); got != "alive" {
				t.Errorf("the neighbour says %q", got)
			}
			neighbour.Kill()
			if exit := wait(t, neighbour); exit.OutOfMemory {
				t.Errorf("the neighbour's exit is %+v", exit)
			}
		})
	}
}

func TestForkBombStaysAtItsLimit(t *testing.T) {
	for name, groups := range ways(t) {
		t.Run(name, func(t *testing.T) {
			cfg, _ := setup(t)
			cfg.Cgroups = groups
			neighbour := launch(t, cfg)
			cfg.Limits.Processes = 60
			p := launch(t, cfg)
			if how := mechanism(t, p, "processes"); how == limits.Watchdog {
				start(t, p, arguments{"do": "fork", "number": 150})
				if exit := wait(t, p); !strings.Contains(exit.Reason, "its limit is 60 (watchdog)") {
					t.Errorf("exit %+v", exit)
				}
			} else if got := do(t, p, arguments{"do": "fork", "number": 150}); !strings.Contains(got, "resource temporarily unavailable") {
				t.Errorf("with %s, the plugin has %s", how, got)
			}
			if got := do(t, neighbour, arguments{"do": "echo", "text": "alive"}); got != "alive" {
				t.Errorf("the neighbour says %q", got)
			}
		})
	}
}

func TestOpenFilesFailInThePluginAlone(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Limits.OpenFiles = 100
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "open", "number": 10_000}); !strings.Contains(got, "too many open files") {
		t.Errorf("the plugin has %s", got)
	}
	if got := do(t, p, arguments{"do": "echo", "text": "alive"}); got != "alive" {
		t.Errorf("the call says %q", got)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
}

// A plugin that leaks descriptors runs out of them itself: neither toolhost nor the next process
// has fewer.
func TestDescriptorLeakIsThePluginsProblem(t *testing.T) {
	const limit, each = 100, 30
	cfg, _ := setup(t)
	cfg.Limits.OpenFiles = limit
	p := launch(t, cfg)
	before := len(openFiles(t))
	got := ""
	for range limit/each + 1 {
		if got = do(t, p, arguments{"do": "leak", "number": each}); strings.Contains(got, "too many open files") {
			break
		}
	}
	if !strings.Contains(got, "too many open files") {
		t.Errorf("the plugin has %s", got)
	}
	if after := len(openFiles(t)); after > before {
		t.Errorf("toolhost has %d descriptors, %d before", after, before)
	}
	checkEcho(t, p) // which needs no new one
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	next := launch(t, cfg)
	if got := do(t, next, arguments{"do": "leak", "number": each}); got != "30 leaked, then <nil>" {
		t.Errorf("the next process has %s", got)
	}
}

func TestLargeFileIsThePluginsProblem(t *testing.T) {
	cfg, _ := setup(t)
	neighbour := launch(t, cfg)
	cfg.Limits.FileBytes = 1 << 20
	p := launch(t, cfg)
	got, err := outcome(t.Context(), start(t, p, arguments{"do": "write", "number": 4 << 20}))
	if err == nil && !strings.Contains(got, "1048576 written, then") {
		t.Errorf("the plugin has %s", got)
	}
	if err != nil { // Go programs end by the signal
		if exit := wait(t, p); !strings.Contains(strings.Join(exit.LastStderr, "\n")+exit.Signal, "SIGXFSZ") {
			t.Errorf("exit %+v", exit)
		}
	}
	if got := do(t, neighbour, arguments{"do": "write", "number": 4 << 20}); got != "4194304 written, then <nil>" {
		t.Errorf("the neighbour has %s", got)
	}
}

func TestBurnerIsThrottled(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Cgroups = ways(t)["with control groups"]
	cfg.Limits.CPUs = 0.05 // so little that it gets more even where forty others want the processors
	p := launch(t, cfg)
	if mechanism(t, p, "cpu") == limits.None {
		return // package limits tests that this is reported
	}
	start(t, p, arguments{"do": "burn"})
	eventually.Holds(t, "it is throttled", func() bool {
		stats, err := filepath.Glob(filepath.Join("/sys/fs/cgroup", "*", "toolhost-*", "i-fault-1-*", "cpu.stat"))
		if err != nil || len(stats) == 0 {
			t.Fatalf("there is no cpu.stat: %v", err)
		}
		for _, path := range stats {
			text, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(text), "nr_throttled") && !strings.Contains(string(text), "nr_throttled 0\n") {
				return true
			}
		}
		return false
	})
}

func TestLimitThatIsRequiredAndCannotBeHeld(t *testing.T) {
	cfg, _ := setup(t)
	cfg.Limits = limits.Config{CPUs: 1, Enforcement: limits.Required}
	if err := refused(t, cfg); !strings.Contains(err.Error(), "the limit cpu=1 is required and cannot be held here") {
		t.Errorf("error %q", err)
	}
}

// Its control group finds it where nothing else does.
func TestHiddenGrandchildDiesWithItsControlGroup(t *testing.T) {
	groups := ways(t)["with control groups"]
	if len(groups.Dirs()) == 0 {
		return
	}
	cfg, _ := setup(t)
	cfg.Cgroups, cfg.Limits.Processes = groups, 100
	p := launch(t, cfg)
	pid := parsePID(t, do(t, p, arguments{"do": "spawn", "text": "bare"}))
	p.Kill()
	wait(t, p)
	if proc.Alive(pid) {
		t.Errorf("process %d is alive", pid)
	}
}
