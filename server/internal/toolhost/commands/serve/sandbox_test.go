package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Plugins have access to the workspace, so the workspace must not be the state folder.
func TestWorkspaceIsNotTheStateFolder(t *testing.T) {
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

// Plugins do not see toolhost's files, and cannot change its configuration.
func TestSandboxKeepsToolhostsFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "toolhost.yaml")
	text := "plugins: [plugins]\nlisten: unix:///run/t.sock\nstate: state\nworkspace: .\naudit: {file: audit}\nsecrets: {key: {file: secret, plugins: [p]}}\n" +
		"telemetry: {pprof: pprof.sock, headers: {authorization: {file: token}, other: {env: TOKEN}}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	// the file is in the workspace
	if err := trust.NewUserStore(getenv).TrustFile(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
	options, err := Flags{Config: file}.Options(getenv)
	if err != nil {
		t.Fatal(err)
	}
	where := placesOf(options)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, path := range []string{at("state"), at("secret"), at("token"), at("pprof.sock"), "/run/t.sock", at("home/.local/state/toolhost")} {
		if !slices.Contains(where.Hidden, path) {
			t.Errorf("%s is not hidden: %q", path, where.Hidden)
		}
	}
	for _, path := range []string{file, at("plugins"), at("audit"), at("toolhost.lock"), at("home/.config/toolhost")} {
		if !slices.Contains(where.Protected, path) {
			t.Errorf("%s is not protected: %q", path, where.Protected)
		}
	}
	granted := config.Sandbox{Mode: "on", Network: true, Workspace: "write", Read: []string{"/r"}, Write: []string{"/w"}}
	if s := where.Sandbox(granted); s.Workspace != dir || s.WorkspaceAccess != tool.AccessWrite || !s.Network || !slices.Equal(s.Write, []string{"/w"}) {
		t.Errorf("the sandbox is %+v", s)
	}
	if s := where.Question(granted, false); s.WorkspaceAccess != tool.AccessNone || s.Network || len(s.Write) > 0 || !slices.Equal(s.Read, []string{"/r", "/w"}) || s.Mode != "on" {
		t.Errorf("the sandbox of one that is asked what it is is %+v", s)
	}
	if s := where.Question(granted, true); s.WorkspaceAccess != tool.AccessNone || !s.Network || !slices.Equal(s.Write, []string{"/w"}) {
		t.Errorf("the sandbox of a trusted one that is asked what it is is %+v", s)
	}
}

// The programs that the operator starts next are protected, also in the workspace. What the
// operator granted by its own name is not.
func TestSandboxKeepsPrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(self)
	options := Options{Config: config.Config{Workspace: config.Workspace{Folder: dir, Backend: config.LocalBackend}}, getenv: func(string) string { return "" }}
	options.Defaults.Sandbox = config.Sandbox{Mode: "on", Workspace: "write"}
	installed, early := filepath.Join(t.TempDir(), "bin"), filepath.Join(dir, ".venv/bin")
	for _, folder := range []string{installed, early} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(early)) })
	for _, name := range operatorPrograms {
		if err := os.WriteFile(filepath.Join(installed, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	late := filepath.Join(dir, "late")
	t.Setenv("PATH", strings.Join([]string{early, installed, late}, ":"))
	where := placesOf(options)
	if slices.Contains(where.Protected, late) {
		t.Errorf("%s is protected, where neither program would be found: %q", late, where.Protected)
	}
	for _, path := range []string{self, filepath.Join(dir, "toolhost"), filepath.Join(dir, "agentd"), filepath.Join(early, "agentd"), filepath.Join(early, "toolhost")} {
		if !slices.Contains(where.Protected, path) {
			t.Errorf("%s is not protected: %q", path, where.Protected)
		}
	}
}

// A toolhost with flags, as agentd starts it, protects the files that a toolhost without these
// flags uses.
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
	store := trust.NewUserStore(getenv)
	if err := store.TrustFile(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
	gone := at("gone")
	// dir is also the workspace
	if err := store.Begin([]string{at("known"), dir, gone}, nil); err != nil {
		t.Fatal(err)
	}
	flags := Flags{
		Config: file, Plugins: []string{elsewhere}, StateDir: filepath.Join(elsewhere, "state"),
		Listen: "unix:///run/other.sock", LockFile: filepath.Join(elsewhere, "pins"), hide: []string{at("runs.db")},
	}
	options, err := flags.Options(getenv)
	if err != nil {
		t.Fatal(err)
	}
	s := placesOf(options).Sandbox(config.Sandbox{Mode: "on", Workspace: "write"})
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
