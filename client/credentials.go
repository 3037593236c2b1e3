package client

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// DialOption changes how a client connects. The zero value changes nothing. If several options set
// the same, the last one counts.
type DialOption struct{ apply func(*dialing) }

// dialing is what the options of a client set.
type dialing struct {
	own      bool
	settings credential.Settings
	by       func(context.Context) (net.Conn, error) // nil: by the address
}

// OwnServer says that no person chose the address: the server should be the user's own. The client
// then refuses a server that runs as another user, and a socket in a folder that another user owns
// or can write to, because another user may have created the folder first. It accepts servers of
// root. For TCP the option has no effect.
func OwnServer() DialOption { return DialOption{func(d *dialing) { d.own = true }} }

// TLS says how a client verifies the server, and with which certificate it presents itself. The
// zero value verifies the server by the CAs of the system, and presents no certificate. All
// versions of TLS before 1.3 are refused. The client reads the files when it is made and again for
// each connection. If a file is incomplete because it is being replaced, the client uses its
// previous content.
type TLS struct {
	// CA is a file with the certificates of the CAs of the server, in PEM. If it is empty, the CAs
	// of the system count.
	CA string
	// Certificate is a file with the certificate of the client and its intermediates, in PEM. If it
	// is empty, the client presents none.
	Certificate string
	// Key is a file with the private key of Certificate, in PEM. It is set if Certificate is set.
	Key string
	// ServerName is the name that the certificate of the server must have. If it is empty, the host
	// of the address must.
	ServerName string
}

// WithTLS makes the client use TLS, also on loopback. An address that is not on loopback uses TLS
// without this option, too. The variables TOOLHOST_TLS_CA, TOOLHOST_TLS_CERT, TOOLHOST_TLS_KEY and
// TOOLHOST_TLS_SERVER_NAME (AGENTD_… for an agentd) do not count then. Dial fails with
// invalid_argument if a file cannot be used, or for a unix socket.
func WithTLS(t TLS) DialOption {
	return DialOption{func(d *dialing) { d.settings.TLS = new(credential.TLS(t)) }}
}

// Token is a bearer token. All ways to print a Token hide its value.
type Token struct {
	Value   string
	Expires time.Time // the client renews the token before; zero: unknown, or the `exp` of a JWT
}

// Format implements fmt.Formatter. It prints a placeholder.
func (t Token) Format(f fmt.State, verb rune) { credential.Token(t).Format(f, verb) }

// LogValue implements slog.LogValuer. It returns a placeholder.
func (t Token) LogValue() slog.Value { return credential.Token(t).LogValue() }

// MarshalText implements encoding.TextMarshaler. It returns a placeholder.
func (t Token) MarshalText() ([]byte, error) { return credential.Token(t).MarshalText() }

// WithToken makes the client send a bearer token that does not change.
//
// The client sends a token only over TLS. Dial fails with invalid_argument for a connection without
// TLS, unless AllowPlainToken is set. With any option for a token, the variables TOOLHOST_TOKEN,
// TOOLHOST_TOKEN_FILE and TOOLHOST_TOKEN_COMMAND (AGENTD_… for an agentd) do not count.
func WithToken(token string) DialOption { return withSource(credential.Static(token)) }

// WithTokenFile makes the client send the token in a file, which it reads again when the file has
// changed. The file holds the token alone, or a JSON object with `token` and `expires`, an RFC 3339
// time. See WithToken.
func WithTokenFile(path string) DialOption { return withSource(credential.File(path)) }

// WithTokenCommand makes the client send the token that a command prints, in the form of a token
// file. The client runs the line with /bin/sh when it needs a token, and again before the token
// expires, or after the server has refused it. A command that takes more than a minute fails. See
// WithToken.
func WithTokenCommand(line string) DialOption { return withSource(credential.Command(line)) }

// WithTokenSource makes the client send the tokens that a function returns. The client calls it
// when it needs a token, again before the token expires, and once after the server has refused the
// token. It never calls it concurrently. The context ends with the client. The errors of the
// function must not contain a token. See WithToken.
func WithTokenSource(source func(context.Context) (Token, error)) DialOption {
	return withSource(credential.Func(func(ctx context.Context) (credential.Token, error) {
		token, err := source(ctx)
		return credential.Token(token), err
	}))
}

func withSource(source credential.Source) DialOption {
	return DialOption{func(d *dialing) { d.settings.Source = source }}
}

// AllowPlainToken permits sending the token over a unix socket, and over loopback without TLS. The
// variable TOOLHOST_ALLOW_PLAIN_TOKEN=1 (AGENTD_…) has the same effect.
func AllowPlainToken() DialOption {
	return DialOption{func(d *dialing) { d.settings.AllowPlainToken = true }}
}

// IgnoreEnvironment makes the client take no credentials from the environment. Use it for a second
// server, for which the variables are not meant.
func IgnoreEnvironment() DialOption {
	return DialOption{func(d *dialing) { d.settings.IgnoreEnvironment = true }}
}

// WithDialer makes the client connect with a function, such as to a server in the same process. It
// may call the function again after a lost connection. The address of the client then only names
// the server in errors, and for TLS. OwnServer has no effect.
func WithDialer(dial func(context.Context) (net.Conn, error)) DialOption {
	return DialOption{func(d *dialing) { d.by = dial }}
}

// newLink returns a link to a program's server with the options. limit is the maximum size of a
// received message in bytes.
func newLink(addr, program string, limit int, options []DialOption) (*link.Link, error) {
	at, err := address.Find(addr, program, os.Getenv)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	return dialingOf(options).link(at, program, limit)
}

func dialingOf(options []DialOption) *dialing {
	var d dialing
	for _, option := range options {
		if option.apply != nil {
			option.apply(&d)
		}
	}
	return &d
}

// link returns a link to one server.
func (d *dialing) link(at address.Address, program string, limit int) (*link.Link, error) {
	if d.own {
		at = at.Own()
	}
	resolved, err := d.settings.Resolve(program, at, os.Getenv)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	to, err := link.New(at, program, limit, resolved)
	if err == nil && d.by != nil {
		to.DialWith(d.by)
	}
	return to, err
}
