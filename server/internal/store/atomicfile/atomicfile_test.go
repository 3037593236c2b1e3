package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

func TestWriteReplacesTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		before, umask fs.FileMode // 0: no file
		mode          fs.FileMode
	}{
		"a new private file":                  {0, 0o022, 0o600},
		"a new file for all":                  {0, 0o077, 0o644},
		"under a umask that allows nothing":   {0, 0o777, 0o600},
		"under a umask that removes nothing":  {0, 0, 0o640},
		"a file for all becomes private":      {0o666, 0o022, 0o600},
		"a private file becomes one for all":  {0o600, 0o077, 0o644},
		"a read-only file":                    {0o400, 0o022, 0o600},
		"a file that becomes read-only":       {0o600, 0o022, 0o444},
		"bits beside the permissions are cut": {0o600, 0o022, 0o600 | fs.ModeSetuid | fs.ModeDir},
	} {
		run(t, name, func(t *testing.T, write func(string, []byte, fs.FileMode) error) {
			path := filepath.Join(t.TempDir(), "file")
			if c.before != 0 {
				must(t, os.WriteFile(path, []byte("the earlier content, which is longer"), 0o600))
				must(t, os.Chmod(path, c.before))
			}
			defer syscall.Umask(syscall.Umask(int(c.umask)))
			must(t, write(path, []byte("new"), c.mode))
			info, err := os.Lstat(path)
			must(t, err)
			if info.Mode() != c.mode.Perm() {
				t.Errorf("the file has mode %v, want %v", info.Mode(), c.mode.Perm())
			}
			must(t, os.Chmod(path, 0o600))
			want(t, path, "new")
			alone(t, path)
		})
	}
}

func TestAFailureLeavesTheEarlierFile(t *testing.T) {
	failure := errors.New("no more content")
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte("earlier"), 0o640))
	err := atomicfile.Fill(path, 0o600, func(file *os.File) error {
		_, err := file.WriteString("a par")
		return errors.Join(err, failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	err = atomicfile.Fill(path, 0o600, func(file *os.File) error { return file.Close() })
	if !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed file: got %v, want %v", err, fs.ErrClosed)
	}
	func() {
		defer func() { _ = recover() }()
		_ = atomicfile.Fill(path, 0o600, func(*os.File) error { panic("of fill") })
	}()
	want(t, path, "earlier")
	info, err := os.Lstat(path)
	must(t, err)
	if info.Mode() != 0o640 {
		t.Errorf("the earlier file has mode %v now", info.Mode())
	}
	alone(t, path)
}

func TestWhatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	must(t, os.Mkdir(folder, 0o700))
	for _, path := range []string{folder, filepath.Join(dir, "none", "file"), filepath.Join(dir, strings.Repeat("n", 256))} {
		if err := atomicfile.Write(path, []byte("new"), 0o600); err == nil {
			t.Errorf("writing %s succeeded", path)
		}
	}
	alone(t, folder)
	// Such a name is the longest one, and the temporary file needs one too.
	must(t, atomicfile.Write(filepath.Join(folder, strings.Repeat("n", 255)), nil, 0o600))
}

func TestALinkIsReplacedItself(t *testing.T) {
	dir := t.TempDir()
	named, link := filepath.Join(dir, "named"), filepath.Join(dir, "link")
	must(t, os.WriteFile(named, []byte("earlier"), 0o600))
	for _, target := range []string{named, filepath.Join(dir, "none"), link} {
		_ = os.Remove(link)
		must(t, os.Symlink(target, link))
		must(t, atomicfile.Write(link, []byte("new"), 0o600))
		info, err := os.Lstat(link)
		must(t, err)
		if !info.Mode().IsRegular() {
			t.Errorf("the link to %s has mode %v now", target, info.Mode())
		}
		want(t, link, "new")
		want(t, named, "earlier")
	}
	// Another name of the same file keeps the content too.
	must(t, os.Remove(link))
	must(t, os.Link(named, link))
	must(t, atomicfile.Write(link, []byte("new"), 0o600))
	want(t, named, "earlier")
}

// A user may write to such a folder, and cannot open it.
func TestAFolderThatCannotBeListed(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o300))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	must(t, atomicfile.Write(filepath.Join(dir, "file"), []byte("new"), 0o600))
	want(t, filepath.Join(dir, "file"), "new")
}

func TestOnlyTheUserSeesThePart(t *testing.T) {
	must(t, atomicfile.Fill(filepath.Join(t.TempDir(), "file"), 0o644, func(file *os.File) error {
		info, err := file.Stat()
		if err == nil && info.Mode() != 0o600 {
			t.Errorf("a part has mode %v", info.Mode())
		}
		return err
	}))
}

func TestConcurrentWritersLeaveOneContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	contents := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<10), ""}
	must(t, atomicfile.Write(path, nil, 0o600))
	var writers sync.WaitGroup
	for _, content := range contents {
		writers.Go(func() {
			for range 5 {
				if err := atomicfile.Write(path, []byte(content), 0o600); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(path); err != nil || len(got) > 0 && strings.Trim(string(got), string(got[:1])) != "" ||
					len(got) != 1<<16 && len(got) != 1<<10 && len(got) != 0 {
					t.Errorf("a reader sees %d bytes of several writers: %v", len(got), err)
				}
			}
		})
	}
	writers.Wait()
	alone(t, path)
}

// run runs a test with both functions that write.
func run(t *testing.T, name string, test func(t *testing.T, write func(string, []byte, fs.FileMode) error)) {
	t.Run(name, func(t *testing.T) { test(t, atomicfile.Write) })
	t.Run(name+" unsynced", func(t *testing.T) { test(t, atomicfile.WriteUnsynced) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, path, content string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("%s has %q, want %q: %v", path, got, content, err)
	}
}

// alone checks that there is no other file in the folder of a file.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, want only %s: %v", entries, path, err)
	}
}
