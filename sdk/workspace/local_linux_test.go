package workspace_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/workspacetest"
)

// newLocal returns the workspace /ws next to a folder /ws-secret. At the end of the test, it checks
// that nothing outside of /ws has changed.
func newLocal(t *testing.T, files map[string]workspace.MemoryFile) (workspace.Workspace, string) {
	t.Helper()
	outside := t.TempDir()
	seed(t, outside, map[string]workspace.MemoryFile{"ws": {Mode: fs.ModeDir}, "secret.txt": {Content: "a secret\n"}, "ws-secret/secret.txt": {Content: "a secret\n"}})
	dir := filepath.Join(outside, "ws")
	seed(t, dir, files)
	w, err := workspace.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		unchanged(t, outside)
	})
	return w, dir
}

// seed creates files in a folder.
func seed(t *testing.T, dir string, files map[string]workspace.MemoryFile) {
	t.Helper()
	for name, file := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = seedOne(path, file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func seedOne(path string, file workspace.MemoryFile) error {
	switch file.Mode.Type() {
	case fs.ModeDir:
		return os.MkdirAll(path, 0o777)
	case fs.ModeSymlink:
		return os.Symlink(file.Content, path)
	case fs.ModeNamedPipe:
		return syscall.Mkfifo(path, 0o666)
	}
	if err := os.WriteFile(path, []byte(file.Content), 0o666); err != nil {
		return err
	}
	return os.Chmod(path, cmp.Or(file.Mode.Perm(), 0o666))
}

func unchanged(t *testing.T, outside string) {
	t.Helper()
	for dir, want := range map[string][]string{".": {"secret.txt", "ws", "ws-secret"}, "ws-secret": {"secret.txt"}} {
		entries, err := os.ReadDir(filepath.Join(outside, dir))
		if err != nil || len(entries) != len(want) {
			t.Errorf("outside of the workspace, in %q, there is %v now, %v; want %v", dir, entries, err, want)
		}
	}
	for _, name := range []string{"secret.txt", "ws-secret/secret.txt"} {
		if content, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(content) != "a secret\n" {
			t.Errorf("%s is %q now, %v", name, content, err)
		}
	}
}

func TestLocal(t *testing.T) { workspacetest.Run(t, newLocal) }

// A workspace that was opened through a link has two absolute paths.
func TestLocalIsKnownByItsRealPathToo(t *testing.T) {
	_, dir := newLocal(t, map[string]workspace.MemoryFile{"a.txt": {Content: "a"}})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.OpenLocal(link)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, path := range []string{link + "/a.txt", dir + "/a.txt"} {
		if name, err := w.Rel(path); err != nil || name != "a.txt" {
			t.Errorf("Rel(%q) = %q, %v", path, name, err)
		}
	}
}

func TestLocalMustBeThere(t *testing.T) {
	if _, err := workspace.OpenLocal(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestSocketsAndDevicesAreNotOpened(t *testing.T) {
	w, dir := newLocal(t, nil)
	t.Chdir(dir) // the path of a socket is short
	listener, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if _, err := w.Open(t.Context(), "sock"); !errors.Is(err, workspace.ErrIrregular) {
		t.Errorf("got %v", err)
	}
	devices, err := workspace.OpenLocal("/dev")
	if err != nil {
		t.Fatal(err)
	}
	defer devices.Close()
	if _, err := devices.Open(t.Context(), "zero"); !errors.Is(err, workspace.ErrIrregular) {
		t.Errorf("got %v", err)
	}
}

// A file and a FIFO alternate under one name. No process writes to the FIFO, so a blocking open of
// it would never return.
func TestFilesThatBecomeFifosAreNotWaitedFor(t *testing.T) {
	w, dir := newLocal(t, map[string]workspace.MemoryFile{"spot": {Content: "a file"}})
	stop := keepSwapping(t, filepath.Join(dir, "spot"), func(path string) error { return os.WriteFile(path, []byte("a file"), 0o666) },
		func(path string) error { return syscall.Mkfifo(path, 0o666) })
	defer stop()
	seen := map[bool]int{}
	for i := 0; seen[true] == 0 || seen[false] == 0 || i < 1000; i++ {
		runtime.Gosched()
		file, err := w.Open(t.Context(), "spot")
		if err != nil && !errors.Is(err, workspace.ErrIrregular) {
			t.Fatal(err)
		}
		seen[err == nil]++
		if err == nil {
			file.Close()
		}
	}
}

// A folder and a file alternate under one name. Opening it returns the folder or an error.
func TestFoldersThatBecomeFilesAreOpenedOrNot(t *testing.T) {
	w, dir := newLocal(t, map[string]workspace.MemoryFile{
		"folder": {Mode: fs.ModeDir}, "file": {Content: "a file"}, "spot": {Mode: fs.ModeSymlink, Content: "folder"},
	})
	stop := keepSwapping(t, filepath.Join(dir, "spot"), func(path string) error { return os.Symlink("folder", path) },
		func(path string) error { return os.Symlink("file", path) })
	defer stop()
	seen := map[bool]int{}
	for i := 0; seen[true] == 0 || seen[false] == 0 || i < 5000; i++ {
		runtime.Gosched()
		sub, err := w.Sub(t.Context(), "spot")
		seen[err == nil]++
		if err != nil {
			continue
		}
		if _, err := sub.Stat(t.Context(), "."); err != nil {
			t.Fatal(err)
		}
		sub.Close()
	}
}

// keepSwapping alternates two entries at a path until the returned function is called.
func keepSwapping(t *testing.T, path string, makers ...func(path string) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() {
		fresh := filepath.Join(filepath.Dir(path), "fresh")
		for i := 0; ctx.Err() == nil; i++ {
			if err := cmp.Or(makers[i%len(makers)](fresh), os.Rename(fresh, path)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { cancel(); swapping.Wait() }
}

// A folder may become a link to the outside between any two steps of a call. No method follows it.
func TestSwappedLinksLeadNowhere(t *testing.T) {
	w, dir := newLocal(t, map[string]workspace.MemoryFile{
		"real/secret.txt": {Content: "harmless\n"},
		"spot":            {Mode: fs.ModeSymlink, Content: "real"},
	})
	stop := keepSwapping(t, filepath.Join(dir, "spot"), func(path string) error { return os.Symlink("real", path) },
		func(path string) error { return os.Symlink("..", path) })
	defer stop()
	// On a busy machine the link may lead outside during the first 2000 rounds.
	inside := 0
	for i := 0; i < 2000 || inside == 0; i++ {
		runtime.Gosched()
		if file, err := w.Open(t.Context(), "spot/secret.txt"); err == nil {
			inside++
			content, err := io.ReadAll(file)
			file.Close()
			if err != nil || string(content) != "harmless\n" {
				t.Fatalf("read %q from outside of the workspace, %v", content, err)
			}
		}
		for _, err := range w.ReadDir(t.Context(), "spot") {
			if err != nil {
				break
			}
		}
		_, _ = w.WriteFile(t.Context(), "spot/ws-secret/secret.txt", []byte("overwritten"), workspace.WriteOptions{})
		_, _ = w.WriteFile(t.Context(), "spot/planted.txt", []byte("planted"), workspace.WriteOptions{})
	}
}
