package mcpclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/sdk/egress"
	"github.com/toolhost/toolhost/tool"
)

// A request to a server over HTTP fails in one of three ways. The difference decides whether a call
// may be made again.
//
//   - The server did not take the request: it could not be reached, or it refused. That is a
//     *tool.Error, or errNotTaken if another session can take the request.
//   - The request was sent, and its answer was lost: a *begunError. The server may have executed the
//     call.
//   - The server answered, and the answer is unusable: a *tool.Error.
var (
	errNoAnswer = errors.New("it did not answer in time")
	errSilent   = errors.New("its stream was silent for too long")
	errNotTaken = fmt.Errorf("%w before it took the request", ErrSessionGone)
)

// begunError says that a request was sent and its answer was lost.
type begunError struct{ reason string }

func (e *begunError) Error() string { return "the connection to the MCP server broke: " + e.reason }

// outcome returns the error as the outcome of a call.
func (e *begunError) outcome(sideEffects bool) *tool.Error {
	if sideEffects {
		return tool.Errorf(tool.KindOutcomeUnknown, "%w; the call may have done part of its work", e)
	}
	return tool.Errorf(tool.KindCrashed, "%w; it can be called again", e)
}

// fate is how the request of a call failed. A failure can also end the session, and the SDK may
// report the end of the session to the call before it reports the failure. The guard knows the
// failure first and puts it here, so that the call does not depend on their order.
type fate struct{ err atomic.Pointer[error] }

type fateKey struct{}

// withFate returns a context for the request of a call.
func withFate(ctx context.Context, f *fate) context.Context {
	return context.WithValue(ctx, fateKey{}, f)
}

// decide records how the request of a call failed. ctx is that of the request.
func decide(ctx context.Context, err error) {
	if f, ok := ctx.Value(fateKey{}).(*fate); ok {
		f.err.Store(&err)
	}
}

// of returns the failure of the request, or err if none is known.
func (f *fate) of(err error) error {
	if known := f.err.Load(); err != nil && known != nil {
		return *known
	}
	return err
}

// errBroken returns the error for an answer that breaks the protocol.
func errBroken(how string) *tool.Error {
	return tool.Errorf(tool.KindInternal, "the MCP server broke the protocol: %s", how)
}

// maxRedirects is the number of redirects that a request follows within its origin. Servers
// redirect once, to a path with or without a slash at its end.
const maxRedirects = 3

// send sends a request, and follows redirects within the origin that keep its method and body. The
// answer of the server may have any other status.
func (g *guard) send(req *http.Request, s sent) (*http.Response, error) {
	for hop := 0; ; hop++ {
		resp, err := g.server.RoundTripper.RoundTrip(req)
		if err != nil || resp.StatusCode < 300 || resp.StatusCode >= 400 {
			return resp, err
		}
		to, err := resp.Location()
		_ = resp.Body.Close()
		switch {
		case err != nil:
			return nil, tool.Errorf(tool.KindUnavailable, "the MCP server answered with HTTP status %d and no location", resp.StatusCode)
		case originOf(to) != g.origin || to.User != nil:
			g.logf("a redirect to %s was refused", oneLine(to.Redacted()))
			return nil, tool.Errorf(tool.KindUnavailable, "the MCP server redirects to another origin, which toolhost refuses; the log shows where. "+
				"If it has moved, change mcp.url in plugin.yaml")
		case resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect || hop == maxRedirects:
			return nil, tool.Errorf(tool.KindUnavailable, "the MCP server redirects in a way that toolhost does not follow (HTTP status %d)", resp.StatusCode)
		}
		req = req.Clone(req.Context())
		if req.URL = to; req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// failed returns the error for a request without a whole answer. begun says that the server may
// have received the request.
func (g *guard) failed(ctx context.Context, err error, begun bool) error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errNoAnswer) || errors.Is(cause, errSilent) {
			err = cause
		} else {
			return cause // the caller has left, or the session has ended
		}
	}
	if refused, ok := errors.AsType[*egress.Refusal](err); ok {
		g.logf("a connection to %s was refused, because %v", refused.Address, refused)
		return tool.Errorf(tool.KindUnavailable, "the MCP server is not reached, because %w; an operator can permit it: plugin.%s.http.addresses in toolhost.yaml",
			refused, g.cfg.Plugin)
	}
	reason := connectionText(err)
	if g.failures.Add(1) >= maxFailures {
		g.lose(fmt.Errorf("the MCP server did not answer %d times in a row: %s", maxFailures, reason))
	}
	if begun {
		return &begunError{reason}
	}
	return tool.Errorf(tool.KindUnavailable, "the MCP server cannot be reached: %s", reason)
}

