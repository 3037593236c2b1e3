// Package listen opens the listeners of toolhost and agentd: unix sockets, and TCP ports with or
// without TLS. It reads certificates again when their files change, and limits what clients over
// TCP can take before and after the server knows them.
//
// It does not know gRPC, and does not decide who a caller is or what it may do. docs/identity.md
// describes the listeners for operators.
package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/address"
)

// Config configures one listener.
type Config struct {
	Address address.Address
	// TLS are the files of TLS 1.3. nil: the listener is plain. A TCP address that is not on
	// loopback needs TLS.
	TLS *TLS
	// Accepts are the kinds of credentials that count: peer, certificate, token, jwt. nil: all.
	Accepts []string
	// Admits is the role of the callers of a plain TCP listener. Empty: none.
	Admits string
	// Web says that the clients are those of an HTTP server, which speak HTTP/1.1 or HTTP/2.
	// Otherwise they are those of a gRPC server.
	Web bool
	// Pages says that the clients are browsers, and that people log in at the pages. A plain port on
	// loopback then admits nobody by itself. Web has to be set, too.
	Pages bool
	// JSON says that the clients are programs with tokens, which use RPCs as JSON over HTTP. A plain
	// port on loopback then admits nobody by itself. Web has to be set, too.
	JSON bool
	// Nodes says that the clients are other servers of the same program. TLS has to demand
	// certificates of a CA that is only for them.
	Nodes bool
	// Proxies are the addresses of proxies, whose connections are those of many clients. They do not
	// count toward the limit of one address. nil: none.
	Proxies []netip.Prefix
}

// Check returns why a server must not open the listener, and what the operator can do. nil: it may.
func (c Config) Check() error {
	switch {
	case c.Address.IsUnix() && c.TLS != nil:
		return fmt.Errorf("%s is a unix socket, which needs no tls; remove tls, or use IP:PORT", c.Address)
	case c.Address.IsUnix() && c.Admits != "":
		return fmt.Errorf("%s is a unix socket, and the kernel names its callers; remove admits", c.Address)
	case c.Address.IsUnix():
		return nil
	case c.TLS != nil && c.Admits != "":
		return fmt.Errorf("%s has tls, and its callers prove who they are; remove admits, and give roles under auth.bindings", c.Address)
	case c.TLS == nil && !c.Address.IsLoopback():
		return fmt.Errorf("other machines can reach %s, so it needs tls and authentication; "+
			"write tls: {certificate: FILE, key: FILE} below its address, or listen at unix:///PATH", c.Address)
	case c.TLS == nil && c.Admits == "" && !c.Pages && !c.JSON:
		return fmt.Errorf("a TCP port such as %s without tls lets in every user and program of this machine, without asking which one it is; "+
			"listen at unix:///PATH, or add it to listeners with tls: {certificate: FILE, key: FILE}, or with admits: caller if that is what you want", c.Address)
	}
	return nil
}

// Describe returns the address and how the listener identifies callers, for people: a unix socket
// has only its address.
func (l *Listener) Describe() string {
	at := l.Address().String()
	switch {
	case l.config.Pages:
		return at + " for browsers"
	case l.config.JSON:
		at += " for JSON over HTTP"
	case l.config.Web:
		at += " for MCP"
	case l.config.Nodes:
		at += " for other nodes"
	}
	switch {
	case l.config.Address.IsUnix():
		return at
	case l.config.TLS == nil && l.config.JSON:
		return at + " (plain)"
	case l.config.TLS == nil:
		return fmt.Sprintf("%s (plain, admits %s)", at, l.config.Admits)
	case l.config.TLS.ClientCertificate == Required:
		return at + " (mutual TLS)"
	}
	return at + " (TLS)"
}

// Listener is one open listener.
type Listener struct {
	*address.Listener
	config       Config
	passed       bool          // systemd opened the socket
	certificates *certificates // nil: plain
	door         *door         // nil: a unix socket
}

// Accepts returns the kinds of credentials that count. nil: all.
func (l *Listener) Accepts() []string { return l.config.Accepts }

// Web reports whether the clients of the listener are those of an HTTP server; see Config.Web.
func (l *Listener) Web() bool { return l.config.Web }

// Pages reports whether the clients of the listener are browsers; see Config.Pages.
func (l *Listener) Pages() bool { return l.config.Pages }

// JSON reports whether the clients of the listener use JSON over HTTP; see Config.JSON.
func (l *Listener) JSON() bool { return l.config.JSON }

// Nodes reports whether the clients of the listener are other servers; see Config.Nodes.
func (l *Listener) Nodes() bool { return l.config.Nodes }

// Accept returns the next connection. Connections of TCP listeners, and those of
// listeners that accept only some kinds of credentials, are of type *Conn. Accept closes
// connections beyond the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		switch {
		case err != nil || l.door == nil && l.config.Accepts == nil:
			return c, err
		case l.door == nil:
			return &Conn{Conn: c, listener: l, closed: make(chan struct{})}, nil
		}
		if admitted := l.door.enter(c, l); admitted != nil {
			return admitted, nil
		}
	}
}

// Set is the open listeners of a server. All methods are safe for concurrent use.
type Set struct {
	Listeners []*Listener // in the order of their configurations; do not change it
	door      *door
	cancel    context.CancelFunc
	watching  sync.WaitGroup
}

