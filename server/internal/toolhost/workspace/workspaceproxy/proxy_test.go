package workspaceproxy_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/remote"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaceproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var discard = slog.New(slog.DiscardHandler)

// named is a backend with a workspace for each name.
type named map[string]*workspace.Memory

func (n named) Open(_ context.Context, name string) (workspace.Workspace, error) { return n[name], nil }
func (named) Close() error                                                       { return nil }

// proxy returns a proxy in a folder with a short path.
func proxy(t *testing.T, backend workspaceproxy.Backend) *workspaceproxy.Proxy {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "proxy-")
	if err != nil {
		t.Fatal(err)
	}
	p, err := workspaceproxy.New(filepath.Join(dir, "w"), backend, discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	})
	return p
}

// dial opens the workspace at a socket, like a plugin.
func dial(t *testing.T, socket, name string) (workspace.Workspace, error) {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return remote.Open(t.Context(), remote.Config{Conn: conn, Name: name})
}

// A socket leads to one workspace, and to no other that its client names.
func TestASocketHasOneWorkspace(t *testing.T) {
	backend := named{"a": workspace.NewMemory(nil), "b": workspace.NewMemory(map[string]workspace.MemoryFile{"secret": {Content: "of b"}})}
	p := proxy(t, backend)
	a, err := p.Claim("a", false)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	w, err := dial(t, a.Socket(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteFile(t.Context(), "mine", []byte("of a"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := backend["a"].Stat(t.Context(), "mine"); err != nil {
		t.Error(err)
	}
	if _, err := w.Stat(t.Context(), "secret"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, other := range []string{"b", "a", "../b"} {
		if _, err := dial(t, a.Socket(), other); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("naming %q: got %v", other, err)
		}
	}
	info, err := os.Stat(a.Folder())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket is %v, %v", info.Mode(), err)
	}
}

// A plugin that may only read gets a socket that refuses everything else.
func TestReadOnly(t *testing.T) {
	backend := named{"": workspace.NewMemory(map[string]workspace.MemoryFile{"a": {Content: "a"}})}
	p := proxy(t, backend)
	reader, err := p.Claim("", true)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := p.Claim("", false)
	if err != nil {
		t.Fatal(err)
	}
	if reader.Folder() == writer.Folder() {
		t.Error("both have the same socket")
	}
	w, err := dial(t, reader.Socket(), "")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := w.ReadFile(t.Context(), "a"); err != nil || string(content) != "a" {
		t.Errorf("got %q, %v", content, err)
	}
	if _, err := w.WriteFile(t.Context(), "a", []byte("b"), workspace.WriteOptions{}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "sandbox.workspace") {
		t.Errorf("got %v", err)
	}
}

// The socket of a named workspace goes with its last claim, and that of the only one stays.
func TestClaims(t *testing.T) {
	p := proxy(t, named{"": workspace.NewMemory(nil), "a": workspace.NewMemory(nil)})
	exists := func(c *workspaceproxy.Claim) bool {
		_, err := os.Stat(c.Socket())
		return err == nil
	}
	for name, stays := range map[string]bool{"": true, "a": false} {
		first, err := p.Claim(name, false)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Claim(name, false)
		if err != nil || second.Socket() != first.Socket() {
			t.Fatalf("%q: %v", name, err)
		}
		first.Release()
		first.Release()
		if !exists(second) {
			t.Errorf("%q: the socket is gone while a process has it", name)
		}
		second.Release()
		if exists(second) != stays {
			t.Errorf("%q: the socket exists: %v", name, !stays)
		}
		again, err := p.Claim(name, false)
		if err != nil || !exists(again) {
			t.Errorf("%q: claimed again: %v", name, err)
		}
	}
}

// A claim that follows the release of another one has a socket, also if the server of the other one
// had not begun to serve.
func TestClaimAfterARelease(t *testing.T) {
	p := proxy(t, named{"a": workspace.NewMemory(nil)})
	for range 200 {
		before, err := p.Claim("a", false)
		if err != nil {
			t.Fatal(err)
		}
		before.Release()
		claim, err := p.Claim("a", false)
		if err != nil {
			t.Fatal(err)
		}
		w, err := dial(t, claim.Socket(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteFile(t.Context(), "a", []byte("b"), workspace.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		claim.Release()
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := workspaceproxy.NewMemory(1 << 20)
	w, err := m.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteFile(t.Context(), "a", make([]byte, 2<<20), workspace.WriteOptions{}); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// Over TCP there is nothing without TLS: a server without TLS gets no RPC and no token.
func TestNoPlainConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	const token = "the token of the operator"
	heard := make(chan []byte, 1)
	go func() { // ends with the connection
		conn, err := listener.Accept()
		if err != nil {
			heard <- nil
			return
		}
		first := make([]byte, 4096)
		n, _ := conn.Read(first)
		_ = conn.Close()
		heard <- first[:n]
	}()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := workspaceproxy.NewServer(workspaceproxy.ServerConfig{Address: listener.Addr().String(), TokenFile: file, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Open(t.Context(), ""); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if first := <-heard; len(first) == 0 || first[0] != 22 || strings.Contains(string(first), token) { // a handshake of TLS
		t.Errorf("the server heard %.40q", first)
	}
}
