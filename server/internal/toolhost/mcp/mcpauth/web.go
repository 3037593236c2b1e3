package mcpauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	// requestTime bounds one request to a metadata, registration or token endpoint, with the time to
	// read its answer.
	requestTime = 20 * time.Second
	// maxAnswer bounds the answer to such a request in bytes. Real answers have about 4 KiB.
	maxAnswer = 256 << 10
)

// errTooLarge says that an answer exceeds maxAnswer.
var errTooLarge = fmt.Errorf("the answer has more than %d bytes", maxAnswer)

// newClient returns a client whose answers are bounded in size and time. It follows no redirect: a
// redirect would pass a code, a token or a secret on to an address that nothing has checked.
func newClient(through http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     bounded{through},
		Timeout:       requestTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded is a RoundTripper that refuses URLs that are no endpoints and bounds answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkEndpoint(req.URL.String()); err != nil {
		return nil, err
	}
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{resp.Body, maxAnswer}
	return resp, nil
}

// boundedBody fails after some bytes. io.LimitReader would end the answer as if it were complete.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// checkEndpoint returns why toolhost does not use a URL. Plain HTTP is for loopback only: anyone
// between toolhost and another machine could read tokens.
func checkEndpoint(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("it is not a URL")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return fmt.Errorf("the URL %s does not begin with https://", Foreign(u.Redacted()))
	case u.Host == "" || u.Opaque != "":
		return errors.New("the URL has no host")
	case u.User != nil:
		return errors.New("the URL contains a user name or password")
	case u.Fragment != "":
		return errors.New("the URL has a fragment")
	}
	return nil
}

// loopback reports whether a host is this machine by its name alone.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// origin returns scheme, host and port of a URL in one form.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// errAbsent says that a server has no document at a URL.
var errAbsent = errors.New("there is no such document")

// getJSON reads a JSON document.
func getJSON(ctx context.Context, web *http.Client, from string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return errors.New("it is not a URL")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := web.Do(req)
	if err != nil {
		return webError(err)
	}
	defer resp.Body.Close()
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed:
		return errAbsent
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("%s redirects, which toolhost does not follow", shown(from))
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers with status %d", shown(from), resp.StatusCode)
	case media != "application/json":
		return fmt.Errorf("%s is not a JSON document", shown(from))
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("reading %s: %w", shown(from), webError(err))
	}
	if json.Unmarshal(text, into) != nil {
		return fmt.Errorf("%s has a JSON document of another form", shown(from))
	}
	return nil
}

// shown returns a URL for a message.
func shown(text string) string {
	if u, err := url.Parse(text); err == nil {
		return Foreign(origin(u) + u.EscapedPath())
	}
	return "the URL"
}

// webError returns an error of a request without its URL, whose query could contain a secret.
func webError(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		if u, parsed := url.Parse(inner.URL); parsed == nil {
			return fmt.Errorf("requesting %s: %w", Foreign(origin(u)), inner.Err)
		}
		return inner.Err
	}
	return err
}

// web returns the client for the requests of a plugin.
func (l *Logins) web(plugin string) *http.Client { return newClient(l.cfg.HTTP(plugin)) }

// through returns a context with which the OAuth library uses the client for a plugin.
func (l *Logins) through(ctx context.Context, plugin string) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, l.web(plugin))
}
