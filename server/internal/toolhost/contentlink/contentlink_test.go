package contentlink_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/contentlink"
)

// adopt writes a file and shares it. It returns the file's path.
func adopt(t *testing.T, f *contentlink.Folder, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	hash, err := contentlink.HashFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Adopt(t.Context(), path, hash, mode); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%s holds %q, %v; want %q", name, got, err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != mode {
		t.Errorf("%s is %v, %v; want mode %v", name, info, err, mode)
	}
	return path
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	first, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(first, second)
}

func names(t *testing.T, dir string) []fs.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return entries
}

func TestFilesWithTheSameContentAreOneFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	f := contentlink.At(dir, 0o700)
	first := adopt(t, f, "first", "content", 0o444)
	if second := adopt(t, f, "second", "content", 0o444); !same(t, first, second) {
		t.Error("two files with one content are on the disk twice")
	}
	for name, path := range map[string]string{
		"an executable":  adopt(t, f, "executable", "content", 0o555),
		"another file":   adopt(t, f, "other", "Content", 0o444),
		"a private file": adopt(t, f, "private", "content", 0o400),
	} {
		if same(t, first, path) {
			t.Errorf("%s shares a file that differs", name)
		}
	}
}

// A file that is a link to the shared file already stays as it is, and no other name appears in its
// folder.
func TestASharedFileIsSharedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	f := contentlink.At(dir, 0o700)
	path := adopt(t, f, "first", "content", 0o444)
	hash, err := contentlink.HashFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Adopt(t.Context(), path, hash, 0o444); err != nil {
		t.Fatal(err)
	}
	if found := names(t, filepath.Dir(path)); len(found) != 1 {
		t.Errorf("the folder of the file has %v, want the file alone", found)
	}
	if !same(t, path, filepath.Join(dir, hash)) {
		t.Error("the file is no longer shared")
	}
}

// If another program writes into a file of the folder, no copy gets that content.
func TestAFileThatWasChangedIsNotShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	f := contentlink.At(dir, 0o700)
	adopt(t, f, "first", "content", 0o444)
	entry := filepath.Join(dir, names(t, dir)[0].Name())
	for what, plant := range map[string]func() error{
		"other content": func() error { return os.WriteFile(entry, []byte("evil..."), 0o444) },
		"a link":        func() error { return os.Symlink("/etc/hostname", entry) },
		"a folder":      func() error { return os.Mkdir(entry, 0o700) },
	} {
		if err := os.Remove(entry); err != nil {
			t.Fatal(err)
		}
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		second := adopt(t, f, "second", "content", 0o444)
		if third := adopt(t, f, "third", "content", 0o444); !same(t, second, third) {
			t.Errorf("%s in the folder is still there", what)
		}
	}
}

func TestSweepRemovesWhatNoCopyHas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	f := contentlink.At(dir, 0o700)
	kept, gone := adopt(t, f, "kept", "one", 0o444), adopt(t, f, "gone", "two", 0o444)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if err := f.Sweep(); err != nil || len(names(t, dir)) != 1 {
		t.Errorf("left are %v, %v; want the file that is in use", names(t, dir), err)
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Sweep(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder is left: %v", err)
	}
}

func TestHashFileEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 64<<20); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := contentlink.HashFile(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
