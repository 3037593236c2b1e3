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

// answerWait limits the time until a provider starts its response. The official SDKs use the same
// default.
const answerWait = 10 * time.Minute

// maxRedirects is the limit of redirects per request. A server that needs more is misconfigured.
const maxRedirects = 5

// HTTPClient returns the HTTP client for requests to a provider. It is a changed copy of base, or a
// new client with separate connections if base is nil. It never sends a request to another origin
// than the original one.
//
// A request carries the API key and the whole conversation. net/http follows redirects: it repeats
// the body, and it keeps every header that it does not know as a credential, such as X-Api-Key. It
// also keeps Authorization for another port and for a subdomain. The returned client therefore
// follows a redirect only if scheme, host and port stay the same and the request stays a POST with
// its body. It ends the request at any other redirect with a *RedirectError, before it sends
// anything.
//
// The returned client reads only a bounded part of each response; see boundedTransport.
func HTTPClient(base *http.Client) *http.Client {
	var client http.Client
	switch {
	case base != nil:
		client = *base
	default:
		if transport, ok := http.DefaultTransport.(*http.Transport); ok {
			transport = transport.Clone()
			transport.ResponseHeaderTimeout = answerWait
			client.Transport = transport
		}
	}
	client.CheckRedirect = checkRedirect
	client.Transport = &boundedTransport{client.Transport}
	return &client
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

// RedirectError says why the client did not follow a redirect. It sent nothing to the target.
type RedirectError struct {
	// From and To are origins: scheme, host and port. The server chose To.
	From, To string
	// Reason is a clause that completes the message for people.
	Reason string
}

// Error says what happened and what to do.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the server at %s redirects the request to %.200q, which was not followed: %s; "+
		"set the base URL to the server's final address, if you trust it", e.From, e.To, e.Reason)
}

// ClientError returns the *Error for a request that the client of HTTPClient ended, or nil if err
// has another cause. A refused redirect is not retryable, because the server would redirect again.
func ClientError(err error) *Error {
	if refused, ok := errors.AsType[*RedirectError](err); ok {
		return &Error{Message: refused.Error(), Err: refused}
	}
	if large, ok := errors.AsType[*tooLargeError](err); ok {
		return &Error{Message: large.Error(), Retryable: true, Malformed: true, Err: large}
	}
	return nil
}

// originOf returns scheme, host and port in one canonical form. It lowers only ASCII letters.
// Lowering other letters can turn them into ASCII letters, as with the dotted capital I (U+0130),
// although they name another host.
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
