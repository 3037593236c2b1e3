package link

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/tool"
)

const (
	// maxFound bounds the servers that DNS can add.
	maxFound = 100
	// lookupEvery is the least time between two lookups of a name in DNS.
	lookupEvery = 10 * time.Second
	// probeEvery is the least time between two attempts to reach a server that did not answer.
	probeEvery = time.Second
	// connectWait bounds a lookup, and the attempt to connect to one of several servers. An RPC
	// goes to the next server after it.
	connectWait = 5 * time.Second
)

// Route is where an RPC can go: a Link, or the servers of a Fleet.
type Route interface {
	// links returns the servers in the order in which to try them, at least one. Errors are
	// *tool.Error.
	links(ctx context.Context) ([]*Link, error)
}

func (l *Link) links(context.Context) ([]*Link, error) { return []*Link{l}, nil }

// Fleet is links to servers of which any can answer an RPC. All methods are safe for concurrent
// use.
//
// Each RPC has a key, such as a session. The fleet orders the servers by a hash of the key and
// their address (rendezvous hashing). So all clients that know the same addresses send a key to the
// same server, and a server that leaves moves only its own keys, to all others. A server that did
// not answer is the last choice until it accepts a connection, which the fleet tries as long as
// there are RPCs.
//
// It is no balancer of gRPC, because gRPC tells neither which server a stream of a balanced
// connection has, nor that this server shuts down.
type Fleet struct {
	name  string // of all servers, for people
	own   string // the key of RPCs without one; another one in each fleet, so that they are spread
	find  func(context.Context) ([]string, error)
	open  func(addr string) (*Link, error)
	ctx   context.Context // of tasks; ends with Close
	stop  context.CancelFunc
	tasks sync.WaitGroup

	mutex  sync.Mutex
	now    []*Link          // replaced, never changed
	all    map[string]*Link // also those that find does not return any more
	looked time.Time
	lookup chan struct{} // closed when the lookup ends; nil: there is none
	failed error         // of the last lookup
}

// NewFleet returns a fleet of links. name is that of all of them. The caller must call Close, which
// closes the links.
func NewFleet(name string, links ...*Link) *Fleet {
	f := &Fleet{name: name, own: rand.Text(), now: links, all: map[string]*Link{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	for _, l := range links {
		f.all[l.Addr()] = l
	}
	return f
}

// FindFleet returns a fleet of the servers at the addresses that find returns, which it calls again
// from time to time. open returns a new link to an address. The caller must call Close.
func FindFleet(name string, find func(context.Context) ([]string, error), open func(addr string) (*Link, error)) *Fleet {
	f := NewFleet(name)
	f.find, f.open = find, open
	return f
}

// Name returns the name of all servers.
func (f *Fleet) Name() string { return f.name }

// Close closes all links, and waits for the goroutines of the fleet. It may be called more than
// once.
func (f *Fleet) Close() error {
	f.mutex.Lock()
	f.stop()
	f.mutex.Unlock()
	f.tasks.Wait()
	var errs []error
	for _, l := range f.all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// To returns the route of an RPC that any server may answer. If one is unavailable or does not find
// what the RPC is about, the next one is asked. An empty key is that of the fleet.
func (f *Fleet) To(key string) Route { return f.route(key, false) }

// One returns the route of an RPC that is never made twice.
func (f *Fleet) One(key string) Route { return f.route(key, true) }

func (f *Fleet) route(key string, one bool) Route {
	if f.Single() {
		return f.now[0]
	}
	return route{f, key, one}
}

// Single reports whether the fleet never has another link than one.
func (f *Fleet) Single() bool { return f.find == nil && len(f.all) == 1 }

type route struct {
	fleet *Fleet
	key   string
	one   bool
}

func (r route) links(ctx context.Context) ([]*Link, error) {
	links, err := r.fleet.Order(ctx, r.key)
	if r.one && err == nil {
		links = links[:1]
	}
	return links, err
}

// Order returns the links in the order in which a key should try them, at least one. Errors are
// *tool.Error.
func (f *Fleet) Order(ctx context.Context, key string) ([]*Link, error) {
	if f.Single() {
		return f.now, nil
	}
	links, err := f.known(ctx)
	if err != nil {
		return nil, err
	}
	if key == "" {
		key = f.own
	}
	type place struct {
		away bool
		rank [sha256.Size]byte
		link *Link
	}
	places := make([]place, 0, len(links))
	for _, l := range links {
		away := l.away.Load()
		if away {
			f.probe(l)
		}
		places = append(places, place{away, sha256.Sum256([]byte(l.Addr() + "\x00" + key)), l})
	}
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.away == b.away:
			return bytes.Compare(a.rank[:], b.rank[:])
		case a.away:
			return 1
		}
		return -1
	})
	ordered := make([]*Link, len(places))
	for i, p := range places {
		ordered[i] = p.link
	}
	return ordered, nil
}

