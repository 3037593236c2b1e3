//go:build linux && (amd64 || arm64)

package process_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// setupSandboxed is setup for a plugin with all layers that this machine gives.
func setupSandboxed(t *testing.T, flags ...string) process.Config {
	t.Helper()
	cfg, _ := setup(t, flags...)
	cfg.PIDNamespace, cfg.Sandbox.Mode = process.NamespaceAuto, sandbox.ModeOn
	return cfg
}

// layer returns one of a process's layers.
func layer(t *testing.T, s tool.Sandbox, name string) tool.SandboxLayer {
	t.Helper()
	at := slices.IndexFunc(s.Layers, func(w tool.SandboxLayer) bool { return w.Name == name })
	if at < 0 {
		t.Fatalf("there is no layer %q: %+v", name, s.Layers)
	}
	return s.Layers[at]
}

func TestSandboxedPluginWorks(t *testing.T) {
	cfg := setupSandboxed(t)
	p := launch(t, cfg)
	if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
		t.Errorf("the call says %q", got)
	}
	s := p.Sandbox()
	if s.Mode != "on" || s.Network || s.Workspace != tool.AccessNone || len(s.Layers) != 7 {
		t.Errorf("the sandbox is %+v", s)
	}
	for _, w := range s.Layers {
		if !w.Effective {
			t.Logf("this machine does not give the layer %q: %s", w.Name, w.Note)
		}
	}
	if namespaces() && layer(t, s, "pid").Mechanism != "PID namespace" {
		t.Errorf("the PID namespace is not shown: %+v", layer(t, s, "pid"))
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if exit := p.Exit(); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("exit %+v, want a gentle end", exit)
	}
}

// A plugin can read its own files and no others: the script and its folder, but not the files that
// the script names.
func TestSandboxedScriptRunsWhatItWasGranted(t *testing.T) {
	cfg := setupSandboxed(t)
	cfg.Path = script(t, "#!/bin/sh\nexec \"$@\"\n")
	cfg.Args = append([]string{executable(t)}, cfg.Args...)
	err := refused(t, cfg)
	if exit := exitOf(t, err); exit.Code != 127 {
		t.Errorf("exit %+v, want that of a shell that finds no program", exit)
	}
	cfg.Sandbox.Read = []string{executable(t)}
	p := launch(t, cfg)
	if got := p.Sandbox().Read; !slices.Contains(got, executable(t)) {
		t.Errorf("it is shown to read %q", got)
	}
}

// toolhost's copy of a plugin folder may contain links to an interpreter elsewhere.
func TestSandboxedFolderFindsItsInterpreter(t *testing.T) {
	cfg := setupSandboxed(t)
	installed := filepath.Join(t.TempDir(), "installed")
	folder := t.TempDir()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sh)
	if err := errors.Join(err, os.MkdirAll(filepath.Join(installed, "bin"), 0o755), os.MkdirAll(filepath.Join(installed, "lib"), 0o755),
		os.WriteFile(filepath.Join(installed, "bin", "interpreter"), data, 0o755),
		os.WriteFile(filepath.Join(installed, "lib", "module"), []byte("exec \"$@\"\n"), 0o644),
		os.Symlink(filepath.Join(installed, "bin", "interpreter"), filepath.Join(folder, "run"))); err != nil {
		t.Fatal(err)
	}
	cfg.Path, cfg.Dir = filepath.Join(folder, "run"), folder
	cfg.Args = append([]string{filepath.Join(installed, "lib", "module"), executable(t)}, cfg.Args...)
	cfg.Sandbox.Read = []string{executable(t)}
	p := launch(t, cfg)
	if got := p.Sandbox().Read; !slices.Contains(got, installed) {
		t.Errorf("it is shown to read %q, want %s too", got, installed)
	}
}

