package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/toolhost/toolhost/sdk/egress"
)

// Environment variables for the operator's settings. In toolhost.yaml:
//
//	plugin:
//	  fetch:
//	    env:
//	      FETCH_ONLY: docs.python.org, *.example.com
//	      FETCH_ALLOW: 10.1.0.0/16, 192.168.7.3, 127.0.0.1:8080, [::1]:8080
//	      FETCH_PROXY: http://proxy.example:3128
//	      FETCH_USER_AGENT: example-agent/1.0 (+https://example.com/agent)
const (
	onlyVariable = "FETCH_ONLY" // the only hosts that may be requested
	// addresses that are not public and may be reached nevertheless
	allowVariable = "FETCH_ALLOW"
	// an HTTP proxy for all requests; it must then check host names
	proxyVariable     = "FETCH_PROXY"
	userAgentVariable = "FETCH_USER_AGENT" // the User-Agent header; it is never empty
)

// defaultUserAgent identifies the client and links to a page for server operators.
const defaultUserAgent = "toolhost-fetch/1.0 (+https://github.com/toolhost/toolhost)"

// settings are the operator's settings. The zero value allows only public addresses.
type settings struct {
	only      []string // host names in lower case, or "*." and a suffix; empty: all
	rules     egress.Rules
	proxy     *url.URL // nil means none
	userAgent string   // empty means defaultUserAgent

	resolver *net.Resolver  // nil means the system's
	roots    *x509.CertPool // nil means the system's
}

func readSettings(getenv func(string) string) (settings, error) {
	s := settings{userAgent: getenv(userAgentVariable)}
	var problems []error
	for text := range strings.FieldsFuncSeq(getenv(allowVariable), func(r rune) bool { return r == ',' || r == ' ' }) {
		g, err := egress.ParseGrant(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", allowVariable, err))
		}
		s.rules.Allow = append(s.rules.Allow, g)
	}
	for text := range strings.FieldsFuncSeq(getenv(onlyVariable), func(r rune) bool { return r == ',' || r == ' ' }) {
		host := strings.ToLower(strings.Trim(strings.TrimSuffix(text, "."), "[]"))
		if rest := strings.TrimPrefix(host, "*."); rest == "" || strings.ContainsAny(rest, "*/@") {
			problems = append(problems, fmt.Errorf("%s: %q is neither the name of a host, such as docs.example.com, nor of all below one, such as *.example.com", onlyVariable, text))
		}
		s.only = append(s.only, host)
	}
	if text := getenv(proxyVariable); text != "" {
		proxy, err := url.Parse(text)
		if err != nil || (proxy.Scheme != "http" && proxy.Scheme != "https") || proxy.Host == "" {
			// The value may contain a password, so the error does not repeat it.
			problems = append(problems, fmt.Errorf("%s is not of the form http://HOST:PORT", proxyVariable))
		}
		s.proxy = proxy
	}
	if strings.ContainsFunc(s.userAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		problems = append(problems, fmt.Errorf("%s: %q cannot be sent; use ASCII characters", userAgentVariable, s.userAgent))
	}
	return s, errors.Join(problems...)
}