// known returns the links. It waits for a lookup only if there are none.
func (f *Fleet) known(ctx context.Context) ([]*Link, error) {
	f.mutex.Lock()
	links := f.now
	if f.find != nil && f.lookup == nil && f.ctx.Err() == nil && (len(links) == 0 || time.Since(f.looked) > lookupEvery) {
		f.lookup = make(chan struct{})
		f.tasks.Go(f.look)
	}
	lookup := f.lookup
	f.mutex.Unlock()
	if len(links) > 0 {
		return links, nil
	}
	if lookup == nil {
		return nil, tool.Errorf(tool.KindCancelled, "%w", ErrClosed)
	}
	select {
	case <-lookup:
	case <-ctx.Done():
		return nil, tool.AsError(ctx.Err())
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.now) == 0 {
		return nil, tool.Errorf(tool.KindUnavailable, "no server was found at %s: %s%w", f.name, f.failed, NoServer(f.failed))
	}
	return f.now, nil
}

// look asks for the addresses. If it fails, those that are known stay.
func (f *Fleet) look() {
	ctx, cancel := context.WithTimeout(f.ctx, connectWait)
	defer cancel()
	addresses, err := f.find(ctx)
	if len(addresses) > maxFound {
		err = fmt.Errorf("there are %d addresses, and the maximum is %d", len(addresses), maxFound)
	}
	if len(addresses) == 0 && err == nil {
		err = errors.New("there are no addresses")
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	defer close(f.lookup)
	var found []*Link
	for _, addr := range addresses {
		if err != nil {
			break
		}
		if f.all[addr] == nil {
			var l *Link
			if l, err = f.open(addr); err == nil {
				f.all[addr] = l
			}
		}
		found = append(found, f.all[addr])
	}
	if err == nil {
		f.now = found
	}
	f.looked, f.lookup, f.failed = time.Now(), nil, err
}

// probe tries to reach a server that did not answer, unless it did so a moment ago.
func (f *Fleet) probe(l *Link) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.ctx.Err() != nil || l.probing.Load() || time.Since(l.probed) < probeEvery {
		return
	}
	l.probing.Store(true)
	l.probed = time.Now()
	f.tasks.Go(func() {
		defer l.probing.Store(false)
		conn, err := l.Acquire()
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(f.ctx, connectWait)
		defer cancel()
		conn.Connect()
		for state := conn.GetState(); state != connectivity.Ready; state = conn.GetState() {
			if state == connectivity.TransientFailure || !conn.WaitForStateChange(ctx, state) {
				err = status.Error(codes.Unavailable, "")
				break
			}
		}
		if err == nil {
			l.away.Store(false)
		}
		l.Release(conn, err)
	})
}

// elsewhere reports whether another server may give a better answer.
func elsewhere(err error) bool {
	kind := tool.KindOf(err)
	return kind == tool.KindUnavailable || kind == tool.KindNotFound
}

// better returns the error that says more about the RPC of a route: that one server could not say
// whether it has what the others do not have.
func better(first, next error) error {
	if first == nil || tool.KindOf(first) == tool.KindNotFound && tool.KindOf(next) == tool.KindUnavailable {
		return next
	}
	return first
}

// impatient bounds the time in which a dialer connects.
func impatient(dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, connectWait)
		defer cancel()
		return dial(ctx)
	}
}
