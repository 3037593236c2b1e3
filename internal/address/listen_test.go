package address_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// socket returns an address in a new folder whose path is short enough for a socket.
func socket(t *testing.T) address.Address {
	t.Helper()
	a, err := address.Unix(filepath.Join(shortdir.Make(t), "new", "x.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func listen(t *testing.T, a address.Address) *address.Listener {
	t.Helper()
	l, err := a.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestListenMakesAPrivateSocket(t *testing.T) {
	a := socket(t)
	l := listen(t, a)
	for path, want := range map[string]fs.FileMode{a.Path(): 0o600, filepath.Dir(a.Path()): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", path, got, want)
		}
	}
	conn, err := a.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if uid, ok := address.PeerUID(conn); ok && uid != os.Getuid() {
		t.Errorf("the peer's uid is %d, want %d", uid, os.Getuid())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(a.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there after Close: %v", err)
	}
}

func TestListenReplacesADeadSocket(t *testing.T) {
	a := socket(t)
	dead := listen(t, a)
	dead.Listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	listen(t, a)
	conn, err := a.Dial(t.Context())
	if err != nil {
		t.Fatalf("nobody answers at the replaced socket: %v", err)
	}
	_ = conn.Close()
}

func TestListenRefusesAnAddressInUse(t *testing.T) {
	loopback, err := address.Parse("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []address.Address{socket(t), loopback} {
		l := listen(t, first)
		_, err := l.Address().Listen(t.Context(), "toolhost")
		if !errors.Is(err, address.ErrInUse) || !strings.Contains(err.Error(), l.Address().String()) {
			t.Errorf("got %v; want ErrInUse that names %s", err, l.Address())
		}
	}
}

func TestListenAtOnceHasOneWinner(t *testing.T) {
	a := socket(t)
	var (
		group   sync.WaitGroup
		mutex   sync.Mutex
		winners int
	)
	for range 16 {
		group.Go(func() {
			l, err := a.Listen(t.Context(), "toolhost")
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err == nil:
				winners++
				t.Cleanup(func() { _ = l.Close() })
			case !errors.Is(err, address.ErrInUse):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if winners != 1 {
		t.Errorf("%d listen at one socket", winners)
	}
}

func TestListenRefusesAStrangePlace(t *testing.T) {
	t.Run("file in the way", func(t *testing.T) {
		a := socket(t)
		if err := os.MkdirAll(filepath.Dir(a.Path()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(a.Path(), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Listen(t.Context(), "toolhost"); err == nil || !strings.Contains(err.Error(), "no socket") {
			t.Errorf("got %v", err)
		}
		if data, err := os.ReadFile(a.Path()); err != nil || string(data) != "precious" {
			t.Errorf("the file holds %q, %v", data, err)
		}
	})
	t.Run("folder that others can write", func(t *testing.T) {
		a := socket(t)
		if err := os.MkdirAll(filepath.Dir(a.Path()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(a.Path()), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Listen(t.Context(), "toolhost"); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("got %v", err)
		}
	})
}

// At a default socket, Dial as root refuses a server of another user and a folder in which another
// user can place a socket. For an address that the user chose, root may connect.
func TestAnOwnServerBelongsToTheUser(t *testing.T) {
	a := socket(t)
	listen(t, a)
	dir := filepath.Dir(a.Path())
	dial := func(a address.Address) error {
		conn, err := a.Dial(t.Context())
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	if err := dial(a.Own()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := dial(a.Own()); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a folder that all can write: %v", err)
	}
	if err := dial(a); err != nil {
		t.Errorf("an address that was named: %v", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return // only root can create files of another user
	}
	if err := os.Chown(dir, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	if err := dial(a.Own()); err == nil || !strings.Contains(err.Error(), "uid 4321") || !strings.Contains(err.Error(), "name the address") {
		t.Errorf("a stranger's folder: %v", err)
	}
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	linked, err := address.Unix(filepath.Join(link, "x.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(linked.Own()); err == nil || !strings.Contains(err.Error(), "uid 4321") {
		t.Errorf("a link to a stranger's folder: %v", err)
	}
	if err := dial(a); err != nil {
		t.Errorf("an address that was named: %v", err)
	}
}

func TestTheDefaultIsOwn(t *testing.T) {
	for _, runtime := range []string{"", t.TempDir()} {
		if !address.Default("toolhost", func(string) string { return runtime }).IsOwn() {
			t.Errorf("with the runtime folder %q the default is not own", runtime)
		}
	}
	named, err := address.Parse("unix:///run/x.sock")
	if err != nil || named.IsOwn() {
		t.Error("an address that is named is own", err)
	}
}