// unreached is failed for a message without an answer; resp is the answer that refuses it, if err
// is nil.
func (g *guard) unreached(err error, resp *http.Response) error {
	if err != nil {
		return tool.Errorf(tool.KindUnavailable, "the MCP server cannot be reached: %s", connectionText(err))
	}
	return tool.Errorf(tool.KindUnavailable, "the MCP server refused the session with HTTP status %d", resp.StatusCode)
}

// connectionText returns why a connection failed, without the addresses that names resolve to.
func connectionText(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "there is no host of its name"
		}
		return "its name cannot be resolved"
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return "it refuses the TLS connection: " + alert.Error()
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not accepted: " + certificateText(err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not speak TLS"
	}
	timeout, isTimeout := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errNoAnswer), errors.Is(err, errSilent):
		return err.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses connections"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it closed the connection"
	case isTimeout && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return errNoAnswer.Error()
	default:
		return "the connection failed"
	}
}

func certificateText(err error) string {
	unknown, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case isUnknown:
		return oneLine(unknown.Error())
	case isInvalid:
		return oneLine(invalid.Error())
	default:
		return "it is for another host"
	}
}

// refused returns the JSON-RPC error in an answer with a status of failure, or an error that says
// what the status means.
func (g *guard) refused(resp *http.Response, s sent) ([]byte, error) {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // a part is enough
	msg, _ := jsonrpc.DecodeMessage(text)
	problem, _ := msg.(*jsonrpc.Response)
	isProblem := false
	if problem != nil {
		_, isProblem = errors.AsType[*jsonrpc.Error](problem.Error)
	}
	if s.session && refusesSession(resp.StatusCode, text) {
		g.lose(ErrSessionGone)
		return nil, errNotTaken
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden: // whatever the body says
	case isProblem:
		g.failures.Store(0)
		problem.ID = s.id
		return jsonrpc.EncodeMessage(problem)
	}
	return nil, g.status(resp)
}

// status returns what a status of failure means for the request.
func (g *guard) status(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return tool.Errorf(tool.KindDenied, "the MCP server demands other credentials (HTTP status 401); "+
			"plugin.yaml of %q gives it a fixed token with mcp.headers, or the login of each principal with mcp.oauth", g.cfg.Plugin)
	case http.StatusForbidden:
		return tool.Errorf(tool.KindDenied, "the MCP server forbids the request (HTTP status 403)")
	case http.StatusTooManyRequests:
		e := tool.Errorf(tool.KindRateLimited, "the MCP server takes no more requests now (HTTP status 429)")
		e.RetryAfter = retryAfter(resp.Header)
		return e
	case http.StatusServiceUnavailable:
		e := tool.Errorf(tool.KindUnavailable, "the MCP server takes no requests now (HTTP status 503)")
		e.RetryAfter = retryAfter(resp.Header)
		g.fault("HTTP status 503")
		return e
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		g.fault(fmt.Sprintf("HTTP status %d", resp.StatusCode))
		return &begunError{fmt.Sprintf("a gateway answered with HTTP status %d", resp.StatusCode)}
	}
	if resp.StatusCode >= 500 {
		return &begunError{fmt.Sprintf("it answered with HTTP status %d", resp.StatusCode)}
	}
	return tool.Errorf(tool.KindUnavailable, "there is no MCP server at the URL, or it refuses the request (HTTP status %d)", resp.StatusCode)
}

// fault counts an answer that says that the server does not work.
func (g *guard) fault(reason string) {
	if g.failures.Add(1) >= maxFailures {
		g.lose(fmt.Errorf("the MCP server did not work %d times in a row: %s", maxFailures, reason))
	}
}

// retryAfter returns when a server wants the next request, within a bound.
func retryAfter(h http.Header) time.Duration {
	const most = 5 * time.Minute
	seconds, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After")), 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, most)
}
