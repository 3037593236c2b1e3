package console

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxBody bounds the form of a verdict, whose text may have 64 KiB before it is encoded.
	maxBody = 256 << 10
	// requestTimeout bounds a request of a browser, and the RPCs that it makes.
	requestTimeout = 30 * time.Second
)

// Config configures the pages. Agent, As, Sessions and URL are required.
type Config struct {
	// Agent reaches the server whose decisions the pages show.
	Agent *client.AgentClient
	// As returns a context whose RPCs have a bearer credential.
	As func(ctx context.Context, bearer string) context.Context
	// Sessions are the logins. The authenticator of Agent's server is Sessions, too.
	Sessions *Sessions
	// URL is the origin at which browsers reach the pages: a scheme and a host. Requests for any other
	// host are refused. http is only for a host below localhost.
	URL *url.URL
	// Login is the login at an issuer. nil: only codes.
	Login Login
	// Story writes a run as text. nil: the pages have no runs.
	Story func(ctx context.Context, runID string, to *strings.Builder) error
	// Proxies are the addresses of proxies whose X-Forwarded-For names the browser. nil: none.
	Proxies []netip.Prefix
	// Limits are the limits of the listeners.
	Limits listen.Limits
	Logger *slog.Logger // nil: no log
}

// Login is the authorization code flow of an OpenID Connect issuer, as *oidc.Login has it.
type Login interface {
	// Begin returns where the browser has to go, and a secret that Finish needs.
	Begin(ctx context.Context, redirect string) (to string, secret []byte, err error)
	// Finish returns the ID token for what the issuer sent to redirect. Errors are for people.
	Finish(ctx context.Context, redirect string, secret []byte, answer url.Values) (idToken string, err error)
}

// Server serves the pages. The caller must call Shutdown. All methods are safe for concurrent use.
type Server struct {
	config   Config
	attempts attempts // logins at the issuer that have begun
	streams  *streams
	ending   context.Context // ends with Shutdown
	end      context.CancelFunc
	server   *http.Server
}

// New returns a server that does not listen yet.
func New(c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: c, attempts: newAttempts(), streams: newStreams()}
	s.ending, s.end = context.WithCancel(context.Background())
	s.server = &http.Server{
		Handler:           s.handler(),
		ConnContext:       withConnection,
		ReadHeaderTimeout: requestTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      2 * requestTimeout,
		IdleTimeout:       c.Limits.IdleTimeout,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// connectionKey is the key of the *listen.Conn of a request in its context.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// Serve accepts connections until Shutdown, and then returns nil. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	secure := listen.Handshaken(l, s.config.Limits.HandshakeTimeout)
	defer secure.Close()
	if err := s.server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops accepting requests, ends the streams of events, and waits until those in progress
// have ended, or until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end()
	err := s.server.Shutdown(ctx)
	if err != nil {
		_ = s.server.Close() // ends the requests that are left
	}
	return err
}

// route is a page. Every route is in the table of routes, and the matrix of the tests has a row for
// each of them.
type route struct {
	pattern string
	// open says that the page needs no login.
	open  bool
	serve func(v *visit) error
}

// events is the route whose answer lasts.
const events = "GET /events"

// routes returns all pages. What begins with GET changes nothing: a scanner may follow each link.
func (s *Server) routes() []route {
	return []route{
		{"GET /style.css", true, asset("style.css", "text/css; charset=utf-8")},
		{"GET /console.js", true, asset("console.js", "text/javascript; charset=utf-8")},
		{"GET /favicon.ico", true, noIcon},
		{"GET /login", true, s.showLogin},
		{"POST /login", true, s.loginByCode},
		{"GET /login/issuer", true, s.beginLogin},
		{"GET /login/callback", true, s.finishLogin},
		{"POST /logout", false, s.logout},
		{events, false, s.watch},
		{"GET /{$}", false, s.showInbox},
		{"GET /decisions/{name...}", false, s.showDecision},
		{"POST /decisions/{name...}", false, s.decide},
		{"POST /extensions/{name...}", false, s.extend},
		{"GET /runs/{name...}", false, s.showRun},
		{"GET /mine", false, s.showMine},
		{"POST /approvals/{id}", false, s.revoke},
	}
}

