package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxRedirects  = 10
	maxHeader     = 256 << 10 // bytes of the response headers
	dialLimit     = 10 * time.Second
	handshakeTime = 10 * time.Second
)

// errTooMany means that there were too many redirects.
var errTooMany = fmt.Errorf("it redirected more than %d times", maxRedirects)

// newClient returns a client that keeps neither connections nor cookies, so that calls are
// independent of each other. If follow is false, a redirect is a response like any other.
func (s *settings) newClient(follow bool) *http.Client {
	dialer := &net.Dialer{Timeout: dialLimit, KeepAlive: -1, Resolver: s.resolver}
	guarded := *dialer
	guarded.ControlContext = s.rules.Control
	transport := &http.Transport{
		DialContext:            guarded.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
	}
	if s.proxy != nil {
		transport.Proxy = http.ProxyURL(s.proxy)
		transport.DialContext = dialer.DialContext // the operator's proxy may have any address
	}
	client := &http.Client{Transport: transport, CheckRedirect: s.redirect}
	if !follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return client
}

// redirect implements http.Client.CheckRedirect. It removes the headers that the model set if the
// origin changes, also for later redirects.
func (s *settings) redirect(to *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errTooMany
	}
	if err := s.checkURL(to.URL); err != nil {
		return fmt.Errorf("it redirected to a URL that is not followed: %w", err)
	}
	to.Header.Del("Referer")
	for _, before := range via {
		if origin(before.URL) != origin(to.URL) {
			kept := http.Header{}
			for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
				if values := to.Header.Values(name); len(values) > 0 {
					kept[name] = values
				}
			}
			to.Header = kept
			return nil
		}
	}
	return nil
}

func origin(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port(u))
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// checkURL returns what is wrong with a URL. The address that its host resolves to is checked when
// the connection is made.
func (s *settings) checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the scheme %q is not supported; http and https are", u.Scheme)
	case u.Hostname() == "":
		return errors.New("the URL has no host; it is like https://example.com/path")
	case u.User != nil:
		return errors.New("the URL holds a user name or password, which would be shown; send them in the header Authorization")
	}
	if !s.mayRequest(u.Hostname()) {
		return fmt.Errorf("the host %s is not among those that the operator allows (%s); choose one of them, or ask the operator for it: "+
			"plugin.fetch.env.%s in toolhost.yaml", u.Hostname(), strings.Join(s.only, ", "), onlyVariable)
	}
	// Behind a proxy, the address is only known if the URL contains it.
	if _, err := netip.ParseAddr(u.Hostname()); err == nil && s.proxy != nil {
		return s.rules.CheckText(net.JoinHostPort(u.Hostname(), port(u)))
	}
	return nil
}

// mayRequest reports whether the operator allows a host.
func (s *settings) mayRequest(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return len(s.only) == 0 || slices.ContainsFunc(s.only, func(allowed string) bool {
		below, any := strings.CutPrefix(allowed, "*")
		return host == allowed || any && strings.HasSuffix(host, below)
	})
}
