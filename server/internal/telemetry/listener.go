package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/store/ownership"
)

// The bounds of what a client can occupy. Every program that reaches the port is a client, also a
// plugin with a network grant.
const (
	// requestTimeout bounds how long a client may take to send its request.
	requestTimeout = 5 * time.Second
	// metricsTimeout bounds how long a client may take to read the metrics.
	metricsTimeout = 30 * time.Second
	// maxHeaderBytes bounds the header of a request. Those of Prometheus have less than 1 KiB.
	maxHeaderBytes = 16 << 10
	// maxConnections bounds the connections of a listener, and with them the file descriptors that
	// calls and plugins of this process cannot use.
	maxConnections = 64
)

// listener serves metrics, health, and profiles.
type listener struct {
	ready   atomic.Bool
	metrics *server // nil: not served
	pprof   *server // nil: not served
}

// server is one HTTP server with its goroutine.
type server struct {
	addr    string
	http    http.Server
	serving sync.WaitGroup
}

// openListener opens the listener that the configuration names. It returns nil if the configuration
// names none. If registry is nil, the listener serves no metrics.
func openListener(ctx context.Context, cfg *Config, registry *prometheus.Registry, logger *slog.Logger) (_ *listener, err error) {
	if cfg.Listen == "" && cfg.Pprof == "" {
		return nil, nil
	}
	l := &listener{}
	defer func() {
		if err != nil {
			_ = l.close()
		}
	}()
	if cfg.Listen != "" {
		socket, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		handler := l.metricsHandler(registry)
		if !cfg.Public {
			handler = refuseNames(handler)
		}
		l.metrics = serve(socket, handler, metricsTimeout, logger)
	}
	if cfg.Pprof != "" {
		socket, err := listenPrivately(ctx, cfg.Pprof)
		if err != nil {
			return nil, fmt.Errorf("pprof: %w", err)
		}
		l.pprof = serve(socket, pprofHandler(), 0, logger) // a profile takes as long as its reader asks for
	}
	return l, nil
}

func (l *listener) metricsHandler(registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	if registry != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, EnableOpenMetrics: true}))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !l.ready.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ready\n")
	})
	return mux
}

// refuseNames refuses requests for a host with another name than localhost. A web page in a browser
// of this machine can let the name of its own server resolve to 127.0.0.1, and then read the
// answers of a listener there. The browser sends that name.
func refuseNames(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "" && host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			http.Error(w, "this address answers only requests for an IP address or for localhost, unless telemetry.public is true", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

func pprofHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// listenPrivately listens at a unix socket of mode 0600, and not at a TCP port. Profiles show
// memory addresses and the command line, and a plugin with a network grant can reach every TCP port
// of the machine. It refuses a folder in which other users can replace the socket.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	if _, err := address.Unix(path); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s exists and is no socket", path)
	} else if err == nil {
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = conn.Close()
			return nil, fmt.Errorf("another process listens at %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	// On Linux, the socket file gets the mode that the socket has before bind, so no other user can
	// connect between bind and Chmod. Other systems may ignore the mode until Chmod.
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
	}}
	socket, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = socket.Close()
		return nil, err
	}
	return socket, nil
}

// checkFolder returns an error if users other than this one and root can write a folder. It allows
// folders such as /tmp, in which users cannot replace the files of others.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Getuid() && stat.Uid != 0 {
		return fmt.Errorf("the folder %s belongs to another user (uid %d), which could replace the socket; choose another folder", dir, stat.Uid)
	}
	if ownership.Shared(info) && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("the folder %s has mode %04o, so that other users could replace the socket; run: chmod go-w %s", dir, info.Mode().Perm(), dir)
	}
	return nil
}

// serve serves HTTP at a socket. answerTimeout bounds how long a client may take from its request
// to the end of the answer; 0 means no bound.
func serve(socket net.Listener, handler http.Handler, answerTimeout time.Duration, logger *slog.Logger) *server {
	s := &server{addr: socket.Addr().String(), http: http.Server{
		Handler: handler, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		MaxHeaderBytes: maxHeaderBytes, ConnState: new(connections).follow, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}}
	// A connection gets one answer. Otherwise a client that sends requests without pause, and reads no
	// answers, would keep this process busy. A client that comes once a minute connects again anyway.
	s.http.SetKeepAlivesEnabled(false)
	s.serving.Go(func() { // ends with close, which waits for it
		if err := ignoreClosed(s.http.Serve(socket)); err != nil {
			logger.Error("telemetry is served no more", "address", s.addr, "error", err)
		}
	})
	return s
}

// connections are the open connections of a server, the oldest first. If there are too many, it
// closes the oldest one. So a client that only opens connections does not keep the next one, such
// as a health check, from an answer. It is safe for concurrent use.
type connections struct {
	mu   sync.Mutex
	open []net.Conn
}

// follow is the server's report that a connection has another state.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open = append(c.open, conn); len(c.open) > maxConnections {
			_ = c.open[0].Close() // the server reports it as closed later
			c.open = slices.Delete(c.open, 0, 1)
		}
	case http.StateClosed, http.StateHijacked:
		if i := slices.Index(c.open, conn); i >= 0 {
			c.open = slices.Delete(c.open, i, i+1)
		}
	}
}

func (l *listener) close() error {
	var errs []error
	for _, s := range []*server{l.metrics, l.pprof} {
		if s != nil {
			errs = append(errs, s.http.Close())
			s.serving.Wait()
		}
	}
	return errors.Join(errs...)
}
