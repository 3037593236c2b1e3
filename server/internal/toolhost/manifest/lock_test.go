package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
)

func TestLockRoundTrip(t *testing.T) {
	for name, lock := range map[string]manifest.Lock{
		"none": {},
		"some": {
			"fs":         {Version: "1.0", Digest: digestB},
			"true":       {Digest: digestA},
			"calculator": {Version: "v2: \"beta\"\n\t#\u2028\u0007é", Digest: digestA},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), manifest.LockName)
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := manifest.WriteLock(path, lock); err != nil {
				t.Fatal(err)
			}
			got, err := manifest.ReadLock(path, nil)
			if diff := cmp.Diff(lock, got); diff != "" || err != nil {
				t.Errorf("read back (-want +got): %v\n%s\n%s", err, diff, lock)
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("beside the file: %v, %v", entries, err)
			}
		})
	}
}

// The text of a lock file has one line for each plugin, ordered by name, so that one change changes
// one line.
func TestLockText(t *testing.T) {
	lock := manifest.Lock{"b": {Version: "2", Digest: digestB}, "a": {Version: "1", Digest: digestA}}
	_, text, _ := strings.Cut(lock.String(), "\n")
	want := "version: 1\nplugins:\n  \"a\": {version: \"1\", digest: \"" + digestA + "\"}\n  \"b\": {version: \"2\", digest: \"" + digestB + "\"}\n"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if !lock.Has(digestA) || lock.Has("sha256:") {
		t.Error("Has does not know what is pinned")
	}
}

func TestBadLocks(t *testing.T) {
	for name, tc := range map[string]struct{ text, place, want string }{
		"empty":          {"", "f:", "version: there is no such key, and it cannot be left out"},
		"no version":     {"plugins: {}\n", "f:1:1", "version: there is no such key"},
		"no plugins":     {"version: 1\n", "f:1:1", "plugins: there is no such key"},
		"newer":          {"version: 2\nplugins: {}\n", "f:1:10", "a whole number from 1 to 1"},
		"unknown key":    {"version: 1\nplugin: {}\n", "f:2:1", "did you mean plugins? The keys of the file are version, plugins"},
		"unknown subkey": {"version: 1\nplugins: {a: {hash: x}}\n", "f:2:15", "The keys of plugins.a are version, digest"},
		"bad name":       {"version: 1\nplugins: {7: {digest: x}}\n", "f:2:11", "ill-formed"},
		"no digest":      {"version: 1\nplugins: {a: {version: x}}\n", "f:2:14", "plugins.a.digest: there is no such key, and it cannot be left out"},
		"bad digest":     {"version: 1\nplugins: {a: {digest: sha1:abc}}\n", "f:2:23", "64 hexadecimal digits"},
		"twice":          {"version: 1\nplugins:\n  a: {digest: x}\n  a: {digest: x}\n", "f:4:3", "plugins.a: this key is already in line 3"},
		"merge conflict": {"version: 1\n<<<<<<< HEAD\nplugins: {}\n", "f:", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.ParseLock("f", []byte(tc.text))
			if err == nil || !strings.HasPrefix(err.Error(), tc.place) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is\n%v\nwant it to begin with %q and to say %q", err, tc.place, tc.want)
			}
		})
	}
	if _, err := manifest.ReadLock(filepath.Join(t.TempDir(), "none"), nil); err == nil || !strings.Contains(err.Error(), "`toolhost lock` writes it while toolhost runs") {
		t.Errorf("a missing file: %v", err)
	}
}
