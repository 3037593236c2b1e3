package filelock_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// Two open files of one process exclude each other as those of two processes do.
func TestWhatExcludesWhat(t *testing.T) {
	for name, c := range map[string]struct {
		first, second func(*os.File) error
		held          bool
	}{
		"exclusive twice":       {filelock.Try, filelock.Try, true},
		"exclusive, shared":     {filelock.Try, filelock.TryShared, true},
		"shared, exclusive":     {filelock.TryShared, filelock.Try, true},
		"shared twice":          {filelock.TryShared, filelock.TryShared, false},
		"waited for, exclusive": {filelock.Lock, filelock.Try, true},
		"unlocked, exclusive":   {both(filelock.Try, filelock.Unlock), filelock.Try, false},
		"unlocked, shared":      {both(filelock.Try, filelock.Unlock), filelock.TryShared, false},
		"never locked":          {filelock.Unlock, filelock.Try, false},
		"less, shared":          {both(filelock.Try, filelock.TryShared), filelock.TryShared, false},
		"more, shared":          {both(filelock.TryShared, filelock.Try), filelock.TryShared, true},
		"twice by one file":     {both(filelock.Try, filelock.Try), filelock.Try, true},
	} {
		for kind, open := range map[string]func(string) (*os.File, error){"a file": filelock.Create, "a folder": folder} {
			t.Run(name+" of "+kind, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "lock")
				first, second := opened(t, path, open), opened(t, path, open)
				must(t, c.first(first))
				if err := c.second(second); errors.Is(err, filelock.ErrHeld) != c.held || (err != nil) != c.held {
					t.Errorf("the second lock: %v, want held %t", err, c.held)
				}
				must(t, first.Close())
				must(t, filelock.Try(second))
			})
		}
	}
}

func TestTakeOpensAndLocks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	for _, c := range []struct {
		path string
		take func(string) (*os.File, error)
		mode fs.FileMode
	}{{path, filelock.Take, 0o600}, {dir, filelock.TakeFolder, 0o700 | fs.ModeDir}} {
		must(t, os.Chmod(dir, 0o700))
		file, err := c.take(c.path)
		must(t, err)
		info, err := file.Stat()
		if err != nil || info.Mode() != c.mode {
			t.Errorf("%s has mode %v: %v", c.path, info.Mode(), err)
		}
		if again, err := c.take(c.path); !errors.Is(err, filelock.ErrHeld) || again != nil {
			t.Errorf("taking %s twice: %v, %v", c.path, again, err)
		}
		must(t, file.Close())
		file, err = c.take(c.path)
		must(t, err)
		must(t, file.Close())
	}
}

func TestTakeKeepsTheContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	must(t, os.WriteFile(path, []byte("1234"), 0o600))
	file, err := filelock.Take(path)
	must(t, err)
	defer file.Close()
	if got, err := os.ReadFile(path); err != nil || string(got) != "1234" {
		t.Errorf("the file has %q: %v", got, err)
	}
}

func TestWhatCannotBeTaken(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, errors.Join(os.Mkdir(at("folder"), 0o700), os.WriteFile(at("file"), nil, 0o600)))
	must(t, errors.Join(os.Symlink("folder", at("to-folder")), os.Symlink("file", at("to-file")), os.Symlink("none", at("to-none"))))
	for name, want := range map[string]error{"to-file": syscall.ELOOP, "to-none": syscall.ELOOP, "folder": syscall.EISDIR, "no/lock": fs.ErrNotExist} {
		if file, err := filelock.Take(at(name)); !errors.Is(err, want) || file != nil {
			t.Errorf("taking %s: %v, %v, want %v", name, file, err, want)
		}
	}
	for name, want := range map[string]error{"to-folder": syscall.ENOTDIR, "file": syscall.ENOTDIR, "none": fs.ErrNotExist} {
		if file, err := filelock.TakeFolder(at(name)); !errors.Is(err, want) || file != nil {
			t.Errorf("taking the folder %s: %v, %v, want %v", name, file, err, want)
		}
	}
	if _, err := os.Lstat(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taking a link created the file that it names: %v", err)
	}
	closed := opened(t, at("closed"), filelock.Create)
	must(t, closed.Close())
	for name, lock := range map[string]func(*os.File) error{"Try": filelock.Try, "Lock": filelock.Lock, "Unlock": filelock.Unlock} {
		if err := lock(closed); err == nil || errors.Is(err, filelock.ErrHeld) {
			t.Errorf("%s of a closed file: %v", name, err)
		}
	}
}

func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "lock")
		first, second := opened(t, path, filelock.Create), opened(t, path, filelock.Create)
		must(t, filelock.Wait(t.Context(), first))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if err := filelock.Wait(ctx, second); !errors.Is(err, filelock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a lock that is never released: %v", err)
		}
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("it waited %v", waited)
		}

		cause := errors.New("of the test")
		ended, end := context.WithCancelCause(t.Context())
		end(cause)
		if err := filelock.Wait(ended, second); !errors.Is(err, filelock.ErrHeld) || !errors.Is(err, cause) {
			t.Errorf("an ended context: %v", err)
		}

		time.AfterFunc(time.Second, func() { _ = first.Close() })
		must(t, filelock.Wait(t.Context(), second))
		must(t, filelock.Wait(ended, second)) // it need not wait
	})
}

func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, second := opened(t, path, filelock.Create), opened(t, path, filelock.Create)
	must(t, filelock.Lock(first))
	locked := make(chan error, 1)
	go func() { locked <- filelock.Lock(second) }() // ends when first is closed
	select {
	case err := <-locked:
		t.Fatalf("a second file has the lock: %v", err)
	default:
	}
	must(t, first.Close())
	must(t, <-locked)
}

// The lock of a file that a child has inherited stays until the child ends too.
func TestAChildHasTheLockToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, second := opened(t, path, filelock.Create), opened(t, path, filelock.Create)
	must(t, filelock.Try(first))
	child := exec.CommandContext(t.Context(), "cat")
	child.ExtraFiles = []*os.File{first}
	end, err := child.StdinPipe()
	must(t, err)
	must(t, child.Start())
	must(t, first.Close())
	if err := filelock.Try(second); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("while the child runs: %v", err)
	}
	must(t, end.Close())
	must(t, child.Wait())
	must(t, filelock.Try(second))
}

func TestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file := opened(t, path, filelock.Create)
	names := func(step string, want bool) {
		t.Helper()
		if got := filelock.Names(path, file); got != want {
			t.Errorf("%s: %t", step, got)
		}
	}
	names("opened", true)
	must(t, os.Remove(path))
	names("removed", false)
	opened(t, path, filelock.Create)
	names("made again", false)
	must(t, os.Remove(path))
	must(t, os.Symlink("elsewhere", path))
	names("a link", false)
	must(t, file.Close())
	names("closed", false)
}

func both(f, g func(*os.File) error) func(*os.File) error {
	return func(file *os.File) error {
		if err := f(file); err != nil {
			return err
		}
		return g(file)
	}
}

func folder(path string) (*os.File, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.Open(path)
}

func opened(t *testing.T, path string, open func(string) (*os.File, error)) *os.File {
	t.Helper()
	file, err := open(path)
	must(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
