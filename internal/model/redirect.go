package model

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// answerWait bounds how long a provider may take to begin its answer. It is the default of the
// official SDKs.
const answerWait = 10 * time.Minute

// maxRedirects is how many redirects one request follows. A server that needs more is misconfigured.
const maxRedirects = 5

// HTTPClient returns the client that a provider sends its requests with: base, or a client with
// connections of its own if base is nil. It never sends a request to another origin than the one
// that the request was made for.
//
// A request carries the API key and the whole conversation. net/http follows redirects: it repeats
// the body, and it keeps every header that it does not know as a credential, such as X-Api-Key. It
// also keeps Authorization for another port and for a subdomain. The returned client therefore
// follows a redirect only where scheme, host and port stay the same and the request stays a POST
// with its body. Any other redirect ends the request with a *RedirectError before anything is sent.
// The returned client does not change base.
func HTTPClient(base *http.Client) *http.Client {
	var own http.Client
	switch {
	case base != nil:
		own = *base
	default:
		if transport, ok := http.DefaultTransport.(*http.Transport); ok {
			transport = transport.Clone()
			transport.ResponseHeaderTimeout = answerWait
			own.Transport = transport
		}
	}
	own.CheckRedirect = checkRedirect
	return &own
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	refused := &RedirectError{From: originOf(first.URL), To: originOf(next.URL)}
	switch {
	case refused.From != refused.To:
		refused.Reason = "that is another origin, and the API key and the conversation are sent to no other"
	case next.Method != first.Method:
		refused.Reason = "the redirect would drop the request's body"
	case len(via) > maxRedirects:
		refused.Reason = fmt.Sprintf("those were %d redirects in a row", len(via))
	default:
		return nil
	}
	return refused
}

// RedirectError is why a redirect was not followed. Nothing was sent to its target.
type RedirectError struct {
	// From and To are origins: scheme, host and port. A server chose To.
	From, To string
	// Reason completes a sentence for people.
	Reason string
}

// Error says what happened and what to do.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the server at %s redirects the request to %.200q, which was not followed: %s; "+
		"set the base URL to the server's final address, if you trust it", e.From, e.To, e.Reason)
}

// RedirectRefused returns the *Error of a request whose redirect was not followed, or nil if err is
// something else. The same request would meet the same redirect, so it is not retried.
func RedirectRefused(err error) *Error {
	refused, ok := errors.AsType[*RedirectError](err)
	if !ok {
		return nil
	}
	return &Error{Message: refused.Error(), Err: refused}
}

// originOf returns scheme, host and port in one form for each origin. It folds the case of ASCII letters alone: other letters
// can become ASCII ones, as the capital dotted I becomes i, and are sent to another host.
func originOf(u *url.URL) string {
	scheme, port := lower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(lower(u.Hostname()), port)
}

func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}
