package credential

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/internal/address"
)

// Settings are the credentials of a client. The zero value takes them from the environment.
type Settings struct {
	TLS    *TLS   // nil: what the environment says
	Source Source // of tokens; nil: what the environment says
	// AllowPlainToken permits sending the token over a unix socket and over loopback without TLS.
	AllowPlainToken bool
	// IgnoreEnvironment takes nothing from the environment.
	IgnoreEnvironment bool
}

// Resolved are settings that fit an address.
type Resolved struct {
	tls    *TLS   // nil: a connection without TLS
	source Source // nil: no tokens
	host   string
}

// Resolve completes the settings of a client of program at an address from the environment, and
// checks them. TLS is used for every address that is not on loopback, and on loopback if there are
// settings for it. If the program has settings of one sort, TLS or tokens, those of the environment
// do not count. getenv returns the value of an environment variable.
func (s Settings) Resolve(program string, at address.Address, getenv func(string) string) (Resolved, error) {
	r := Resolved{tls: s.TLS, source: s.Source, host: at.Host()}
	allow, origin := s.AllowPlainToken, "a token"
	if s.TLS != nil && at.IsUnix() {
		return r, fmt.Errorf("TLS is configured, but %s is a unix socket; use HOST:PORT", at)
	}
	if !s.IgnoreEnvironment {
		env := environment{prefix: strings.ToUpper(program) + "_", getenv: getenv}
		if r.tls == nil && !at.IsUnix() {
			r.tls = env.tls()
		}
		if r.source == nil {
			var err error
			if r.source, origin, err = env.source(); err != nil {
				return r, err
			}
		}
		allowed, err := env.bool("ALLOW_PLAIN_TOKEN")
		if err != nil {
			return r, err
		}
		allow = allow || allowed
	}
	if r.tls == nil && at.IsRemote() {
		r.tls = &TLS{}
	}
	if r.tls != nil {
		if err := r.tls.check(); err != nil {
			return r, err
		}
	}
	if r.source != nil && r.tls == nil && !allow {
		return r, fmt.Errorf("there is %s, but the connection to %s has no TLS, and a token is not sent without TLS unless you allow it: "+
			"use TLS, no token, or %s_ALLOW_PLAIN_TOKEN=1", origin, at, strings.ToUpper(program))
	}
	return r, nil
}

// Transport returns the credentials of connections. It reads the files of TLS, and later reads them
// again for each connection. It calls report with the result of each TLS handshake.
func (r Resolved) Transport(report func(error)) (credentials.TransportCredentials, error) {
	if r.tls == nil {
		return insecure.NewCredentials(), nil
	}
	return newTransport(*r.tls, r.Authority(), report)
}

// Authority returns the name of the server in the requests of a connection, which a proxy may use
// to choose a server: the name in the server's certificate, or localhost without TLS.
func (r Resolved) Authority() string {
	if r.tls == nil {
		return "localhost"
	}
	return cmp.Or(r.tls.ServerName, r.host)
}

// Secure reports whether connections use TLS.
func (r Resolved) Secure() bool { return r.tls != nil }

// Tokens returns a new cache of the tokens, or nil if there are none. The caller must close it.
func (r Resolved) Tokens() *Cache {
	if r.source == nil {
		return nil
	}
	return NewCache(r.source)
}

// Variables returns the names of the environment variables that Resolve reads for a program.
func Variables(program string) []string {
	var names []string
	for _, name := range []string{"TLS_CA", "TLS_CERT", "TLS_KEY", "TLS_SERVER_NAME", "TOKEN", "TOKEN_FILE", "TOKEN_COMMAND", "ALLOW_PLAIN_TOKEN"} {
		names = append(names, strings.ToUpper(program)+"_"+name)
	}
	return names
}

// environment reads the environment variables with a prefix, such as TOOLHOST_.
type environment struct {
	prefix string
	getenv func(string) string
}

func (e environment) get(name string) string { return e.getenv(e.prefix + name) }

// tls returns the settings of TLS, or nil if there are none.
func (e environment) tls() *TLS {
	t := TLS{CA: e.get("TLS_CA"), Certificate: e.get("TLS_CERT"), Key: e.get("TLS_KEY"), ServerName: e.get("TLS_SERVER_NAME")}
	if t == (TLS{}) {
		return nil
	}
	return &t
}

// source returns the source of tokens with the variable that it comes from, or nil if there is
// none.
func (e environment) source() (Source, string, error) {
	sources := map[string]func(string) Source{"TOKEN": Static, "TOKEN_FILE": File, "TOKEN_COMMAND": Command}
	var given []string
	for name := range sources {
		if e.get(name) != "" {
			given = append(given, name)
		}
	}
	switch len(given) {
	case 0:
		return nil, "", nil
	case 1:
		return sources[given[0]](e.get(given[0])), "a token in " + e.prefix + given[0], nil
	}
	slices.Sort(given)
	return nil, "", errors.New("the environment has more than one source of tokens; unset all but one of " + e.prefix + strings.Join(given, ", "+e.prefix))
}

// bool returns the value of a variable that is true or false, and false if it is not set.
func (e environment) bool(name string) (bool, error) {
	text := e.get(name)
	if text == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("the environment's %s%s is %q; use 1 or 0", e.prefix, name, text)
	}
	return value, nil
}
