//go:build linux && (amd64 || arm64)

package escape_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/tool"
)

// plugins are the further names under which the escapeplugin is installed, each with its settings.
var plugins = map[string]string{
	"neighbour": `{}`,
	"guest":     `{sandbox: {network: true, workspace: read}}`,
	"free":      `{sandbox: {mode: off}}`,
	"hog":       `{limits: {memory: 128MiB, processes: 40, open_files: 64, file_size: 8MiB}, backoff: {initial: 10ms, max: 50ms}}`,
}

// settings is toolhost.yaml.
func (w *world) settings() string {
	text := fmt.Sprintf(`workspace: %s
policy: {rules: [{name: everything, when: "true", then: allow}]}
secrets: {TOKEN: {file: %s, plugins: [escapeplugin]}}
audit: {log: all}
plugin:
`, w.path("work"), w.path("secrets/token"))
	for name, settings := range plugins {
		text += "  " + name + ": " + settings + "\n"
	}
	return text
}

// installPlugins installs the plugins: the escapeplugin under its own name, and the same program
// under other names.
func (w *world) installPlugins(t *testing.T) {
	t.Helper()
	install := func(from, to string) {
		data, err := os.ReadFile(filepath.Join(bin, from))
		if err == nil {
			err = programs.Write(w.path("plugins", to), data, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"fs", "shell", "escapeplugin"} {
		install(name, name)
	}
	for name := range plugins {
		if err := os.Mkdir(w.path("plugins", name), 0o700); err != nil {
			t.Fatal(err)
		}
		install("escapeplugin", name+"/program")
		w.file(t, "plugins/"+name+"/plugin.yaml", "name: "+name+"\ncommand: [./program, "+name+"]\n")
	}
}

// toolhost is a running `toolhost serve` of a world.
type toolhost struct {
	*world
	socket string
	cmd    *exec.Cmd
	stderr *syncbuf.Buffer
	exited <-chan struct{} // closed when the process has exited
	client *client.Client
	layers map[string]tool.Sandbox // of plugins that were queried

	neighbour                     int // the process of another plugin
	neighbourSocket, neighbourTmp string
}

// command prepares a command of toolhost that runs as the user of this world.
func (w *world) command(ctx context.Context, before []string, args ...string) *exec.Cmd {
	argv := append(before, append([]string{filepath.Join(w.bin, "toolhost")}, args...)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = w.base
	cmd.Env = []string{"HOME=" + w.path("home"), "TMPDIR=" + w.path("run"), "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "SECRET=" + w.canary}
	if os.Getuid() != w.uid {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}}
	}
	return cmd
}

// serve starts toolhost, returns once it is ready, and stops it at the end of the test. before is a
// command that executes toolhost, or empty.
func (w *world) serve(t *testing.T, before ...string) *toolhost {
	t.Helper()
	h := &toolhost{world: w, socket: w.path("api.sock"), stderr: &syncbuf.Buffer{}, layers: map[string]tool.Sandbox{}}
	addr := "unix://" + h.socket
	h.cmd = w.command(context.Background(), before, "serve", "--config", w.path("toolhost.yaml"), "--plugins", w.path("plugins"), "--listen", addr, "--state", w.path("state"))
	h.cmd.Args = append(h.cmd.Args, w.more...)
	h.cmd.Stderr = h.stderr
	line, exited, err := programs.Start(h.cmd)
	if err != nil {
		t.Fatal(err)
	}
	h.exited = exited
	t.Cleanup(func() {
		h.stop()
		if t.Failed() {
			t.Logf("toolhost's log:\n%s", h.stderr)
		}
	})
	if !strings.Contains(line, addr) {
		t.Fatalf("toolhost says %q\n%s", line, h.stderr)
	}
	if h.client, err = client.Dial(addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.client.Close() })
	return h
}

// stop ends toolhost.
func (h *toolhost) stop() {
	h.cmd.Process.Signal(syscall.SIGTERM)
	<-h.exited
}

// call makes a call and returns its outcome.
func (h *toolhost) call(t *testing.T, name string, arguments any) (tool.Outcome, error) {
	t.Helper()
	encoded, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	shown := 64 << 10
	return h.client.Call(ctx, tool.Call{Tool: name, Arguments: encoded, MaxShown: &shown})
}

// try lets a plugin make an attempt, and returns the result.
func (h *toolhost) try(t *testing.T, plugin, do string, with ...string) (answer string, err error) {
	t.Helper()
	outcome, err := h.call(t, plugin, map[string]any{"do": do, "with": with})
	if err != nil {
		t.Fatalf("calling %s to %s %q: %v", plugin, do, with, err)
	}
	var out struct{ Answer, Error string }
	if text := outcome.Result.Text(); outcome.Result.IsError || json.Unmarshal([]byte(text), &out) != nil {
		t.Fatalf("%s answers %q when it is to %s %q", plugin, text, do, with)
	}
	if out.Error != "" {
		err = errors.New(out.Error)
	}
	return out.Answer, err
}

// settle starts another plugin, whose files and processes the attempts must not reach.
func (h *toolhost) settle(t *testing.T) {
	t.Helper()
	environment, err := h.try(t, "neighbour", "environment")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(environment) {
		if tmp, ok := strings.CutPrefix(strings.TrimSpace(line), "TMPDIR="); ok {
			h.neighbourTmp = tmp
		}
	}
	if err := os.WriteFile(filepath.Join(h.neighbourTmp, "note"), []byte(h.canary), 0o644); err != nil {
		t.Fatal(err)
	}
	// Its socket loses its name once toolhost is connected. The test puts another socket in its
	// place.
	folders, err := filepath.Glob(filepath.Join(filepath.Dir(h.neighbourTmp), "plugin-dir*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("the folders of another plugin's socket are %q, %v", folders, err)
	}
	h.neighbour, h.neighbourSocket = h.instance(t, "neighbour").PID, filepath.Join(folders[0], "plugin")
	h.listen(t, "unix", h.neighbourSocket)
}

// layer returns a layer of a plugin's instance, as `toolhost ps` shows it. If toolhost does not
// show the layer, the result has only the name.
func (h *toolhost) layer(t *testing.T, plugin, name string) tool.SandboxLayer {
	t.Helper()
	if _, known := h.layers[plugin]; !known {
		h.layers[plugin] = *h.instance(t, plugin).Sandbox
	}
	for _, layer := range h.layers[plugin].Layers {
		if layer.Name == name {
			return layer
		}
	}
	return tool.SandboxLayer{Name: name}
}

// instanceOf starts an instance of a plugin and returns its sandbox.
func (h *toolhost) instanceOf(t *testing.T, plugin string) tool.Sandbox {
	t.Helper()
	if _, err := h.try(t, plugin, "environment"); err != nil {
		t.Fatal(err)
	}
	return *h.instance(t, plugin).Sandbox
}

// instance returns the entry of the plugin's only instance in `toolhost ps`.
func (h *toolhost) instance(t *testing.T, plugin string) tool.InstanceInfo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := h.command(ctx, nil, "ps", plugin, "-o", "json", "--addr", "unix://"+h.socket).Output()
	var found []tool.InstanceInfo
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil || len(found) != 1 || found[0].Sandbox == nil {
		t.Fatalf("toolhost ps %s says %s, %v", plugin, out, err)
	}
	return found[0]
}
