package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/egress"
)

// errTimeout is the cause when a request takes too long.
var errTimeout = errors.New("the request took too long")

// howToAllow says how an operator can allow a request.
const howToAllow = "an operator can allow it in toolhost.yaml: plugin.fetch.env." + allowVariable + ", a list of addresses and ranges"

// failure returns an error for the model, or for the caller if every other request would fail too.
func failure(ctx context.Context, to *url.URL, err error) error {
	host := to.Host
	if u, ok := errors.AsType[*url.Error](err); ok {
		if last, bad := url.Parse(u.URL); bad == nil && last.Host != "" {
			host = last.Host // the host after redirects
		}
	}
	err = withoutURL(err)
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return fmt.Errorf("%s did not answer in time; try again later, or give it more with timeout_seconds", host)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*egress.Refusal](err); ok {
		sdk.Logger(ctx).Warn("a request was refused because of its address", "host", host, "address", refused.Address.String(), "kind", refused.Kind)
		return fmt.Errorf("%s is not reached, because it leads to %s, and public addresses alone are reached; %s", host, refused.Kind, howToAllow)
	}
	if isolated(err) {
		return sdk.Unavailable("the plugin fetch has no network; an operator can grant it one in toolhost.yaml: plugin.fetch.sandbox.network: true")
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return fmt.Errorf("there is no host of the name %q; check the URL", dns.Name)
		}
		return fmt.Errorf("the name %q could not be looked up: %s", dns.Name, dns.Err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("%s does not speak HTTPS there; the URL may have to begin with http://", host)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s refuses connections: nothing listens there", host)
	}
	return fmt.Errorf("requesting %s: %w", host, err)
}

// withoutURL removes the URL from an error, because it may contain secrets.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// isolated reports whether a request failed because this process has no network except its own
// loopback.
func isolated(err error) bool {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EAFNOSUPPORT) {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	if !dns && !errors.Is(err, syscall.ENETUNREACH) && !errors.Is(err, syscall.EADDRNOTAVAIL) {
		return false
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return false
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return false
		}
	}
	return true
}
