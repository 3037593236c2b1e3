package reaper

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

func TestFollowKeepsTheLastCompleteState(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"one", `{"token":"a"}` + "\n", "a"},
		{"the last of two", `{"token":"a"}` + "\n" + `{"token":"b"}` + "\n", "b"},
		{"the second breaks off", `{"token":"a"}` + "\n" + `{"token":"b`, "a"},
		{"garbage", "hello\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := follow(strings.NewReader(test.text)).Token; got != test.want {
				t.Errorf("token %q, want %q", got, test.want)
			}
		})
	}
}

func TestRemoveSparesWhatTookTheName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	write := func() {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	seen, err := look(path)
	if err != nil {
		t.Fatal(err)
	}
	// Renamed and not removed, so that the new file cannot get the same inode.
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := seen.remove(); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
	write()
	if err := seen.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("another file was removed: %v", err)
	}
}

// recorder keeps the messages that are logged.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }
func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(record.Message + "\n")
	return nil
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// The reaper does not remove the socket of a toolhost that was started again at once. That socket
// has the same name and often the same inode.
func TestRemoveSparesTheNextSocket(t *testing.T) {
	path := filepath.Join(shortdir.Make(t), "s")
	listen := func() (*file, net.Listener) {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := look(path)
		if err != nil {
			t.Fatal(err)
		}
		return seen, l
	}
	old, l := listen()
	next := old
	for *next == *old { // until the file system's clock has moved on
		l.Close()
		next, l = listen()
	}
	defer l.Close()
	if err := old.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the next socket is gone: %v", err)
	}
}

// A listener that makes a socket in the folder holds the lock of the folder.
func TestASocketIsRemovedUnderTheLockOfItsFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(shortdir.Make(t), "s")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		socket, err := look(path)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := os.Open(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if err := filelock.Lock(folder); err != nil {
			t.Fatal(err)
		}
		if err := removeSocket(socket); err == nil || !strings.Contains(err.Error(), "locked") {
			t.Errorf("while the folder is locked: %v", err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
		_ = folder.Close()
		if err := removeSocket(socket); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("the socket is still there: %v", err)
		}
		if err := removeSocket(&file{Path: filepath.Join(path, "none", "s")}); err != nil {
			t.Errorf("without the folder: %v", err)
		}
	})
}
