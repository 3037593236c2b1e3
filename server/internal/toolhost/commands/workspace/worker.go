package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	workspaces "github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
	"github.com/toolhost/toolhost/sdk/workspace/remote"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// work is the main function of a worker. It ends when the server closes the worker's standard
// input.
func work(dir string, in io.ReadCloser, out io.WriteCloser) error {
	local, err := workspaces.OpenLocal(dir)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	defer local.Close() // closing a folder reports nothing useful
	conn := newPipeConn(in, out)
	// The server bounds its clients. The bounds of the worker are those of its process.
	service := workspaceserver.New(workspaceserver.Config{
		MaxCommands: 1 << 10, Room: workspaceserver.NewRoom(1<<40, nil), Commands: commands.New().In,
		Open: func(_ context.Context, name string) (workspaces.Workspace, func(), error) {
			if name != "" {
				return nil, nil, &workspaces.Error{Message: "a worker has one workspace", Err: fs.ErrInvalid}
			}
			return local, func() {}, nil
		},
	})
	server := grpc.NewServer(workspaceserver.Options()...)
	workspacev1.RegisterWorkspaceServiceServer(server, service)
	go func() { // ends with the pipe, which ends with the server
		<-conn.closed
		server.Stop()
	}()
	if err := server.Serve(&single{conn: conn}); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serving the workspace: %w", err)
	}
	return nil
}

// pipeConn is a connection over two pipes.
type pipeConn struct {
	in     io.ReadCloser
	out    io.WriteCloser
	once   sync.Once
	closed chan struct{}
}

func newPipeConn(in io.ReadCloser, out io.WriteCloser) *pipeConn {
	return &pipeConn{in: in, out: out, closed: make(chan struct{})}
}

// Read implements net.Conn. The end of the pipe ends the connection.
func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// Write implements net.Conn.
func (c *pipeConn) Write(p []byte) (int, error) { return c.out.Write(p) }

// Close implements net.Conn.
func (c *pipeConn) Close() error {
	var err error
	c.once.Do(func() {
		close(c.closed)
		err = errors.Join(c.out.Close(), c.in.Close())
	})
	return err
}

// pipeAddr is the address of both ends.
type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (*pipeConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (*pipeConn) RemoteAddr() net.Addr { return pipeAddr{} }

// gRPC sets deadlines only for handshakes, which a pipe has not. A worker that hangs is killed.

func (*pipeConn) SetDeadline(time.Time) error      { return nil }
func (*pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (*pipeConn) SetWriteDeadline(time.Time) error { return nil }

// single is a listener with one connection.
type single struct {
	conn  *pipeConn
	taken bool
}

// Accept implements net.Listener. Only gRPC's loop calls it.
func (s *single) Accept() (net.Conn, error) {
	if !s.taken {
		s.taken = true
		return s.conn, nil
	}
	<-s.conn.closed
	return nil, net.ErrClosed
}

func (s *single) Close() error { return s.conn.Close() }
func (*single) Addr() net.Addr { return pipeAddr{} }

// session is the server's connection with a worker. It implements process.Session.
type session struct {
	pipe      *pipeConn
	conn      *grpc.ClientConn
	workspace workspaces.Workspace
}

// openSession implements process.PipesFunc.
func openSession(ctx context.Context, pipes process.Pipes) (*session, error) {
	s := &session{pipe: newPipeConn(pipes.Out, pipes.In)}
	var once sync.Once
	conn, err := grpc.NewClient("passthrough:///worker",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(workspacepb.MessageBytes)),
		grpc.WithIdleTimeout(0), grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			first := false
			once.Do(func() { first = true })
			if !first {
				return nil, errors.New("the process of the workspace has ended")
			}
			return s.pipe, nil
		}))
	if err != nil {
		return nil, errors.Join(err, s.pipe.Close())
	}
	s.conn = conn
	if s.workspace, err = remote.Open(ctx, remote.Config{Conn: conn}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Done implements process.Session.
func (s *session) Done() <-chan struct{} { return s.pipe.closed }

// Close implements process.Session.
func (s *session) Close() error {
	err := s.conn.Close()
	if closeErr := s.pipe.Close(); closeErr != nil && !errors.Is(closeErr, os.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	return err
}
