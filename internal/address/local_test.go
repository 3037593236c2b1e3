package address

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// A client without XDG_RUNTIME_DIR finds the socket of a program that has it.
func TestLocal(t *testing.T) {
	runtimes = t.TempDir()
	defer func() { runtimes = "/run/user" }()
	env := func(string) string { return "" }
	usual := Default("toolhost", env)
	if got := Local("toolhost", env); got != usual {
		t.Errorf("without a socket: %s", got)
	}
	folder := filepath.Join(runtimes, strconv.Itoa(os.Getuid()), "toolhost")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "toolhost.sock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Local("toolhost", env); got != usual {
		t.Errorf("with a file: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder) // the path may be too long for a socket
	listener, err := net.Listen("unix", "toolhost.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if got := Local("toolhost", env); got.Path() != path || !got.IsOwn() {
		t.Errorf("with a socket: %s", got)
	}
	if got := Local("toolhost", func(string) string { return "/run/user/7" }); got.Path() != "/run/user/7/toolhost/toolhost.sock" {
		t.Errorf("with the variable: %s", got)
	}
}

// The default socket in /tmp is as safe if somebody has written it down: another user can create
// its folder.
func TestFindOwn(t *testing.T) {
	env := func(string) string { return "" }
	for _, given := range []string{Default("toolhost", env).String(), "unix:///tmp/./toolhost-" + strconv.Itoa(os.Getuid()) + "/toolhost.sock"} {
		if got, err := Find(given, "toolhost", env); err != nil || !got.IsOwn() {
			t.Errorf("%s: %+v, %v", given, got, err)
		}
	}
	for _, given := range []string{"unix:///tmp/x/toolhost.sock", Default("agentd", env).String(), "127.0.0.1:1"} {
		if got, err := Find(given, "toolhost", env); err != nil || got.IsOwn() {
			t.Errorf("%s: %+v, %v", given, got, err)
		}
	}
}
