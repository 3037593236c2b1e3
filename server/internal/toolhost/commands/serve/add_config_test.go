package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// TestAddConfig checks that adding to toolhost.yaml keeps everything else, the trust of the file,
// and can be undone.
func TestAddConfig(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	secret := Addition{Path: []string{"secrets", "token"}, Value: `{plugins: [web], env: TOKEN}`}
	network := Addition{Path: []string{"plugin", "web", "sandbox", "network"}, Value: "true"}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}

	change, err := AddConfig(getenv, "", []Addition{secret, network})
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(home, ".config", "toolhost", "toolhost.yaml")
	if change.Path != want || !strings.Contains(read(want), "network: true") {
		t.Errorf("%s has %s", change.Path, read(change.Path))
	}
	if err := change.Undo(); err != nil || !strings.Contains(read(want), "no such file") {
		t.Errorf("undone: %v, %s", err, read(want))
	}

	file := filepath.Join(home, "toolhost.yaml")
	const before = "# mine\nsecrets: {other: {plugins: [x], env: X}} # kept\nstate: /tmp/x\n"
	if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	store := trust.NewUserStore(getenv)
	if err := store.TrustFile(file, []byte(before)); err != nil {
		t.Fatal(err)
	}
	if change, err = AddConfig(getenv, file, []Addition{secret, network}); err != nil {
		t.Fatal(err)
	}
	after := read(file)
	for _, kept := range []string{"# mine\n", "other: {plugins: [x], env: X}} # kept\nstate: /tmp/x\n", "token: {plugins: [web], env: TOKEN}"} {
		if !strings.Contains(after, kept) {
			t.Errorf("%q is not in %s", kept, after)
		}
	}
	if known, ok, err := store.File(file); err != nil || !ok || known.Digest != trust.Digest([]byte(after)) {
		t.Errorf("the record is %v, %v, %v", known, ok, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if _, err := AddConfig(getenv, file, []Addition{secret}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("again: %v", err)
	}
	if err := change.Undo(); err != nil || read(file) != before {
		t.Errorf("undone: %v, %s", err, read(file))
	}
	if known, _, err := store.File(file); err != nil || known.Digest != trust.Digest([]byte(before)) {
		t.Errorf("the record is %v, %v", known, err)
	}
	for _, bad := range []Addition{{Path: []string{"state"}, Value: "x"}, {Path: []string{"nonsense"}, Value: "x"}, {Path: []string{"secrets", "b"}, Value: "{}\nlog: {level: debug}"}} {
		if _, err := AddConfig(getenv, file, []Addition{bad}); err == nil || read(file) != before {
			t.Errorf("%v: %v, %s", bad, err, read(file))
		}
	}
	if _, err := AddConfig(getenv, filepath.Join(home, "none.yaml"), []Addition{secret}); err == nil {
		t.Error("a file that does not exist is changed")
	}
}

// TestAddConfigNeedsTrust checks that a file that a tool may have written is not changed, because
// the change would trust it.
func TestAddConfigNeedsTrust(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	if err := os.WriteFile("toolhost.yaml", []byte("state: /tmp/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := AddConfig(getenv, "", []Addition{{Path: []string{"secrets", "token"}, Value: `{plugins: [web], env: TOKEN}`}})
	if err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("got %v", err)
	}
}
