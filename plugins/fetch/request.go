package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/toolhost/toolhost/sdk/egress"
)

// request has the inputs about the request of both tools.
type request struct {
	method  string
	url     string
	headers map[string]string
	body    string
}

// build returns the request if it is allowed.
func (s *settings) build(ctx context.Context, r request) (*http.Request, error) {
	u, err := url.Parse(strings.TrimSpace(r.url))
	if err != nil {
		return nil, fmt.Errorf("the URL cannot be read: %w", withoutURL(err))
	}
	if err := s.checkURL(u); err != nil {
		if _, ok := errors.AsType[*egress.Refusal](err); ok {
			err = failure(ctx, u, err)
		}
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	request, err := http.NewRequestWithContext(ctx, r.method, u.String(), strings.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("the request cannot be made: %w", withoutURL(err))
	}
	if r.body == "" {
		request.Body, request.GetBody, request.ContentLength = http.NoBody, nil, 0
	} else {
		request.Header.Set("Content-Type", contentType(r.body))
	}
	request.Header.Set("User-Agent", cmp.Or(s.userAgent, defaultUserAgent))
	request.Header.Set("Accept", "text/html, application/xhtml+xml, application/json, text/*;q=0.9, */*;q=0.5")
	request.Header.Set("Accept-Language", "en, *;q=0.5")
	for name, value := range r.headers {
		if err := checkHeader(name, value); err != nil {
			return nil, err
		}
		request.Header.Set(name, value)
	}
	return request, nil
}

// contentType returns the type of a body for a request without such a header.
func contentType(body string) string {
	if json.Valid([]byte(body)) {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

// forbidden are headers that a model may not set: headers that frame a request or control the
// connection, headers from which servers derive the client's identity, and headers that open the
// metadata services of clouds.
var forbidden = []string{
	"accept-encoding", "client-ip", "connection", "content-length", "cookie", "cookie2", "date", "expect", "forwarded", "host", "http2-settings",
	"keep-alive", "metadata", "metadata-flavor", "origin", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"referer", "te", "trailer", "transfer-encoding", "true-client-ip", "upgrade", "user-agent", "via", "x-client-ip", "x-cluster-client-ip",
	"x-http-method", "x-http-method-override", "x-method-override", "x-real-ip", "x-rewrite-url",
}

// forbiddenBeginnings are prefixes of more such headers.
var forbiddenBeginnings = []string{"cf-", "fastly-", "proxy-", "sec-", "x-envoy-", "x-forwarded-", "x-original-", "x-aws-ec2-metadata-", "x-google-metadata-"}

func checkHeader(name, value string) error {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return fmt.Errorf("%q is no name of an HTTP header", name)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of the header %s holds characters that cannot be sent", name)
	case slices.Contains(forbidden, lower), slices.ContainsFunc(forbiddenBeginnings, func(s string) bool { return strings.HasPrefix(lower, s) }):
		return fmt.Errorf("the header %s cannot be set; set others, such as Accept, Authorization, If-None-Match or those that an API asks for", name)
	}
	return nil
}