// visit is one request.
type visit struct {
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context // of RPCs: that of the session, if there is one
	session *session        // nil: nobody is logged in
	cookie  string
}

// handler returns the pages behind what every request has to pass.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, page := range s.routes() {
		mux.HandleFunc(page.pattern, func(w http.ResponseWriter, r *http.Request) { s.visit(w, r, page) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(&visit{w: w, r: r}, http.StatusNotFound, "There is no such page.")
	})
	return s.guarded(mux)
}

// visit serves a page. A person who is not logged in is sent to the login.
func (s *Server) visit(w http.ResponseWriter, r *http.Request, page route) {
	ctx := r.Context()
	if page.pattern != events {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, requestTimeout)
		defer cancel()
	}
	v := &visit{w: w, r: r, ctx: ctx}
	if query, err := url.QueryUnescape(r.URL.RawQuery); err != nil || !utf8.ValidString(r.URL.Path+query) {
		s.fail(v, http.StatusBadRequest, "The address of the page is not well-formed.")
		return
	}
	if c, err := r.Cookie(s.cookieName()); err == nil {
		v.cookie = c.Value
		v.session = s.config.Sessions.of(c.Value)
	}
	if v.session != nil {
		v.ctx = s.config.As(ctx, v.session.bearer)
		// The connection of a person is not closed as that of a stranger, unless the person has too many.
		if guest, ok := r.Context().Value(connectionKey{}).(*listen.Conn); ok && guest.Limited() {
			guest.Admit(v.session.principal.Key())
		}
	}
	if v.session == nil && !page.open {
		if r.Method == http.MethodGet {
			http.Redirect(w, r, "/login?to="+url.QueryEscape(r.URL.EscapedPath()), http.StatusSeeOther)
			return
		}
		s.fail(v, http.StatusUnauthorized, "Your session has ended, and nothing was decided. Log in again.")
		return
	}
	err := page.serve(v)
	if err == nil {
		return
	}
	e := tool.AsError(err)
	s.fail(v, codeOf(e.Kind), e.Message)
}

// codeOf returns the status of a failure.
func codeOf(kind tool.Kind) int {
	switch kind {
	case tool.KindInvalidArgument:
		return http.StatusBadRequest
	case tool.KindNotFound:
		return http.StatusNotFound
	case tool.KindDenied:
		return http.StatusForbidden
	case tool.KindConflict:
		return http.StatusConflict
	case tool.KindRateLimited:
		return http.StatusTooManyRequests
	case tool.KindUnavailable, tool.KindTimeout, tool.KindCancelled:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// policy is the content security policy of every answer. It has no exception.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guarded refuses requests that are not for the origin of the pages or that another page made, and
// sets the headers of every answer.
func (s *Server) guarded(next http.Handler) http.Handler {
	crossing := http.NewCrossOriginProtection()
	crossing.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "the request comes from another site, and nothing was done", http.StatusForbidden)
	}))
	inside := crossing.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		if s.secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if r.Host != s.config.URL.Host {
			http.Error(w, "the pages are not at this host; the operator names it with console.url", http.StatusMisdirectedRequest)
			return
		}
		if r.Method == http.MethodPost {
			// CrossOriginProtection lets a request pass that has neither header, as programs send it.
			// The pages are for browsers, and each of them sends one of the two.
			if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
				http.Error(w, "the request does not say which page made it, and nothing was done; use a current browser", http.StatusForbidden)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		inside.ServeHTTP(w, r)
	})
}

func (s *Server) secure() bool { return s.config.URL.Scheme == "https" }

// cookieName returns the name of the session's cookie. A cookie whose name begins with __Host- is
// only of this host, and only over TLS.
func (s *Server) cookieName() string {
	if s.secure() {
		return "__Host-session"
	}
	return "session"
}

// setCookie gives the browser a cookie until it is closed. An empty value removes it.
func (s *Server) setCookie(v *visit, name, value string) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: s.secure(), SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}

// address returns the address of the browser, without a port.
func (s *Server) address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	from := at.Addr().Unmap()
	known := func(a netip.Addr) bool {
		for _, p := range s.config.Proxies {
			if p.Contains(a) {
				return true
			}
		}
		return false
	}
	// Each proxy appends the address of its client, so the last one that is no proxy is the browser.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && known(from); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		from = hop.Unmap()
	}
	return from.String()
}
