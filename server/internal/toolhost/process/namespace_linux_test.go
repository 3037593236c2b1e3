package process_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/process/pidns"
)

// namespaces reports whether this machine can make PID namespaces.
func namespaces() bool {
	given := make(chan bool)
	pidns.Go(func() (reusable bool) {
		n, err := pidns.New(nil, 0)
		if err == nil {
			n.Close()
		}
		given <- err == nil
		return true
	})
	return <-given
}

// setupNamespaced is setup for a plugin in a PID namespace. If this machine has no such namespaces,
// it checks that toolhost reports that, and returns false.
func setupNamespaced(t *testing.T, flags ...string) (process.Config, bool) {
	t.Helper()
	cfg, _ := setup(t)
	cfg.PIDNamespace = process.NamespaceRequired
	if namespaces() {
		cfg.Args = append(cfg.Args, flags...)
		return cfg, true
	}
	if err := refused(t, cfg); !strings.Contains(err.Error(), "PID namespace") {
		t.Errorf("error %q", err)
	}
	cfg.PIDNamespace = process.NamespaceAuto
	if p := launch(t, cfg); mechanism(t, p, "pid_namespace") != "none" {
		t.Errorf("the limits are %+v", p.Limits())
	}
	return cfg, false
}

// A namespace that was not requested is not reported as missing.
func TestNoNamespaceIsNoLimit(t *testing.T) {
	cfg, _ := setup(t)
	cfg.PIDNamespace = process.NamespaceOff
	if found := launch(t, cfg).Limits(); len(found) > 0 {
		t.Errorf("without any limit there are %+v", found)
	}
}

// A process gets a namespace only if no control group finds its descendants.
func TestNamespaceInsteadOfAGroup(t *testing.T) {
	cfg, layers := setupNamespaced(t)
	cfg.PIDNamespace = process.NamespaceInstead
	want := "none"
	if layers {
		want = "namespace"
	}
	if p := launch(t, cfg); mechanism(t, p, "pid_namespace") != want {
		t.Errorf("without groups the limits are %+v, want a namespace by %q", p.Limits(), want)
	}
	groups := limits.OpenCgroups()
	t.Cleanup(func() { groups.Close() })
	if !groups.FindsAll() {
		return
	}
	cfg.Cgroups = groups
	if p := launch(t, cfg); len(p.Limits()) > 0 {
		t.Errorf("in a group that finds all, the limits are %+v", p.Limits())
	}
}

func TestPluginInANamespaceIsLikeAnyOther(t *testing.T) {
	tests := []struct {
		name   string
		args   arguments
		code   int
		signal string
	}{
		{"exit 3", arguments{"do": "exit", "number": 3}, 3, ""},
		{"it kills itself", arguments{"do": "kill", "number": int(syscall.SIGKILL)}, -1, "SIGKILL"},
		{"it ends itself by SIGTERM", arguments{"do": "kill", "number": int(syscall.SIGTERM)}, -1, "SIGTERM"},
		{"a panic", arguments{"do": "crash", "text": "hull breach"}, 2, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, ok := setupNamespaced(t)
			if !ok {
				return
			}
			p := launch(t, cfg)
			if got := mechanism(t, p, "pid_namespace"); got != "namespace" {
				t.Errorf("the limits are %+v", p.Limits())
			}
			if size, err := p.RSS(); err != nil || size < 1<<20 || !p.Alive() {
				t.Errorf("RSS = %d, %v, alive %v", size, err, p.Alive())
			}
			if _, err := outcome(t.Context(), start(t, p, test.args)); !errors.Is(err, pluginwire.ErrConnLost) {
				t.Errorf("the call ends with %v", err)
			}
			if exit := wait(t, p); exit.Code != test.code || exit.Signal != test.signal || exit.Reason != "" {
				t.Errorf("exit %+v, want code %d, signal %q", exit, test.code, test.signal)
			}
		})
	}
}

func TestStopInANamespace(t *testing.T) {
	for signal, flags := range map[string][]string{
		"": nil, "SIGTERM": {"-ignore-shutdown"}, "SIGKILL": {"-ignore-shutdown", "-ignore-term"},
	} {
		t.Run(signal, func(t *testing.T) {
			cfg, ok := setupNamespaced(t, flags...)
			if !ok {
				return
			}
			if signal == "SIGKILL" {
				cfg.StopTimeout = 100 * time.Millisecond
			}
			p := launch(t, cfg)
			grace := time.Minute
			if signal != "" {
				grace = 100 * time.Millisecond
			}
			if err := p.Stop(t.Context(), grace); err != nil {
				t.Fatal(err)
			}
			if exit := wait(t, p); exit.Signal != signal || exit.Reason != "toolhost stopped it" {
				t.Errorf("exit %+v, want signal %q", exit, signal)
			}
		})
	}
}

func TestHiddenGrandchildDiesWithItsNamespace(t *testing.T) {
	cfg, ok := setupNamespaced(t)
	if !ok {
		return
	}
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "spawn", "text": "bare"}); got == "" {
		t.Fatal("nothing was spawned")
	}
	tree := proc.Tree(p.PID())
	if len(tree) != 2 {
		t.Fatalf("the plugin's processes are %v", tree)
	}
	p.Kill()
	wait(t, p)
	if slices.ContainsFunc(tree, proc.Alive) {
		t.Errorf("of %v some are alive", tree)
	}
}

func TestImpostorInANamespaceIsRefused(t *testing.T) {
	cfg, ok := setupNamespaced(t, "-impostor")
	if !ok {
		return
	}
	if err := refused(t, cfg); !strings.Contains(err.Error(), "which is not of its process") {
		t.Errorf("error %q", err)
	}
}

// playSDKPlugin serves a plugin without a parent-death signal.
func playSDKPlugin() {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0); err != nil {
		panic(err)
	}
	type empty struct{}
	sdk.Serve(sdk.Plugin{Name: "sdk", Version: "1", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "nothing", Description: "Does nothing."}, func(context.Context, empty) (string, error) { return "", nil }),
	}})
}
