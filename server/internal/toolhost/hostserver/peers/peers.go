// Package peers passes requests about a call or an artifact of another toolhost on to that one, if
// both share a ledger. The other one carries them out for the same principal, by its own policy. It
// passes nothing on again.
//
// Package passing says what the other toolhost believes. See docs/shared-ledger.md.
package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/passing"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxStreams is the most requests in progress that one toolhost accepts from another one, and
	// maxWatches how many of them follow calls, so that there is always room for others.
	maxStreams = 1024
	maxWatches = maxStreams / 2
	// maxWatchesOf bounds those of one principal.
	maxWatchesOf = 64
)

// Options returns further options of the server for other toolhosts.
func Options() []grpc.ServerOption { return []grpc.ServerOption{grpc.MaxConcurrentStreams(maxStreams)} }

// Ledger knows the toolhosts of a ledger, as *postgres.Store does.
type Ledger interface {
	PeerOfCall(ctx context.Context, key callstore.Key) (p postgres.Peer, found bool, err error)
	PeerOfFolder(ctx context.Context, begin string) (p postgres.Peer, found bool, err error)
}

// Config configures Peers. Ledger, TLS and Logger are required.
type Config struct {
	Ledger Ledger
	// Has reports whether this toolhost has a call in memory. Peers does not look for such a call in
	// the ledger, which may be unreachable. Nil: this toolhost has no calls in memory.
	Has    func(tool.CallKey) bool
	TLS    credential.TLS // the files of this toolhost and of the toolhosts' CA
	Logger *slog.Logger
	// Passed receives the method and the outcome of each request that was passed on. Nil: none.
	Passed func(method, outcome string)
	Unused time.Duration // how long a connection stays open without a request; 0: five minutes
}

// Peers are the other toolhosts of a ledger. Use New to make them, and Close to end. All methods
// are safe for concurrent use.
type Peers struct {
	cfg   Config
	links *passing.Links

	mu       sync.Mutex
	watches  int
	watching map[string]int // by the key of the principal
}

// New returns peers without a connection.
func New(cfg Config) *Peers {
	return &Peers{cfg: cfg, links: passing.NewLinks(passing.Config{Program: "toolhost", TLS: cfg.TLS, MaxReceived: hostpb.MaxMessageBytes, Unused: cfg.Unused}), watching: map[string]int{}}
}

// Close closes all connections. Requests in progress fail.
func (p *Peers) Close() { p.links.Close() }

// Call passes a request on to the toolhost that executes a call: it calls send with a client of
// that toolhost. passed is false if no other toolhost executes the call, if that toolhost has no
// address, or if the ledger cannot be read. err is then nil. Otherwise err is the error of the
// other toolhost, or unavailable if it cannot be reached.
func (p *Peers) Call(ctx context.Context, key tool.CallKey, send func(context.Context, toolhostv1.ToolServiceClient) error) (passed bool, err error) {
	if p.cfg.Has != nil && p.cfg.Has(key) {
		return false, nil
	}
	peer, found, err := p.cfg.Ledger.PeerOfCall(ctx, callstore.Key{Principal: key.Principal, Session: key.Session, ID: key.ID})
	if err != nil || !found || peer.Address == "" {
		return false, nil // the request then ends as it would without Peers
	}
	if err = p.pass(ctx, peer, send); errors.Is(err, errUnreachable) {
		failure := tool.Errorf(tool.KindUnavailable, "the call is under way at the toolhost %s: %w", peer.Label(), err)
		failure.CallID = key.ID
		err = failure
	}
	return true, err
}

// Watch is Call for a request that lasts as long as its call. passed is also false if too many such
// requests are in progress. reachable is false if the other toolhost could not be reached, or could
// be reached first and then no more.
func (p *Peers) Watch(ctx context.Context, key tool.CallKey, send func(context.Context, toolhostv1.ToolServiceClient) error) (passed, reachable bool, err error) {
	caller, _ := identity.FromContext(ctx)
	who := caller.Key()
	p.mu.Lock()
	full := p.watches >= maxWatches || p.watching[who] >= maxWatchesOf
	if !full {
		p.watches++
		p.watching[who]++
	}
	p.mu.Unlock()
	if full {
		return false, true, nil
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.watches--
		if p.watching[who]--; p.watching[who] == 0 {
			delete(p.watching, who)
		}
	}()
	passed, err = p.Call(ctx, key, send)
	return passed, !errors.Is(err, errUnreachable), err
}