func TestSandboxThatIsRequiredFailsClosed(t *testing.T) {
	cfg := setupSandboxed(t)
	cfg.Sandbox.Mode, cfg.Sandbox.Read = sandbox.ModeRequired, []string{"/"}
	err := refused(t, cfg)
	if _, ok := errors.AsType[*sandbox.RefusedError](err); !ok || !strings.Contains(err.Error(), "the whole file system was granted") {
		t.Errorf("error %v", err)
	}
	cfg.Sandbox.Mode = sandbox.ModeOn
	p := launch(t, cfg)
	if w := layer(t, p.Sandbox(), "files"); w.Effective || w.Note == "" {
		t.Errorf("the layer is shown as %+v", w)
	}
}

func TestGrantOfWhatIsNotThereFailsTheLaunch(t *testing.T) {
	cfg := setupSandboxed(t)
	cfg.Sandbox.Write = []string{filepath.Join(cfg.RunDir, "missing")}
	if err := refused(t, cfg); !strings.Contains(err.Error(), "missing") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Limits per process hold before the plugin's first instruction.
func TestLimitsHoldBeforeASandboxedPluginRuns(t *testing.T) {
	cfg := setupSandboxed(t)
	cfg.Path = script(t, "#!/bin/sh\necho \"$(ulimit -n) $(ulimit -c)\" >&2\nexit 3\n")
	cfg.Args, cfg.Limits = nil, limits.Config{OpenFiles: 77}
	exit := exitOf(t, refused(t, cfg))
	if exit.Code != 3 || !slices.Equal(exit.LastStderr, []string{"77 0"}) {
		t.Errorf("exit %d, on standard error %q; want the limits 77 and 0", exit.Code, exit.LastStderr)
	}
}

// A plugin that replaces its socket's folder by a link cannot make toolhost remove another file.
func TestSocketIsRemovedInThePluginsFolderAlone(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.ModeOff, sandbox.ModeOn} {
		t.Run(string(mode), func(t *testing.T) {
			cfg := setupSandboxed(t)
			cfg.Sandbox.Mode = mode
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(victim, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			// The handshake names the right socket. Then the plugin replaces the folder.
			cfg.Path = script(t, `#!/bin/sh
"$1" "$2" -elsewhere &
d=$PLUGIN_UNIX_SOCKET_DIR
mkfifo "$d/victim"
rm -r "$d" && ln -s "$VICTIM" "$d"
echo "1|1|unix|$d/victim|grpc"
sleep 5
`)
			cfg.Env = append(cfg.Env, "VICTIM="+filepath.Dir(victim))
			_ = refused(t, cfg)
			if _, err := os.Stat(victim); err != nil {
				t.Errorf("the file of somebody else's: %v", err)
			}
		})
	}
}

// If a layer is shown as a namespace, the process really has that namespace. Granted resources are
// not separated.
func TestSandboxedPluginIsApart(t *testing.T) {
	in := func(pid, name string) string {
		t.Helper()
		link, err := os.Readlink(filepath.Join("/proc", pid, "ns", name))
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	for _, namespace := range []process.NamespaceMode{process.NamespaceAuto, process.NamespaceOff} {
		for _, network := range []bool{false, true} {
			t.Run(fmt.Sprintf("PID namespace %s, network %t", namespace, network), func(t *testing.T) {
				cfg := setupSandboxed(t)
				cfg.PIDNamespace, cfg.Sandbox.Network = namespace, network
				p := launch(t, cfg)
				pid := strconv.Itoa(p.PID())
				want := map[string]bool{"net": false, "ipc": layer(t, p.Sandbox(), "ipc").Mechanism == "IPC namespace", "mnt": layer(t, p.Sandbox(), "files").Effective}
				if !network {
					want["net"] = layer(t, p.Sandbox(), "network").Mechanism == "network namespace"
				}
				for name, apart := range want {
					if theirs, ours := in(pid, name), in("self", name); (theirs != ours) != apart {
						t.Errorf("it is in %s and toolhost in %s, want them apart: %t; the layers are %+v", theirs, ours, apart, p.Sandbox().Layers)
					}
				}
			})
		}
	}
}
