package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// prepareShell returns a toolhost that has not been started, with the shell tool and only the given
// sandbox settings.
func prepareShell(t *testing.T, sandbox string) *toolhost {
	t.Helper()
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "others", "shell"), filepath.Join(h.plugins, "shell")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), "defaults: {sandbox: {"+sandbox+"}}\n", 0o600)
	return h
}

// shell runs a command line in the plugin.
func (h *toolhost) shell(t *testing.T, line string) string {
	t.Helper()
	// An approval applies to the exact arguments, so they include the defaults of the schema.
	arguments, err := json.Marshal(map[string]any{"command": line, "timeout_seconds": 120, "working_directory": "."})
	if err != nil {
		t.Fatal(err)
	}
	out, r := h.callJSON(t, "--approve", "shell", string(arguments))
	if out.Error != nil {
		t.Fatalf("%s: %s", line, r.stdout)
	}
	return out.Text
}

func (h *toolhost) sandboxOf(t *testing.T, plugin string) tool.Sandbox {
	t.Helper()
	var found []tool.InstanceInfo
	if err := json.Unmarshal([]byte(h.do(t, "ps", plugin, "-o", "json").stdout), &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Sandbox == nil {
		t.Fatalf("%+v", found)
	}
	return *found[0].Sandbox
}

// Without configuration, a plugin sees its workspace and its own folder, and no other file of the
// operator. All mechanisms are shown.
func TestSandboxIsTheDefault(t *testing.T) {
	t.Parallel()
	h := prepareShell(t, "")
	write(t, filepath.Join(h.home, "diary"), "dear diary", 0o600)
	h.serve(t)
	says := h.shell(t, `echo mine > note; cat note; cat ../diary; ls "$HOME"; echo x > "$TMPDIR/x" && echo own; ls `+h.state+` `+h.plugins+`; ls -d /root /var /run /home`)
	if !strings.Contains(says, "mine") || !strings.Contains(says, "own") {
		t.Errorf("it cannot work: %s", says)
	}
	for _, secret := range []string{"dear diary", "calls.db", "calculator", "/root\n", "/var\n", "/run\n", "/home\n"} {
		if strings.Contains(strings.SplitN(says, "stderr:", 2)[0], secret) {
			t.Errorf("it sees %q: %s", secret, says)
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.workspace, "note")); err != nil || string(text) != "mine\n" {
		t.Errorf("in the workspace is %q, %v", text, err)
	}
	s := h.sandboxOf(t, "shell")
	if s.Mode != "on" && s.Mode != "required" || s.Network || s.Workspace != tool.AccessWrite || len(s.Layers) != 7 {
		t.Errorf("the sandbox is %+v", s)
	}
	for _, layer := range s.Layers {
		if !layer.Effective {
			t.Logf("this machine does not give the layer %q: %s", layer.Name, layer.Note)
		}
		h.do(t, "ps", "--wide").says(t, layer.Name+" (")
		h.do(t, "why", "shell").says(t, layer.Name+" (")
	}
}

// toolhost does not answer processes of its plugins, not even those without a sandbox.
func TestToolhostDoesNotAnswerItsPlugins(t *testing.T) {
	t.Parallel()
	h := prepareShell(t, "mode: off")
	h.serve(t)
	client := "TOOLHOST_ADDR=" + h.addr + " " + filepath.Join(bin, "toolhost") + " plugins 2>&1"
	for name, line := range map[string]string{
		"itself": client,
		// "; true" keeps the shell, so that setsid is no group leader, does not fork, and waits.
		"in a session of its own":          "setsid sh -c '" + client + "'; true",
		"as an orphan without environment": "rm -f said; env -i setsid sh -c '(sleep 0.2; " + client + " > said; mv said done) &'; while ! [ -e done ]; do sleep 0.01; done; cat done; rm done",
	} {
		if says := h.shell(t, line); !strings.Contains(says, "does not answer processes of its plugins") {
			t.Errorf("%s: %s", name, says)
		}
	}
	h.do(t, "plugins").exits(t, 0) // other processes are answered
}

func TestSocketOfToolhostIsOutOfSight(t *testing.T) {
	t.Parallel()
	h := prepareShell(t, "read: ["+bin+"]")
	// the workspace contains the socket, the state and the configuration
	h.serve(t, "--workspace", h.home)
	says := h.shell(t, "TOOLHOST_ADDR="+h.addr+" "+filepath.Join(bin, "toolhost")+" plugins 2>&1; ls state; echo x >> toolhost.yaml; rm -r plugins; mv plugins p")
	if !strings.Contains(says, "no toolhost answers") || strings.Contains(says, "calls.db") {
		t.Errorf("it says %s", says)
	}
	config, err := os.ReadFile(filepath.Join(h.home, "toolhost.yaml"))
	if err != nil || strings.HasSuffix(string(config), "x\n") {
		t.Errorf("the configuration is %q, %v", config, err)
	}
	if _, err := os.Stat(filepath.Join(h.plugins, "shell")); err != nil {
		t.Error(err)
	}
}

// A request alone grants nothing, and the operator sees what would grant it.
func TestWhatIsAskedAndNotGrantedIsShown(t *testing.T) {
	t.Parallel()
	h := prepareShell(t, "workspace: read")
	folder := filepath.Join(h.plugins, "asking")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Remove(filepath.Join(h.plugins, "calculator"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "plugin.yaml"), "command: [./run]\npermissions: {network: true, workspace: write, read: [/srv/models]}\n", 0o600)
	program, err := os.ReadFile(filepath.Join(bin, "plugins", "calculator"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "run"), string(program), 0o700)
	h.serve(t)
	h.do(t, "why", "calculator").says(t, "asked for and not granted", "plugin.calculator.sandbox.network: true",
		"plugin.calculator.sandbox.workspace: write", "plugin.calculator.sandbox.read: [/srv/models]")
	h.do(t, "plugins").says(t, "asks for the network, to write in the workspace, to read /srv/models, which is not granted")
	h.do(t, "call", "calculator", `{"expression":"1+1"}`).says(t, "2")
	if s := h.sandboxOf(t, "calculator"); s.Network || s.Workspace != tool.AccessRead || slices.Contains(s.Read, "/srv/models") {
		t.Errorf("the sandbox is %+v", s)
	}
}
