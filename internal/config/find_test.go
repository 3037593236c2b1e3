package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/settings"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name  string
		files []string          // below the temporary folder
		env   map[string]string // values below the temporary folder too
		want  string
	}{
		{"none", nil, map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "xdg"}, ""},
		{"no environment", nil, nil, ""},
		{"here first", []string{"cwd/toolhost.yaml", "xdg/toolhost/toolhost.yaml"}, map[string]string{"XDG_CONFIG_HOME": "xdg"}, "cwd/toolhost.yaml"},
		{"xdg", []string{"xdg/toolhost/toolhost.yaml", "home/.config/toolhost/toolhost.yaml"}, map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "xdg"}, "xdg/toolhost/toolhost.yaml"},
		{"home", []string{"home/.config/toolhost/toolhost.yaml"}, map[string]string{"HOME": "home"}, "home/.config/toolhost/toolhost.yaml"},
		{"not home if xdg is set", []string{"home/.config/toolhost/toolhost.yaml"}, map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "xdg"}, ""},
		{"a file in the way", []string{"xdg"}, map[string]string{"XDG_CONFIG_HOME": "xdg"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range test.files {
				write(t, filepath.Join(dir, file))
			}
			getenv := func(name string) string {
				if value, ok := test.env[name]; ok {
					return filepath.Join(dir, value)
				}
				return ""
			}
			got, err := config.Find(getenv, filepath.Join(dir, "cwd"))
			if err != nil {
				t.Fatal(err)
			}
			if want := test.want; want != "" && got != filepath.Join(dir, want) || want == "" && got != "" {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

func TestFindPassesOverARelativeXDGFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, filepath.Join("xdg", "toolhost", "toolhost.yaml"))
	got, err := config.Find(func(string) string { return "xdg" }, filepath.Join(dir, "cwd"))
	if got != "" || err != nil {
		t.Errorf("found %q, %v", got, err)
	}
}

func TestFindRefusesAFileThatEverybodyMayChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "toolhost.yaml")
	write(t, path)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := config.Find(func(string) string { return "" }, dir)
	if got != "" || err == nil || !strings.Contains(err.Error(), "chmod o-w "+path) {
		t.Errorf("found %q, %v", got, err)
	}
}

// owned is a file of some user.
type owned struct {
	os.FileInfo
	uid int
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: uint32(o.uid)} }

func TestOnlyOneselfAndRootAreTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolhost.yaml")
	write(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for uid, trusted := range map[int]bool{0: true, os.Getuid(): true, os.Getuid() + 1: false} {
		if err := settings.Trusted(path, owned{info, uid}); (err == nil) != trusted {
			t.Errorf("a file of user %d: %v", uid, err)
		}
	}
}