// Artifact passes a request on to the toolhost that keeps an artifact. passed is false if its
// handle names no other toolhost. The error is that of the other toolhost, or unavailable if that
// toolhost, or the ledger that has its address, cannot be reached.
func (p *Peers) Artifact(ctx context.Context, handle string, send func(context.Context, toolhostv1.ToolServiceClient) error) (passed bool, err error) {
	place := artifact.PlaceOf(handle)
	if place == "" {
		return false, nil
	}
	peer, found, err := p.cfg.Ledger.PeerOfFolder(ctx, place)
	switch {
	case err != nil:
		return true, tool.Errorf(tool.KindUnavailable, "the toolhost that keeps the artifact cannot be looked up: %w", err)
	case !found:
		return false, nil
	case peer.Gone:
		return true, tool.Errorf(tool.KindUnavailable, "the artifact is in the state folder of the toolhost %s, which is gone: it is lost, unless a toolhost with that folder starts again", peer.Label())
	case peer.Address == "":
		return true, tool.Errorf(tool.KindUnavailable, "the artifact is at the toolhost %s, which other toolhosts cannot reach; read it there", peer.Label())
	}
	if err = p.pass(ctx, peer, send); errors.Is(err, errUnreachable) {
		err = tool.Errorf(tool.KindUnavailable, "the artifact is at the toolhost %s: %w", peer.Label(), err)
	}
	return true, err
}

// errUnreachable says that the other toolhost has not answered.
var errUnreachable = errors.New("it cannot be reached")

// The outcomes of requests for Config.Passed.
const (
	outcomeOK          = "ok"
	outcomeError       = "error" // the other toolhost has answered with an error
	outcomeUnreachable = "unreachable"
)

// pass sends a request of the caller of ctx, and reports how that ended.
func (p *Peers) pass(ctx context.Context, to postgres.Peer, send func(context.Context, toolhostv1.ToolServiceClient) error) error {
	err := p.send(ctx, to, send)
	if p.cfg.Passed != nil && !errors.Is(ctx.Err(), context.Canceled) { // a caller that leaves says nothing about the other toolhost
		method, _ := grpc.Method(ctx)
		outcome := outcomeOK
		switch {
		case errors.Is(err, errUnreachable):
			outcome = outcomeUnreachable
		case err != nil:
			outcome = outcomeError
		}
		p.cfg.Passed(path.Base(method), outcome)
	}
	return err
}

func (p *Peers) send(ctx context.Context, to postgres.Peer, send func(context.Context, toolhostv1.ToolServiceClient) error) error {
	caller, ok := identity.FromContext(ctx)
	if !ok {
		return errors.New("there is no caller to pass a request on for") // a bug
	}
	named, err := passing.For(ctx, caller, to.ID)
	if err != nil {
		return err
	}
	conn, done, err := p.links.Connect(to.Address)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	defer done()
	method, _ := grpc.Method(ctx)
	p.cfg.Logger.InfoContext(ctx, "a request is passed on to another toolhost", "method", method, "principal", caller.Key(), "node", to.Label(), "address", to.Address)
	err = send(named, toolhostv1.NewToolServiceClient(conn))
	if err == nil || answered(err) {
		return err
	}
	p.cfg.Logger.WarnContext(ctx, "another toolhost does not answer", "method", method, "node", to.Label(), "address", to.Address, "error", err)
	return fmt.Errorf("%w: %w", errUnreachable, toolpb.FromStatusError(err))
}

// answered reports whether an error is that of a toolhost, and not of the way to it. A toolhost has
// not answered either if it does not know the RPC or this certificate, or if the request is for
// another toolhost.
func answered(err error) bool {
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return true // of send itself
	}
	st, _ := status.FromError(err)
	for _, detail := range st.Details() {
		if _, ok := detail.(*toolv1.Error); ok {
			return true
		}
	}
	return false
}
