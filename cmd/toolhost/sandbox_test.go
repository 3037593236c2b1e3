package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/conformance"
	"github.com/toolhost/toolhost/tool"
)

func TestSandboxInWords(t *testing.T) {
	s := &tool.Sandbox{
		Mode: "required", Network: true, Workspace: tool.AccessWrite, Read: []string{"/r"}, Write: []string{"/w"},
		Walls: []tool.Wall{{Name: "files", Effective: true, Mechanism: "mount namespace"}, {Name: "ipc", Note: "why"}, {Name: "pid", Effective: true, Mechanism: "m", Note: "but"}},
	}
	for got, want := range map[string]string{
		wallsOf(nil):                        "-",
		wallsOf(&tool.Sandbox{Mode: "off"}): "off",
		wallsOf(s):                          "required, without ipc",
		sandboxOf(nil) + " ":                "- ",
		sandboxOf(&tool.Sandbox{Mode: "off"}) + " ": "off ",
		sandboxOf(s): "required; workspace write, network, reads /r, writes /w, files (mount namespace), ipc (not effective: why), pid (m: but)",
		askedInVain([]tool.Ungranted{{Request: "the network"}, {Request: "to read /x"}}): "asks for the network, to read /x, which is not granted",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var b strings.Builder
	(&explanation{plugin: tool.PluginInfo{Ungranted: []tool.Ungranted{{Request: "the network", Grant: "plugin.p.sandbox.network: true"}}}}).writeRequests(&b)
	if want := "\nasked for and not granted\n  the network; in toolhost.yaml: plugin.p.sandbox.network: true\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// Plugins get the workspace, and so it must not be what they are never to get.
func TestWorkspaceIsNotToolhostsOwn(t *testing.T) {
	state := t.TempDir()
	inside := filepath.Join(state, "work")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{state, inside} {
		if err := checkWorkspace(dir, state); err == nil || !strings.Contains(err.Error(), "not for plugins") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := checkWorkspace(state, inside); err != nil {
		t.Errorf("state inside of the workspace: %v", err)
	}
}

// What is toolhost's own is out of sight, and what it goes by cannot be changed.
func TestGroundsAreToolhostsOwn(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "toolhost.yaml")
	text := "plugins: [plugins]\nlisten: unix:///run/t.sock\nstate: state\nworkspace: .\naudit: {file: audit}\nsecrets: {key: {file: secret, plugins: [p]}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	if err := trustStore(getenv).TrustFile(file, []byte(text)); err != nil { // it is in the workspace
		t.Fatal(err)
	}
	options, err := serveFlags{config: file}.options(getenv)
	if err != nil {
		t.Fatal(err)
	}
	own := groundsOf(options)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, path := range []string{at("state"), at("secret"), "/run/t.sock", at("home/.local/state/toolhost")} {
		if !slices.Contains(own.hidden, path) {
			t.Errorf("%s is not hidden: %q", path, own.hidden)
		}
	}
	for _, path := range []string{file, at("plugins"), at("audit"), at("toolhost.lock"), at("home/.config/toolhost")} {
		if !slices.Contains(own.protected, path) {
			t.Errorf("%s is not protected: %q", path, own.protected)
		}
	}
	granted := config.Sandbox{Mode: "on", Network: true, Workspace: "write", Read: []string{"/r"}, Write: []string{"/w"}}
	if s := own.sandbox(granted); s.Workspace != dir || s.WorkspaceAccess != tool.AccessWrite || !s.Network || !slices.Equal(s.Write, []string{"/w"}) {
		t.Errorf("the sandbox is %+v", s)
	}
	if s := own.question(granted); s.WorkspaceAccess != tool.AccessNone || s.Network || len(s.Write) > 0 || !slices.Equal(s.Read, []string{"/r", "/w"}) || s.Mode != "on" {
		t.Errorf("the sandbox of one that is asked what it is is %+v", s)
	}
}

// A toolhost with flags of its own, as agentd starts it, keeps plugins from what the toolhost without them uses.
func TestGroundsOfOtherToolhosts(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{at("plugins"), at("known"), at("build")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("build/p"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(elsewhere, "p")
	if err := os.Symlink(at("build/p"), link); err != nil {
		t.Fatal(err)
	}
	file := at("toolhost.yaml")
	text := "plugins: [plugins]\nlisten: unix:///run/t.sock\nstate: state\nlock_file: pins\nworkspace: .\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	store := trustStore(getenv)
	if err := store.TrustFile(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
	gone := at("gone")
	if err := store.Begin([]string{at("known"), dir, gone}, nil); err != nil { // dir is the workspace, too
		t.Fatal(err)
	}
	flags := serveFlags{
		config: file, plugins: []string{elsewhere}, stateDir: filepath.Join(elsewhere, "state"),
		listen: "unix:///run/other.sock", lockFile: filepath.Join(elsewhere, "pins"), hide: []string{at("runs.db")},
	}
	options, err := flags.options(getenv)
	if err != nil {
		t.Fatal(err)
	}
	s := groundsOf(options).sandbox(config.Sandbox{Mode: "on", Workspace: "write"})
	for _, path := range []string{at("state"), "/run/t.sock", filepath.Join(elsewhere, "state"), at("runs.db")} {
		if !slices.Contains(s.Hidden, path) {
			t.Errorf("%s is not hidden: %q", path, s.Hidden)
		}
	}
	for _, path := range []string{at("plugins"), at("known"), at("pins"), elsewhere, link} {
		if !slices.Contains(s.Protected, path) {
			t.Errorf("%s is not protected: %q", path, s.Protected)
		}
	}
	for _, path := range []string{dir, gone} {
		if slices.Contains(s.Protected, path) {
			t.Errorf("%s is protected: %q", path, s.Protected)
		}
	}
}

// Who makes calls, and who writes a plugin, learns what calls share.
func TestIsolationIsShown(t *testing.T) {
	w := &explanation{plugin: tool.PluginInfo{Name: "p", Isolation: "shared"}}
	if text := w.text(); !strings.Contains(text, "isolation   shared: calls of all callers and sessions can meet in one process") {
		t.Errorf("why says\n%s", text)
	}
	var out strings.Builder
	if err := (&verifyText{out: &out}).write("/p", &conformance.Report{Plugin: "p", Isolation: "session"}); err != nil || !strings.Contains(out.String(), "; isolation: session: calls of one session share a process") {
		t.Errorf("verify says\n%s\n%v", &out, err)
	}
}
