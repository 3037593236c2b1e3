package pluginfolder_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginfolder"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// open returns a folder of plugins that does not exist yet, and its path.
func open(t *testing.T) (*pluginfolder.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data", "plugins")
	f, err := pluginfolder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

// stage copies a plugin, and discards the copy at the end of the test.
func stage(t *testing.T, f *pluginfolder.Folder, source string) *pluginfolder.Staged {
	t.Helper()
	s, err := f.Stage(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Discard(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func place(t *testing.T, s *pluginfolder.Staged, name string) *pluginfolder.Placed {
	t.Helper()
	p, err := s.Place(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// visible returns the content of a folder without hidden files.
func visible(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestFilesAndFoldersTakeEachOthersPlace(t *testing.T) {
	f, dir := open(t)
	sources := t.TempDir()
	write(t, filepath.Join(sources, "one"), "1", 0o755)
	write(t, filepath.Join(sources, "two", "program"), "2", 0o755)
	write(t, filepath.Join(sources, "two", "data"), "d", 0o444)
	one, two := stage(t, f, filepath.Join(sources, "one")), stage(t, f, filepath.Join(sources, "two"))
	if names := visible(t, dir); names != nil {
		t.Errorf("%q can be seen before anything was placed", names)
	}

	first := place(t, one, "weather")
	if info, err := os.Stat(first.Path()); first.Replaced() || err != nil || info.Mode().Perm() != 0o755 || read(t, first.Path()) != "1" {
		t.Errorf("placed is %+v, %v", info, err)
	}
	second := place(t, two, "weather")
	if !second.Replaced() || read(t, filepath.Join(second.Path(), "program")) != "2" {
		t.Error("the folder did not take the file's place")
	}
	if err := second.Undo(); err != nil || read(t, f.Path("weather")) != "1" {
		t.Errorf("undone: %v, %q", err, read(t, f.Path("weather")))
	}
	if err := first.Undo(); err != nil || visible(t, dir) != nil {
		t.Errorf("undone: %v, %q", err, visible(t, dir))
	}
}

func TestRemove(t *testing.T) {
	f, dir := open(t)
	write(t, filepath.Join(dir, "weather", "closed", "file"), "x", 0o400)
	write(t, filepath.Join(dir, "other"), "y", 0o700)
	if err := f.Remove("weather"); err != nil {
		t.Error(err)
	}
	if err := f.Remove("weather"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("once more: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "other" {
		t.Errorf("left are %v, %v", entries, err)
	}
}

// Links keep their targets, except those into the folder, and files that are no part of a plugin
// are not copied.
func TestCopy(t *testing.T) {
	f, _ := open(t)
	source := filepath.Join(t.TempDir(), "weather")
	write(t, filepath.Join(source, "lib", "a"), "a", 0o644)
	write(t, filepath.Join(source, ".git", "config"), "", 0o644)
	write(t, filepath.Join(source, "lib", "__pycache__", "a.pyc"), "", 0o644)
	write(t, filepath.Join(source, ".venv", "x"), "x", 0o755)
	for link, target := range map[string]string{
		"relative": "lib/a", "absolute": "/etc/hosts", "lib/inside": filepath.Join(source, ".venv", "x"), "lib/self": filepath.Join(source, "lib") + "/",
	} {
		if err := os.Symlink(target, filepath.Join(source, link)); err != nil {
			t.Fatal(err)
		}
	}
	placed := place(t, stage(t, f, source), "weather")
	for link, want := range map[string]string{"relative": "lib/a", "absolute": "/etc/hosts", "lib/inside": "../.venv/x", "lib/self": "."} {
		if got, err := os.Readlink(filepath.Join(placed.Path(), link)); err != nil || got != want {
			t.Errorf("the link %s leads to %q, %v; want %q", link, got, err, want)
		}
	}
	var files []string
	err := filepath.WalkDir(placed.Path(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, strings.TrimPrefix(path, placed.Path()+"/"))
		}
		return err
	})
	if want := []string{".venv/x", "lib/a"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("copied are %q, %v; want %q", files, err, want)
	}
}

func TestStageLeavesNothingIfItFails(t *testing.T) {
	f, dir := open(t)
	source := filepath.Join(t.TempDir(), "weather")
	write(t, source, "x", 0o755)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Stage(cancelled, source); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := f.Stage(t.Context(), source+"-none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a source that does not exist: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

// While one plugin replaces another, readers see either the old or the new one, complete.
func TestReplacementIsAtomic(t *testing.T) {
	f, _ := open(t)
	sources := t.TempDir()
	for _, name := range []string{"old", "new"} {
		write(t, filepath.Join(sources, name, "program"), name, 0o755)
	}
	place(t, stage(t, f, filepath.Join(sources, "old")), "weather")
	replacing := place(t, stage(t, f, filepath.Join(sources, "new")), "weather")

	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() { // ends with done
		for {
			text, err := os.ReadFile(filepath.Join(f.Path("weather"), "program"))
			if err != nil || len(text) != len("old") {
				t.Errorf("seen is %q, %v", text, err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for range 500 {
		if err := replacing.Undo(); err != nil { // a second Undo does nothing
			t.Fatal(err)
		}
	}
	close(done)
	looking.Wait()
}

// If the folder of plugins is inside the repository of a plugin, the copy of the plugin does not
// contain that folder.
func TestAPluginAroundTheFolder(t *testing.T) {
	source := filepath.Join(t.TempDir(), "weather")
	write(t, filepath.Join(source, "plugin.yaml"), "", 0o644)
	write(t, filepath.Join(source, "data", "plugins", "other"), "", 0o755)
	write(t, filepath.Join(source, "data", "kept"), "", 0o644)
	f, err := pluginfolder.Open(filepath.Join(source, "data", "plugins"))
	if err != nil {
		t.Fatal(err)
	}
	placed := place(t, stage(t, f, source), "weather")
	if entries, err := os.ReadDir(filepath.Join(placed.Path(), "data")); err != nil || len(entries) != 1 || entries[0].Name() != "kept" {
		t.Errorf("copied are %v, %v", entries, err)
	}
	if _, err := f.Stage(t.Context(), f.Path("")); err == nil || !strings.Contains(err.Error(), "the folder of plugins itself") {
		t.Errorf("the folder in itself: %v", err)
	}
	if entries, err := os.ReadDir(f.Path("")); err != nil || len(entries) != 3 { // and what is staged
		t.Errorf("left are %v, %v", entries, err)
	}
}

// A copy takes no more disk space than a sparse executable, or than a folder with a sparse file.
func TestCopiesKeepHoles(t *testing.T) {
	const size = 64 << 20
	f, _ := open(t)
	dir := t.TempDir()
	for _, name := range []string{"file", "folder/model.bin"} {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n", 0o700)
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	for source, copied := range map[string]string{"file": "", "folder": "model.bin"} {
		info, err := os.Stat(filepath.Join(stage(t, f, filepath.Join(dir, source)).Path(), copied))
		if err != nil {
			t.Fatal(err)
		}
		const sector, most = 512, 1 << 20
		if stat := info.Sys().(*syscall.Stat_t); info.Size() != size || stat.Blocks*sector > most {
			t.Errorf("%s: the copy of %d bytes has %d and takes %d bytes of the disk", source, size, info.Size(), stat.Blocks*sector)
		}
	}
}
