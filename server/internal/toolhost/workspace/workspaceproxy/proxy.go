// Package workspaceproxy gives plugins their workspaces at unix sockets: workspaces in memory, or
// at the server that the operator configured.
//
// A plugin's process has no network and gets no credentials. It gets the folder of one socket, and
// behind that socket is one workspace: a plugin cannot name another. The package owns the sockets
// and the connection to the operator's server. It does not decide which workspace a plugin gets.
package workspaceproxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// Backend has workspaces. All methods are safe for concurrent use.
type Backend interface {
	// Open returns the workspace with a name. An error is an *workspace.Error, or that of ctx.
	Open(ctx context.Context, name string) (workspace.Workspace, error)
	// Close releases the workspaces.
	Close() error
}

// Proxy has the sockets. All methods are safe for concurrent use.
type Proxy struct {
	folder  string
	backend Backend
	logger  *slog.Logger
	room    *workspaceserver.Room
	serving sync.WaitGroup

	mu      sync.Mutex
	sockets map[string]*socket // by the names of their folders
	closed  bool
}

// socket serves one workspace with one access.
type socket struct {
	server *grpc.Server
	claims int
}

// totalRoom and socketRoom bound the contents of writes in progress, of all plugins and of those
// with one socket. The second is twice the largest content.
const (
	totalRoom  = 512 << 20
	socketRoom = 128 << 20
)

// New returns a proxy whose sockets are in folders below folder, which it creates. Its path must be
// short: 60 bytes follow. The proxy owns the backend.
func New(folder string, backend Backend, logger *slog.Logger) (*Proxy, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("creating the folder for the sockets of workspaces: %w", err), backend.Close())
	}
	return &Proxy{folder: folder, backend: backend, logger: logger, room: workspaceserver.NewRoom(totalRoom, nil), sockets: map[string]*socket{}}, nil
}

// Claim is the right of one process to use a workspace.
type Claim struct {
	proxy *Proxy
	name  string // of the folder
	once  sync.Once
}

// Folder returns the folder of the socket, which the process must be able to read.
func (c *Claim) Folder() string { return filepath.Join(c.proxy.folder, c.name) }

// Socket returns the path of the socket.
func (c *Claim) Socket() string { return filepath.Join(c.Folder(), "s") }

// Claim returns the socket of a workspace for one process. name has letters, digits, "-" and "_",
// at most 40; empty means the only one. The same workspace and access have the same socket. The
// caller releases the claim when the process is gone.
func (p *Proxy) Claim(name string, readOnly bool) (*Claim, error) {
	folder := "w" + name
	if readOnly {
		folder = "r" + name
	}
	c := &Claim{proxy: p, name: folder}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("toolhost is stopping")
	}
	s := p.sockets[folder]
	if s == nil {
		var err error
		if s, err = p.listen(c, name, readOnly); err != nil {
			return nil, fmt.Errorf("opening the socket of the workspace: %w", err)
		}
		p.sockets[folder] = s
	}
	s.claims++
	return c, nil
}

// listen opens the socket of a claim and serves it. The caller holds the lock; nothing here blocks
// on another process.
func (p *Proxy) listen(c *Claim, name string, readOnly bool) (*socket, error) {
	if err := os.Mkdir(c.Folder(), 0o700); err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.Socket(), Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Folder()))
	}
	// Release removes the folder. A server that is stopped before it serves closes its listener late,
	// when the next claim may have a socket of the same name.
	listener.SetUnlinkOnClose(false)
	s := &socket{server: grpc.NewServer(workspaceserver.Options()...)}
	workspacev1.RegisterWorkspaceServiceServer(s.server, workspaceserver.New(workspaceserver.Config{
		ReadOnly: readOnly, Room: workspaceserver.NewRoom(socketRoom, p.room),
		Open: func(ctx context.Context, other string) (workspace.Workspace, func(), error) {
			if other != "" {
				return nil, nil, &workspace.Error{Message: "a plugin has one workspace, and names none", Err: fs.ErrInvalid}
			}
			w, err := p.backend.Open(ctx, name)
			return w, func() {}, err
		},
	}))
	p.serving.Go(func() { // ends with Stop; Close waits
		if err := s.server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			p.logger.Warn("a workspace is not served any more", "error", err)
		}
	})
	return s, nil
}

// Release ends the claim. The last one closes the socket of a workspace that has a name; that of
// the only workspace stays, so that all processes start in the same way.
func (c *Claim) Release() {
	c.once.Do(func() {
		p := c.proxy
		p.mu.Lock()
		s := p.sockets[c.name]
		if s == nil {
			p.mu.Unlock()
			return
		}
		s.claims--
		last := s.claims == 0 && len(c.name) > 1
		if last {
			delete(p.sockets, c.name)
			_ = os.RemoveAll(c.Folder()) // before another claim makes it again
		}
		p.mu.Unlock()
		if last {
			s.server.Stop()
		}
	})
}

// Close ends all RPCs, closes the sockets and the backend, and waits.
func (p *Proxy) Close() error {
	p.mu.Lock()
	sockets := p.sockets
	p.sockets, p.closed = map[string]*socket{}, true
	p.mu.Unlock()
	for _, s := range sockets {
		s.server.Stop()
	}
	p.serving.Wait()
	return errors.Join(p.backend.Close(), os.RemoveAll(p.folder))
}
