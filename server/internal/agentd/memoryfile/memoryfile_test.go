package memoryfile_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/memoryfile"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A tool can put anything into a workspace. Nothing of it makes agentd wait, read another folder,
// or show what is not seen.
func TestHostileWorkspace(t *testing.T) {
	base := t.TempDir()
	folder := filepath.Join(base, "w")
	const most = 100
	for _, dir := range []string{folder, filepath.Join(folder, "sub"), filepath.Join(base, "secrets")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(base, "secrets", "key"), "secret")
	put(t, filepath.Join(folder, "plain"), "\uFEFFone\r\ntwo\n")
	put(t, filepath.Join(folder, "full"), strings.Repeat("x", most))
	put(t, filepath.Join(folder, "large"), strings.Repeat("x", most+1))
	put(t, filepath.Join(folder, "binary"), "\xff\xfe")
	put(t, filepath.Join(folder, "escapes"), "a\x1b[2Jb\u202ec\u2028d\U000E0041e\rf")
	for link, target := range map[string]string{
		"inside": "plain", "outside": "../secrets/key", "absolute": filepath.Join(base, "secrets", "key"), "folder": "../secrets", "loop": "loop",
		"device": "/dev/zero", "process": "/proc/self/environ",
	} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder) // a path of a socket is short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, want := range map[string]struct{ text, err string }{
		"plain": {text: "one\ntwo\n"}, "inside": {text: "one\ntwo\n"}, "full": {text: strings.Repeat("x", most)},
		"escapes": {text: "a\uFFFD[2Jb\uFFFDc\uFFFDd\uFFFDe\uFFFDf"},
		"large":   {err: "larger than 100 bytes"}, "binary": {err: "UTF-8"}, "pipe": {err: "not a regular file"}, "sub": {err: "not a regular file"},
		"socket": {err: "cannot be opened"}, "loop": {err: "cannot be opened"}, "missing": {err: "no such file"}, "plain/x": {err: "cannot be opened"},
		"outside": {err: "cannot be opened"}, "absolute": {err: "cannot be opened"}, "folder/key": {err: "cannot be opened"},
		"device": {err: "cannot be opened"}, "process": {err: "cannot be opened"},
		"../secrets/key": {err: "inside a workspace"}, "/etc/passwd": {err: "inside a workspace"}, "": {err: "inside a workspace"},
		".": {err: "inside a workspace"}, "a\nb": {err: "inside a workspace"}, "a\x1bb": {err: "inside a workspace"},
	} {
		got, err := memoryfile.ReadWorkspace(folder, name, most)
		if got != want.text || want.err == "" && err != nil || want.err != "" && (err == nil || !strings.Contains(err.Error(), want.err)) {
			t.Errorf("%q: got %q, %v; want %q, %q", name, got, err, want.text, want.err)
		}
		if err != nil && strings.Contains(err.Error(), base) {
			t.Errorf("%q: the error %v names a folder outside", name, err)
		}
		if errors.Is(err, memoryfile.ErrMissing) != (name == "missing") {
			t.Errorf("%q: missing: %v", name, err)
		}
	}
	if _, err := memoryfile.ReadWorkspace(filepath.Join(base, "gone"), "plain", most); err == nil || errors.Is(err, memoryfile.ErrMissing) {
		t.Errorf("a workspace that does not exist: %v", err)
	}
}

// What is wrong with a file of the operator is an error that names the file.
func TestOperatorFile(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "good"), "\uFEFFone\r\n\ttwo\n")
	put(t, filepath.Join(folder, "large"), strings.Repeat("x", 101))
	put(t, filepath.Join(folder, "binary"), "\xff")
	put(t, filepath.Join(folder, "escape"), "one\ntwo\x1b[2J")
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ text, err string }{
		"good": {text: "one\n\ttwo\n"}, "large": {err: "larger than 100 bytes"}, "binary": {err: "UTF-8"}, "escape": {err: "U+001B in line 2"},
		"pipe": {err: "not a regular file"}, "missing": {err: "no such file"}, ".": {err: "not a regular file"},
	} {
		path := filepath.Join(folder, name)
		got, err := memoryfile.ReadOperator(path, 100)
		if string(got) != want.text || want.err == "" && err != nil || want.err != "" && (err == nil || !strings.Contains(err.Error(), want.err) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%q: got %q, %v; want %q, %q", name, got, err, want.text, want.err)
		}
	}
}
