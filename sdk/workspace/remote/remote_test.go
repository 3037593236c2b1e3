package remote_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
	"github.com/toolhost/toolhost/sdk/workspace/remote"
	"github.com/toolhost/toolhost/sdk/workspace/workspacetest"
)

// TestMain is also the main function of supervisors of commands.
func TestMain(m *testing.M) {
	commands.Supervise()
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil { // each supervisor would sleep for a second
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// link is the connection of a client with a server, until the end of the test.
type link struct {
	*grpc.ClientConn
	server *grpc.Server
}

// serve connects a client with a service.
func serve(t *testing.T, service workspacev1.WorkspaceServiceServer) link {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(workspaceserver.Options()...)
	workspacev1.RegisterWorkspaceServiceServer(server, service)
	done := make(chan struct{})
	go func() { // ends with Stop
		defer close(done)
		_ = server.Serve(listener)
	}()
	conn, err := grpc.NewClient("passthrough:///test",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(workspacepb.MessageBytes)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		<-done
	})
	return link{conn, server}
}

// of returns a server of one workspace.
func of(w workspace.Workspace, l *commands.Launcher) *workspaceserver.Server {
	cfg := workspaceserver.Config{Open: func(_ context.Context, name string) (workspace.Workspace, func(), error) {
		if name != "" {
			return nil, nil, &workspace.Error{Message: "there is one workspace", Err: fs.ErrInvalid}
		}
		return w, func() {}, nil
	}}
	if l != nil {
		cfg.Commands = l.In
	}
	return workspaceserver.New(cfg)
}

// connect returns the client of a workspace.
func connect(t *testing.T, conn grpc.ClientConnInterface) workspace.Workspace {
	t.Helper()
	w, err := remote.Open(t.Context(), remote.Config{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// openLocal returns a folder with files.
func openLocal(t *testing.T, files map[string]workspace.MemoryFile) (*workspace.Local, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := create(path, file); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, dir
}

func create(path string, file workspace.MemoryFile) error {
	switch file.Mode.Type() {
	case fs.ModeDir:
		return os.MkdirAll(path, 0o777)
	case fs.ModeSymlink:
		return os.Symlink(file.Content, path)
	case fs.ModeNamedPipe:
		return syscall.Mkfifo(path, 0o666)
	}
	mode := file.Mode.Perm()
	if mode == 0 {
		mode = 0o666
	}
	if err := os.WriteFile(path, []byte(file.Content), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

func TestRemote(t *testing.T) {
	for name, open := range map[string]workspacetest.New{
		"of a folder": func(t *testing.T, files map[string]workspace.MemoryFile) (workspace.Workspace, string) {
			local, dir := openLocal(t, files)
			return connect(t, serve(t, of(local, nil))), dir
		},
		"of memory": func(t *testing.T, files map[string]workspace.MemoryFile) (workspace.Workspace, string) {
			return connect(t, serve(t, of(workspace.NewMemory(files), nil))), workspace.MemoryDir
		},
		// toolhost passes on what the server of the operator has.
		"of a remote one": func(t *testing.T, files map[string]workspace.MemoryFile) (workspace.Workspace, string) {
			local, dir := openLocal(t, files)
			return connect(t, serve(t, of(connect(t, serve(t, of(local, nil))), nil))), dir
		},
	} {
		t.Run(name, func(t *testing.T) { workspacetest.Run(t, open) })
	}
}

func TestRemoteCommands(t *testing.T) {
	l := commands.New()
	for name, hops := range map[string]int{"of a folder": 1, "of a remote one": 2} {
		t.Run(name, func(t *testing.T) {
			workspacetest.RunCommands(t, func(t *testing.T) (workspace.Workspace, workspace.Commands) {
				local, _ := openLocal(t, nil)
				var w workspace.Workspace = local
				for range hops {
					w = connect(t, serve(t, of(w, l)))
				}
				c, err := l.In(w)
				if err != nil {
					t.Fatal(err)
				}
				if _, own := w.(workspace.Commands); !own {
					t.Error("the commands would run here")
				}
				return w, c
			})
		})
	}
}
