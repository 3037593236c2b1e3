// Package mcpauth logs principals in to MCP servers over HTTP with OAuth 2.1, and sends their
// tokens. docs/adr/0034-mcp-logins.md describes the design.
//
// It owns the discovery of authorization servers, the registration of clients, the flows, the
// stored logins and the header of each request. It does not own the session with an MCP server, the
// address rules of connections, or the decision whether a caller may log in.
//
// Everything that an MCP server or an authorization server sends is foreign: it is bounded, checked
// before use, and never part of a message without Foreign.
package mcpauth

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Server describes an MCP server to which principals log in.
type Server struct {
	// Plugin is the name of the plugin. Required.
	Plugin string
	// URL is the address of the server, as the operator wrote it. Tokens go to this URL only, and it
	// is the resource for which tokens are requested. Required.
	URL string
	// OAuth says which client toolhost is at the authorization server.
	OAuth OAuth
}

// OAuth says how toolhost gets tokens for an MCP server. The zero value stands for people that log
// in, with a client that toolhost registers.
type OAuth struct {
	// Grant is how a token is granted: GrantPerson or GrantClient. Empty means GrantPerson.
	Grant string
	// ClientID is the client that the operator has registered. Empty: see Logins.Begin.
	ClientID string
	// ClientSecret is the name of a secret with the password of the client. Empty: it has none.
	ClientSecret string
	// PrivateKey is the name of a secret with a PEM key that signs assertions of the client
	// (private_key_jwt). Empty: it has none.
	PrivateKey string
	// Issuer is the only authorization server that toolhost uses. Empty means the first one that the
	// MCP server names. It is required with a secret, because otherwise the MCP server would choose
	// where the secret goes.
	Issuer string
	// ClientMetadata is the https URL of a client id metadata document. It is the client id at
	// authorization servers that support such documents.
	ClientMetadata string
	// Scopes are the scopes that may be requested. Empty means those that the server asks for.
	Scopes []string
}

// The values of OAuth.Grant.
const (
	GrantPerson = "authorization_code" // a person agrees, in a browser or on another device
	GrantClient = "client_credentials" // the client itself gets the token
)

// Config configures Logins.
type Config struct {
	// Folder holds the stored logins. Logins creates it. Plugins must not be able to see it.
	// Required.
	Folder string
	// HTTP returns what makes the requests for metadata, registrations and tokens of a plugin. It has
	// to refuse addresses that the operator does not permit, because foreign servers choose the
	// addresses. Required.
	HTTP func(plugin string) http.RoundTripper
	// Secrets returns secrets of the operator by name, for the calls of a principal. nil: there are
	// none.
	Secrets func(plugin, principal string, names []string) (map[string]string, error)
	// Learn adds a secret to the redactor. place distinguishes the values of one name that are valid
	// at the same time. nil: nothing is redacted.
	Learn func(name, place, value string)
	// Changed is called after the login of a principal has begun or ended. Sessions of that principal
	// with the server should end. It must not block. nil: nothing is called.
	Changed func(plugin, principal string)
	// Now returns the time. nil means time.Now.
	Now func() time.Time
	// Logger gets what goes wrong without a caller. nil: no log.
	Logger *slog.Logger
}

// Logins has the logins of all principals at all MCP servers. All methods are safe for concurrent
// use.
//
// Each refresh of a token runs in a goroutine of Logins, which ends after requestTime at the
// latest.
type Logins struct {
	cfg     Config
	store   store
	pending attempts
	ctx     context.Context // of refreshes; ends with Close
	stop    context.CancelFunc
	tasks   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	entries map[account]*entry
}

// account names a login: one principal at one MCP server.
type account struct {
	plugin    string
	principal string // the key
}

// New returns the logins in a folder. It does no I/O. The caller must call Close.
func New(cfg Config) *Logins {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Learn == nil {
		cfg.Learn = func(_, _, _ string) {}
	}
	if cfg.Changed == nil {
		cfg.Changed = func(_, _ string) {}
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	l := &Logins{
		cfg: cfg, store: store{cfg.Folder},
		entries: map[account]*entry{}, pending: attempts{now: cfg.Now, byID: map[string]*attempt{}},
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// Close ends all requests for tokens and waits for them. Requests of Transport then fail.
func (l *Logins) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.stop()
	l.tasks.Wait()
}

// The kinds of secrets of a login. The redactor forgets the oldest values of a place. So each kind
// has its own place: otherwise new access tokens would make the redactor forget a refresh token
// that stays valid, and logins that a principal only begins would make it forget the tokens.
const (
	secretAccess    = "access token"
	secretRefresh   = "refresh token"
	secretClient    = "client secret"
	secretAssertion = "client assertion"
	secretAttempt   = "login in progress" // a verifier, a code or a device code
)

// learn tells the redactor a secret of a login, before any other code sees it.
func (l *Logins) learn(who account, kind, value string) {
	if value != "" {
		l.cfg.Learn("login at "+who.plugin, kind+" of "+who.principal, value)
	}
}

// learnLogin is learn for the secrets of a stored login.
func (l *Logins) learnLogin(who account, g *login) {
	l.learn(who, secretAccess, g.AccessToken)
	l.learn(who, secretRefresh, g.RefreshToken)
	l.learn(who, secretClient, g.Client.Secret)
}
