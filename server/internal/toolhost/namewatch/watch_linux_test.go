package namewatch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/namewatch"
)

// patience bounds every wait, so that a hang fails the test.
const patience = 2 * time.Minute

func open(t *testing.T) *namewatch.Watcher {
	t.Helper()
	goroutines := goleak.IgnoreCurrent()
	w, err := namewatch.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); w.Close(); goleak.VerifyNone(t, goroutines) })
	return w
}

// watch returns a channel with the changes of names.
func watch(t *testing.T, w *namewatch.Watcher, paths ...string) (changes chan string, stop func()) {
	t.Helper()
	changes = make(chan string, 100)
	stop, err := w.Watch(paths, func(path string) { changes <- path })
	if err != nil {
		t.Fatal(err)
	}
	return changes, stop
}

func expect(t *testing.T, changes chan string, want string) {
	t.Helper()
	select {
	case got := <-changes:
		if got != want {
			t.Errorf("%s is told to have changed, want %s", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("no change of %s was told", want)
	}
}

// do makes changes that must succeed.
func do(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachChangeOfANameIsReported(t *testing.T) {
	w, dir := open(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) error { return os.WriteFile(at(name), nil, 0o600) }
	changes, _ := watch(t, w, at("name"))
	for _, change := range []struct {
		what string
		make func() error
	}{
		{"made", func() error { return write("name") }},
		{"replaced", func() error { return os.Rename(at("other"), at("name")) }},
		{"moved away", func() error { return os.Rename(at("name"), at("away")) }},
		{"linked", func() error { return os.Link(at("other"), at("name")) }},
		{"removed", func() error { return os.Remove(at("name")) }},
		{"a symbolic link", func() error { return os.Symlink("nowhere", at("name")) }},
		{"replaced by a folder", func() error { return errors.Join(os.Remove(at("name")), os.Mkdir(at("name"), 0o700)) }},
	} {
		do(t, write("other"), change.make(), os.WriteFile(at("name-other"), nil, 0o600))
		t.Log(change.what)
		expect(t, changes, at("name"))
		if change.what == "replaced by a folder" {
			expect(t, changes, at("name")) // the link was removed, and the folder was made
		}
	}
	do(t, os.WriteFile(at("name/inside"), nil, 0o600), write("last"))
	select {
	case path := <-changes:
		t.Errorf("a change of %s is told that was none", path)
	default:
	}
}

func TestSeveralWatchTheSameName(t *testing.T) {
	w, dir := open(t), t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	first, stop := watch(t, w, a, b)
	second, _ := watch(t, w, a)
	do(t, os.WriteFile(a, nil, 0o600))
	expect(t, first, a)
	expect(t, second, a)
	stop()
	stop()
	do(t, os.Remove(a))
	expect(t, second, a)
	do(t, os.WriteFile(b, nil, 0o600), os.WriteFile(a, nil, 0o600))
	expect(t, second, a)
	if len(first) > 0 {
		t.Errorf("%s is told after stop", <-first)
	}
}

func TestAFolderThatGoesTakesItsNamesWithIt(t *testing.T) {
	w, dir := open(t), t.TempDir()
	folder := filepath.Join(dir, "folder")
	do(t, os.Mkdir(folder, 0o700))
	changes, stop := watch(t, w, filepath.Join(folder, "name"))
	do(t, os.Remove(folder))
	expect(t, changes, filepath.Join(folder, "name"))
	stop()
}

func TestWhatCannotBeWatchedIsAnError(t *testing.T) {
	w, dir := open(t), t.TempDir()
	good := filepath.Join(dir, "name")
	called := make(chan string, 1)
	if _, err := w.Watch([]string{good, filepath.Join(dir, "none", "name")}, func(path string) { called <- path }); err == nil {
		t.Error("a name in a folder that is not there was watched")
	}
	changes, _ := watch(t, w, good)
	do(t, os.WriteFile(good, nil, 0o600))
	expect(t, changes, good)
	if len(called) > 0 {
		t.Error("a name is watched although Watch failed")
	}
	w.Close()
	if _, err := w.Watch([]string{good}, nil); err == nil {
		t.Error("a name was watched after Close")
	}
	var none *namewatch.Watcher
	if _, err := none.Watch([]string{good}, nil); err == nil {
		t.Error("a name was watched by none")
	}
	if stop, err := none.Watch(nil, nil); err != nil {
		t.Error(err)
	} else {
		stop()
	}
	none.Close()
}

// Events of a hostile writer that fill the kernel's queue are no change, but are reported: the
// subscriber has to compare the names.
func TestLostEventsAreReported(t *testing.T) {
	w, dir := open(t), t.TempDir()
	queue, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(queue)))
	if err != nil {
		t.Fatal(err)
	}
	changes, held := make(chan string, 10), make(chan struct{})
	stop, err := w.Watch([]string{filepath.Join(dir, "name")}, func(path string) {
		changes <- path
		<-held // so that the queue fills; no real subscriber does that
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	do(t, os.WriteFile(filepath.Join(dir, "name"), nil, 0o600))
	expect(t, changes, filepath.Join(dir, "name"))
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	do(t, os.WriteFile(a, nil, 0o600))
	for range most/2 + 10 {
		do(t, os.Rename(a, b))
		a, b = b, a
	}
	close(held)
	expect(t, changes, "")
}
