// Package passing lets servers that share a database pass requests on to each other, for the
// principals that made them.
//
// Whoever has a certificate of the servers' CA can name every principal. So the listener for these
// servers accepts no other certificate, an Authenticator is for that listener alone, and it admits
// to few RPCs. See docs/shared-ledger.md and docs/postgresql.md.
package passing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/credential"
)

const (
	// callerKey is the metadata with the principal for which a request is passed on, as JSON.
	callerKey = "toolhost-node-caller-bin"
	// targetKey is the metadata with the id of the server for which the request is.
	targetKey = "toolhost-node-target"
	// unused is how long a connection stays open without a request.
	unused = 5 * time.Minute
)

// For returns the context of a request that is passed on for a principal to the server with an id.
// Another server refuses it.
func For(ctx context.Context, caller identity.Principal, to string) (context.Context, error) {
	named, err := json.Marshal(caller)
	if err != nil {
		return nil, err
	}
	return metadata.AppendToOutgoingContext(ctx, callerKey, string(named), targetKey, to), nil
}

// Config configures Links. Program and TLS are required.
type Config struct {
	Program string         // the name of the servers, for messages
	TLS     credential.TLS // the files of this server and of the servers' CA
	// MaxReceived is the largest answer, in bytes. 0 means that of gRPC.
	MaxReceived int
	Unused      time.Duration // how long a connection stays open without a request; 0: five minutes
}

// Links are connections to other servers. Use NewLinks to make them, and Close to end. All methods
// are safe for concurrent use.
type Links struct {
	cfg Config

	mu     sync.Mutex
	closed bool
	links  map[string]*link // by address
}

// link is the connection to one server.
type link struct {
	conn  *grpc.ClientConn
	users int
	timer *time.Timer // closes it; nil: it was always in use
}

// NewLinks returns Links without a connection.
func NewLinks(cfg Config) *Links {
	cfg.Unused = cmp.Or(cfg.Unused, unused)
	return &Links{cfg: cfg, links: map[string]*link{}}
}

// Open returns how many connections there are.
func (p *Links) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Close closes all connections. Requests in progress fail.
func (p *Links) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for at, l := range p.links {
		l.close()
		delete(p.links, at)
	}
}

func (l *link) close() {
	if l.timer != nil {
		l.timer.Stop()
	}
	_ = l.conn.Close()
}

// Connect returns a connection to the server at an address, which is made with its first request.
// The caller calls done after its request.
func (p *Links) Connect(at string) (_ grpc.ClientConnInterface, done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errors.New("this " + p.cfg.Program + " stops")
	}
	l := p.links[at]
	if l == nil {
		l = &link{}
		if l.conn, err = p.dial(at); err != nil {
			return nil, nil, err
		}
		p.links[at] = l
	}
	l.users++
	if l.timer != nil {
		l.timer.Stop()
	}
	return l.conn, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if l.users--; l.users == 0 && p.links[at] == l {
			l.timer = time.AfterFunc(p.cfg.Unused, func() { p.drop(at, l) })
		}
	}, nil
}

// drop closes a connection that is not used.
func (p *Links) drop(at string, l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.users == 0 && p.links[at] == l {
		l.close()
		delete(p.links, at)
	}
}

func (p *Links) dial(text string) (*grpc.ClientConn, error) {
	at, err := address.ParseServer(text)
	if err != nil {
		return nil, err
	}
	resolved, err := credential.Settings{TLS: &p.cfg.TLS, IgnoreEnvironment: true}.Resolve(p.cfg.Program, at, nil) // refuses a unix socket
	if err != nil {
		return nil, err
	}
	transport, err := resolved.Transport(func(error) {})
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return at.Dial(ctx) }),
		grpc.WithTransportCredentials(transport),
		grpc.WithAuthority(resolved.Authority()),
		grpc.WithDisableServiceConfig(),
		// A server that restarts is found again soon.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}, MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
	}
	if p.cfg.MaxReceived > 0 {
		options = append(options, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(p.cfg.MaxReceived)))
	}
	return grpc.NewClient("passthrough:///node", options...)
}
