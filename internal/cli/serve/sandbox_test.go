package serve

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/internal/trust"
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
	defaults := sandboxDefaultsOf(options)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, path := range []string{at("state"), at("secret"), at("token"), at("pprof.sock"), "/run/t.sock", at("home/.local/state/toolhost")} {
		if !slices.Contains(defaults.hidden, path) {
			t.Errorf("%s is not hidden: %q", path, defaults.hidden)
		}
	}
	for _, path := range []string{file, at("plugins"), at("audit"), at("toolhost.lock"), at("home/.config/toolhost")} {
		if !slices.Contains(defaults.protected, path) {
			t.Errorf("%s is not protected: %q", path, defaults.protected)
		}
	}
	granted := config.Sandbox{Mode: "on", Network: true, Workspace: "write", Read: []string{"/r"}, Write: []string{"/w"}}
	if s := defaults.sandbox(granted); s.Workspace != dir || s.WorkspaceAccess != tool.AccessWrite || !s.Network || !slices.Equal(s.Write, []string{"/w"}) {
		t.Errorf("the sandbox is %+v", s)
	}
	if s := defaults.question(granted); s.WorkspaceAccess != tool.AccessNone || s.Network || len(s.Write) > 0 || !slices.Equal(s.Read, []string{"/r", "/w"}) || s.Mode != "on" {
		t.Errorf("the sandbox of one that is asked what it is is %+v", s)
	}
}

// The programs that the operator starts next are protected, also in the workspace. What the operator
// granted by its own name is not.
func TestSandboxKeepsPrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(self)
	options := Options{Config: config.Config{Workspace: config.Workspace{Folder: dir, Backend: config.LocalBackend}}, getenv: func(string) string { return "" }}
	options.Defaults.Sandbox = config.Sandbox{Mode: "on", Workspace: "write"}
	defaults := sandboxDefaultsOf(options)
	for _, path := range []string{self, filepath.Join(dir, "toolhost"), filepath.Join(dir, "agentd")} {
		if !slices.Contains(defaults.protected, path) {
			t.Errorf("%s is not protected: %q", path, defaults.protected)
		}
	}
}

// What plugins execute is protected by each name on the way to it. Where the folder of a name was
// granted itself, the name stays, and the sandbox refuses it.
func TestSandboxKeepsWhatPluginsExecute(t *testing.T) {
	root := withoutLinks(t.TempDir())
	at := func(path string) string { return filepath.Join(root, path) }
	for _, dir := range []string{"ws/dist/v1", "ws/venv/bin", "ws/path", "ws/early", "bin", "plugins"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"ws/dist/v1/main": "", "ws/dist/twice": "", "ws/top": "", "ws/path/py": "", "ws/venv/bin/py": "",
		"plugins/direct": "#!" + at("ws/venv/bin/py") + "\n", "plugins/env": "#!/usr/bin/env py\n",
		"bin/other": "#!/usr/bin/env last\n", "bin/last": "", "plugins/split": "#!/usr/bin/env -S A=b other -x\n", "plugins/top": "#!" + at("ws/top") + "\n",
	} {
		if err := os.WriteFile(at(path), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"ws/dist/v1/cur": "main", "ws/latest": "dist", "plugins/away": at("ws/latest/v1/cur")} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"ws/dist/twice": "plugins/other", "ws/top": "plugins/second"} {
		if err := os.Link(at(from), at(to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../early", at("ws/dist/early")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", strings.Join([]string{"relative", at("ws/path"), at("bin"), at("ws/early")}, ":"))
	early := strings.Join([]string{at("ws/none/bin"), at("ws/dist/early"), at("bin")}, ":")
	for name, test := range map[string]struct {
		plugin   catalog.Plugin
		writable string // ws by default
		want     []string
	}{
		"a free name in PATH":            {catalog.Plugin{Path: at("plugins/split")}, "", []string{"ws/path/other", "ws/path/last"}},
		"the name of a command in PATH":  {catalog.Plugin{Path: at("bin/last"), Manifest: &manifest.Manifest{Command: []string{"last"}}}, "", []string{"ws/path/last"}},
		"a free name in a PATH of links": {catalog.Plugin{Path: at("plugins/split"), Env: []string{early}}, "", []string{"ws/none", "ws/dist", "ws/early/other", "ws/early/last"}},
		"a file":                         {catalog.Plugin{Outside: []string{at("ws/dist/v1/main")}}, "", []string{"ws/dist/v1/main"}},
		"a link":                         {catalog.Plugin{Outside: []string{at("ws/dist/v1/cur")}}, "", []string{"ws/dist/v1", "ws/dist/v1/main"}},
		"a link directly in the grant":   {catalog.Plugin{Outside: []string{at("ws/latest")}}, "", []string{"ws/latest", "ws/dist"}},
		"links on the way":               {catalog.Plugin{Outside: []string{at("plugins/away")}}, "", []string{"ws/latest", "ws/dist/v1", "ws/dist/v1/main"}},
		"a file that is not there yet":   {catalog.Plugin{Outside: []string{at("ws/dist/new/main")}}, "", []string{"ws/dist/new"}},
		"a second name":                  {catalog.Plugin{Outside: []string{at("ws/dist/twice")}}, "", []string{"ws/dist"}},
		"a second name in the grant":     {catalog.Plugin{Outside: []string{at("ws/top")}}, "", []string{"ws/top"}},
		"the interpreter of a script":    {catalog.Plugin{Path: at("plugins/direct")}, "", []string{"ws/venv/bin/py"}},
		"an interpreter in PATH":         {catalog.Plugin{Path: at("plugins/env")}, "", []string{"ws/path/py"}},
		"an interpreter with two names":  {catalog.Plugin{Path: at("plugins/top")}, "", []string{"ws/top"}},
		"the folder of it is granted":    {catalog.Plugin{Path: at("plugins/env")}, "ws/path", []string{"ws/path/py"}},
		"it is granted by its own name":  {catalog.Plugin{Path: at("plugins/env")}, "ws/path/py", nil},
		"it is outside of what is given": {catalog.Plugin{Path: at("plugins/env")}, "ws/dist", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			if len(test.plugin.Env) > 0 {
				t.Setenv("PATH", test.plugin.Env[0])
			}
			test.plugin.Path = cmp.Or(test.plugin.Path, at("plugins/none"))
			for _, path := range (sandboxDefaults{writable: []string{at(cmp.Or(test.writable, "ws"))}}).executed([]*catalog.Plugin{&test.plugin}) {
				got = append(got, strings.TrimPrefix(path, root+"/"))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	// A second name of the operator's own program may be in any folder, so the sandbox refuses it.
	if got := (sandboxDefaults{writable: []string{at("ws")}}).protectable([]string{at("ws/dist/twice")}, true); !slices.Equal(got, []string{at("ws/dist/twice")}) {
		t.Errorf("for the operator's own: %q", got)
	}
	if got := ownPrograms([]string{at("ws/latest/v1/cur")}); !slices.Contains(got, at("ws/latest")) || !slices.Contains(got, at("ws/dist/v1/cur")) {
		t.Errorf("a program that was started by links: %q", got)
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
	s := sandboxDefaultsOf(options).sandbox(config.Sandbox{Mode: "on", Workspace: "write"})
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
