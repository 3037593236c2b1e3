package sdk

import (
	"context"
	"os"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/remote"
)

// workspaceVariable has the path of the socket at which toolhost serves the workspace, if the
// workspace is no folder of this machine.
const workspaceVariable = "TOOLHOST_WORKSPACE"

// OpenWorkspace opens the folder in which the tool may work: a folder of this machine, or what
// toolhost serves in its place, in memory or at a remote server. Its methods keep every path inside
// the folder: see package workspace. The caller closes it, and closes the files that it opens.
//
// If the call has no workspace, the error is of kind unavailable and says what the operator can do.
// A test gives its tool a workspace in memory with workspace.NewContext and sdktest.WithContext.
func OpenWorkspace(ctx context.Context) (workspace.Workspace, error) {
	if w := workspace.FromContext(ctx); w != nil {
		return w.Sub(ctx, ".") // closing the result leaves w open
	}
	if socket := os.Getenv(workspaceVariable); socket != "" {
		return served.open(ctx, socket)
	}
	dir := Workspace(ctx)
	if dir == "" {
		return nil, Unavailable("this call comes without a workspace, and the tool works in nothing else; the operator names one with toolhost serve --workspace DIR")
	}
	w, err := workspace.OpenLocal(dir)
	if err != nil {
		return nil, Unavailable("opening the workspace: %w", err)
	}
	return w, nil
}

// served is the workspace at the socket of this process. A process has one socket, and keeps its
// connection until it ends.
var served servedWorkspace

type servedWorkspace struct {
	mu     sync.Mutex
	socket string
	conn   *grpc.ClientConn
	opened workspace.Workspace // nil until toolhost has described it
}

// open returns the workspace at a socket. It holds no lock while it asks toolhost.
func (s *servedWorkspace) open(ctx context.Context, socket string) (workspace.Workspace, error) {
	conn, opened, err := s.connect(socket)
	if err == nil && opened == nil {
		opened, err = remote.Open(ctx, remote.Config{Conn: conn})
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = opened
	return opened, nil
}

// connect returns the connection, and the workspace if it is open.
func (s *servedWorkspace) connect(socket string) (*grpc.ClientConn, workspace.Workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.socket == socket {
		return s.conn, s.opened, nil
	}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig())
	if err != nil {
		return nil, nil, Unavailable("connecting to the workspace: %w", err)
	}
	s.conn, s.socket, s.opened = conn, socket, nil
	return conn, nil, nil
}
