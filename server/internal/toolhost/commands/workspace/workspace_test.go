package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/internal/wire/credential"
	workspaces "github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaceproxy"
)

// TestMain is also the main function of workers and of the supervisors of their commands.
func TestMain(m *testing.M) {
	commands.Supervise()
	if len(os.Args) == 3 && os.Args[1] == workerCommand {
		if err := work(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/toolhost/toolhost/server/internal/toolhost/process/pidns.(*thread).run"))
}

func TestTheCommandLineIsChecked(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		f    flags
		want string
	}{
		"no root":        {flags{listen: "unix:///x/s"}, "--root is missing"},
		"no address":     {flags{root: dir}, "--listen is missing"},
		"plain TCP":      {flags{root: dir, listen: "127.0.0.1:0"}, "needs TLS"},
		"anybody":        {flags{root: dir, listen: "127.0.0.1:0", certificate: "c", key: "k"}, "prove who they are"},
		"TLS on unix":    {flags{root: dir, listen: "unix:///x/s", certificate: "c", key: "k"}, "needs no TLS"},
		"no such folder": {flags{root: filepath.Join(dir, "none"), listen: "unix:///x/s"}, "cannot be used"},
		"token inside":   {flags{root: dir, listen: "unix:///x/s", tokenFile: put(t, filepath.Join(dir, "token"), goodToken)}, "could read"},
		"no processes":   {flags{root: dir, listen: "unix:///x/s", processes: 1}, "at least 16"},
	} {
		if test.f.processes == 0 {
			test.f.processes, test.f.commands = 100, 4
		}
		if _, err := test.f.check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v; want %q", name, err, test.want)
		}
	}
}

// serve runs the server until the end of the test and returns its address.
func serve(t *testing.T, f flags) string {
	t.Helper()
	t.Setenv("TMPDIR", "/tmp") // short enough for a socket
	f.processes, f.commands = 100, 4
	reader, writer := io.Pipe()
	var log bytes.Buffer
	f.stdout, f.log = writer, &log
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { // ends with ctx
		err := f.run(ctx)
		ended <- errors.Join(err, writer.Close())
	}()
	line, _ := bufio.NewReader(reader).ReadString('\n')
	_, at, found := strings.Cut(strings.TrimSpace(line), "is ready at ")
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the log: %s", log.String())
		}
	})
	if !found {
		t.Fatalf("got the line %q", line)
	}
	return at
}

// connect returns a workspace of a server, as toolhost does.
func connect(t *testing.T, name string, cfg workspaceproxy.ServerConfig) (workspaces.Workspace, error) {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := workspaceproxy.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Open(t.Context(), name)
}

const goodToken = "one-good-token-of-many"

func put(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOnlyKnownClients(t *testing.T) {
	ca, other := testca.New(t), testca.New(t)
	certificate, key := ca.Files(t, "127.0.0.1")
	client, clientKey := ca.Files(t, "client.example")
	foreign, foreignKey := other.Files(t, "client.example")
	root := t.TempDir()
	token := put(t, filepath.Join(t.TempDir(), "token"), goodToken+"\n")
	wrong := put(t, filepath.Join(t.TempDir(), "wrong"), "another-token-of-many")
	at := serve(t, flags{root: root, listen: "127.0.0.1:0", certificate: certificate, key: key, clientCA: ca.Path, tokenFile: token})
	for name, test := range map[string]struct {
		cfg   workspaceproxy.ServerConfig
		known bool
	}{
		"nothing":                  {workspaceproxy.ServerConfig{TLS: &credential.TLS{CA: ca.Path}}, false},
		"a wrong token":            {workspaceproxy.ServerConfig{TLS: &credential.TLS{CA: ca.Path}, TokenFile: wrong}, false},
		"a foreign certificate":    {workspaceproxy.ServerConfig{TLS: &credential.TLS{CA: ca.Path, Certificate: foreign, Key: foreignKey}}, false},
		"the token":                {workspaceproxy.ServerConfig{TLS: &credential.TLS{CA: ca.Path}, TokenFile: token}, true},
		"a certificate":            {workspaceproxy.ServerConfig{TLS: &credential.TLS{CA: ca.Path, Certificate: client, Key: clientKey}}, true},
		"the token for a stranger": {workspaceproxy.ServerConfig{TLS: &credential.TLS{CA: other.Path}, TokenFile: token}, false},
	} {
		test.cfg.Address = at
		w, err := connect(t, "", test.cfg)
		if (err == nil) != test.known || err != nil && !errors.Is(err, workspaces.ErrUnavailable) {
			t.Errorf("%s: got %v, %v", name, w, err)
		}
	}
	w, err := connect(t, "", workspaceproxy.ServerConfig{Address: at, TLS: &credential.TLS{CA: ca.Path}, TokenFile: token})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := w.(workspaces.Commands).Run(t.Context(), workspaces.Command{Argv: []string{"cat", token, key}, Stdout: &out}); err != nil || out.Len() > 0 {
		t.Errorf("a command sees %q, %v", out.String(), err)
	}
	// A connection that is not renewed uses the present token, too.
	put(t, token, "another-good-token-of-many\n")
	eventually.Holds(t, "the new token counts", func() bool {
		_, err := w.Stat(t.Context(), ".")
		return err == nil
	})
	stale := put(t, filepath.Join(t.TempDir(), "stale"), goodToken)
	if _, err := connect(t, "", workspaceproxy.ServerConfig{Address: at, TLS: &credential.TLS{CA: ca.Path}, TokenFile: stale}); err == nil {
		t.Error("the old token counts")
	}
}

// At a unix socket, the user of the server needs no credentials. The server has the workspaces that
// it was started for.
func TestWorkspacesOfAServer(t *testing.T) {
	for name, separate := range map[string]bool{"one": false, "separate": true} {
		t.Run(name, func(t *testing.T) {
			run, err := os.MkdirTemp("/tmp", "wserve-")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(run)
			root := t.TempDir()
			at := serve(t, flags{root: root, listen: "unix://" + filepath.Join(run, "s"), separate: separate})
			own, err := connect(t, map[bool]string{true: "tenant-1"}[separate], workspaceproxy.ServerConfig{Address: at})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := own.WriteFile(t.Context(), "a", []byte("a"), workspaces.WriteOptions{}); err != nil {
				t.Error(err)
			}
			where := filepath.Join(root, map[bool]string{true: "tenant-1"}[separate], "a")
			if _, err := os.Stat(where); err != nil {
				t.Error(err)
			}
			for _, refused := range map[bool][]string{false: {"tenant-1"}, true: {"", "../tenant-1", "a/b"}}[separate] {
				if _, err := connect(t, refused, workspaceproxy.ServerConfig{Address: at}); err == nil {
					t.Errorf("the workspace %q was opened", refused)
				}
			}
		})
	}
}

// A server has a bounded number of workers, and ends idle ones for others.
func TestWorkersAreBounded(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	run, err := os.MkdirTemp("/tmp", "wpool-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(run)
	p := newPool(&flags{root: t.TempDir(), separate: true, processes: 100, runDir: run}, slog.New(slog.DiscardHandler))
	defer p.close()
	p.most = 1
	_, releaseA, err := p.open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.open(t.Context(), "b"); !errors.Is(err, workspaces.ErrUnavailable) {
		t.Errorf("beyond the bound: got %v", err)
	}
	first := p.workers["a"].process
	releaseA()
	b, releaseB, err := p.open(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	defer releaseB()
	if _, err := b.Stat(t.Context(), "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	select {
	case <-first.Done():
	case <-time.After(time.Minute):
		t.Error("the worker that was not needed runs")
	}
}