// refresh is how often a Set looks whether certificates have changed. Reading three small files
// costs microseconds. Notifications of the file system would be faster, but they miss changes
// behind symbolic links and on network file systems.
const refresh = 2 * time.Second

// Open opens all listeners, or none. It takes over a socket that systemd holds at the address of a
// listener. program is the name of the server in errors. The caller must call Close. A nil logger
// discards the log.
func Open(ctx context.Context, program string, configs []Config, limits Limits, logger *slog.Logger) (*Set, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	held, err := takePassed()
	if err != nil {
		return nil, err
	}
	watch, cancel := context.WithCancel(context.Background())
	s := &Set{door: newDoor(limits, logger), cancel: cancel}
	for _, c := range configs {
		l, err := s.open(ctx, program, c, held, logger)
		if err != nil {
			return nil, errors.Join(err, s.Close(), held.close())
		}
		s.Listeners = append(s.Listeners, l)
	}
	if err := held.unused(); err != nil {
		return nil, errors.Join(err, s.Close(), held.close())
	}
	s.watching.Go(func() { // ends with Close
		tick := time.NewTicker(refresh)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.Refresh()
			case <-watch.Done():
				return
			}
		}
	})
	return s, nil
}

func (s *Set) open(ctx context.Context, program string, c Config, held passed, logger *slog.Logger) (*Listener, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := &Listener{config: c}
	if c.TLS != nil {
		var err error
		if l.certificates, err = openCertificates(*c.TLS, logger.With("listen", c.Address)); err != nil {
			return nil, fmt.Errorf("listening at %s: %w", c.Address, err)
		}
	}
	if l.Listener = held.take(c.Address); l.Listener != nil {
		l.passed = true
	} else if err := l.listen(ctx, program); err != nil {
		return nil, err
	}
	if !c.Address.IsUnix() {
		l.door = s.door
	}
	if c.Admits != "" {
		logger.Warn("every user and program of this machine can connect: a plain TCP port does not know its clients", "listen", l.Address(), "admits", c.Admits)
	}
	return l, nil
}

func (l *Listener) listen(ctx context.Context, program string) (err error) {
	if l.Listener, err = l.config.Address.Listen(ctx, program); errors.Is(err, address.ErrInUse) {
		return fmt.Errorf("%w; stop that one, or choose another address with --listen or listeners", err)
	}
	return err
}

// Sockets returns the paths of the unix sockets that Open made. They are left over if this process
// is killed.
func (s *Set) Sockets() (paths []string) {
	for _, l := range s.Listeners {
		if l.config.Address.IsUnix() && !l.passed {
			paths = append(paths, l.config.Address.Path())
		}
	}
	return paths
}

// Refresh reads the certificates again if their files have changed. Connections that are open keep
// the certificates with which they began. If a new file is broken, the certificates in use stay,
// and the log says why.
func (s *Set) Refresh() {
	for _, l := range s.Listeners {
		if l.certificates != nil {
			l.certificates.refresh()
		}
	}
}

// OnFailedHandshake sets the function that is called for each failed handshake of TLS, with the
// address of the client and the reason. The function must be safe for concurrent use. Call
// OnFailedHandshake before Serve.
func (s *Set) OnFailedHandshake(f func(address, reason string)) { s.door.failed = f }

// Failures returns the failed attempts of clients to authenticate, which the listeners and the
// server share.
func (s *Set) Failures() *Failures { return s.door.failures }

// First returns the address of the first listener.
func (s *Set) First() address.Address { return s.Listeners[0].Address() }

// OnTCP reports whether a listener has a TCP port.
func (s *Set) OnTCP() bool {
	return slices.ContainsFunc(s.Listeners, func(l *Listener) bool { return l.door != nil })
}

// Admits returns the role of the callers of plain TCP ports. Empty: there is no such port.
func (s *Set) Admits() string {
	for _, l := range s.Listeners {
		if l.config.Admits != "" {
			return l.config.Admits
		}
	}
	return ""
}

// Serve serves all listeners with serve until one of them returns, and returns what that one
// returned. The others end when the caller stops the server; wait waits for them and returns their
// errors.
func (s *Set) Serve(serve func(net.Listener) error) (first <-chan error, wait func() error) {
	ended := make(chan error, len(s.Listeners))
	var (
		serving sync.WaitGroup
		mu      sync.Mutex
		all     []error
	)
	for _, l := range s.Listeners {
		serving.Go(func() { // ends when the server stops; wait waits for it
			err := serve(l)
			mu.Lock()
			all = append(all, err)
			mu.Unlock()
			ended <- err
		})
	}
	return ended, func() error {
		serving.Wait()
		return errors.Join(all...)
	}
}

// Describe returns the descriptions of all listeners in one line.
func (s *Set) Describe() string {
	all := make([]string, len(s.Listeners))
	for i, l := range s.Listeners {
		all[i] = l.Describe()
	}
	return strings.Join(all, ", ")
}

// Close closes the listeners, but not their connections, and waits for the goroutine that reads
// certificates. It may be called more than once.
func (s *Set) Close() error {
	s.cancel()
	s.watching.Wait()
	var errs []error
	for _, l := range s.Listeners {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
