package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServeOptions(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	options, err := Flags{Plugins: []string{"a", "/b"}}.Options(env(map[string]string{"HOME": "/home/x", "XDG_RUNTIME_DIR": "/run/x"}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(here, "a"), "/b"}, options.Folders); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if options.listen.String() != "unix:///run/x/toolhost/toolhost.sock" || options.State != "/home/x/.local/state/toolhost" ||
		options.Workspace.Folder != here || options.logLevels.Of("server", "") != slog.LevelInfo {
		t.Errorf("the defaults are %+v", options)
	}
	tcp := Flags{Plugins: []string{"a"}, Listen: "127.0.0.1:0"}
	if _, err := tcp.Options(env(nil)); err == nil || !strings.Contains(err.Error(), "admits: caller") {
		t.Errorf("a TCP port that nobody asked to be insecure: %v", err)
	}
	tcp.Config = filepath.Join(t.TempDir(), "toolhost.yaml")
	if err := os.WriteFile(tcp.Config, []byte("insecure: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if options, err := tcp.Options(env(nil)); err != nil || options.listen.String() != "127.0.0.1:0" {
		t.Errorf("a TCP port that may be insecure: %v, %v", options.listen, err)
	}
	options, err = Flags{Plugins: []string{"a"}, Listen: "unix:///l.sock", StateDir: "s", Workspace: "w", Level: "debug"}.Options(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if options.listen.String() != "unix:///l.sock" || options.State != filepath.Join(here, "s") ||
		options.Workspace.Folder != filepath.Join(here, "w") || options.logLevels.Of("server", "") != slog.LevelDebug {
		t.Errorf("got %+v", options)
	}
	for _, tc := range []struct {
		variable, value, want string
	}{{"HOME", "/home/x", "/home/x/.local/state/toolhost"}, {"HOME", "", "/state"}, {"XDG_STATE_HOME", "/st", "/st/toolhost"}} {
		options, err := Flags{Plugins: []string{"a"}}.Options(env(map[string]string{tc.variable: tc.value, "XDG_RUNTIME_DIR": "/run/x"}))
		if err != nil || !strings.HasSuffix(options.State, tc.want) {
			t.Errorf("with %s=%s the state is in %s: %v", tc.variable, tc.value, options.State, err)
		}
	}
}
