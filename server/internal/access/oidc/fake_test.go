package oidc_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/oidc"
)

const issuerURL = "https://issuer.example.org"

// fakeIssuer answers the requests to an issuer without a network, so that tests can use virtual
// time.
type fakeIssuer struct {
	mu        sync.Mutex
	down      bool
	discovery string // answer instead of the discovery document
	jwks      string // answer instead of the keys
	place     string // jwks_uri
	keys      []jose.JSONWebKey
	fetches   int
}

func (f *fakeIssuer) set(change func(f *fakeIssuer)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeIssuer) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetches
}

// RoundTrip implements http.RoundTripper.
func (f *fakeIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, errors.New("connection refused")
	}
	var body []byte
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		if body = []byte(f.discovery); f.discovery == "" {
			place := f.place
			if place == "" {
				place = issuerURL + "/keys"
			}
			body, _ = json.Marshal(map[string]any{"issuer": issuerURL, "jwks_uri": place, "id_token_signing_alg_values_supported": []string{"none", "HS256", "ES256"}})
		}
	case "/keys":
		f.fetches++
		if body = []byte(f.jwks); f.jwks == "" {
			body, _ = json.Marshal(jose.JSONWebKeySet{Keys: f.keys})
		}
	default:
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// pair is a key of an issuer.
type pair struct {
	id      string
	alg     jose.SignatureAlgorithm
	private crypto.Signer
}

func newPair(id string) pair {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return pair{id, jose.ES256, private}
}

func newRSAPair(id string, bits int) pair {
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return pair{id, jose.RS256, private}
}

func (p pair) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: p.private.Public(), KeyID: p.id, Algorithm: string(p.alg), Use: "sig"}
}

type header = map[jose.HeaderKey]any

// sign signs a payload. extra are further members of the header.
func (p pair) sign(t testing.TB, payload []byte, extra header) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: header{"typ": "JWT"}}
	if p.id != "" {
		options.ExtraHeaders["kid"] = p.id
	}
	maps.Copy(options.ExtraHeaders, extra)
	for name, value := range extra {
		if value == nil {
			delete(options.ExtraHeaders, name)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: p.alg, Key: p.private}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type claims = map[string]any

// valid returns claims that are valid now for an hour, changed by change; a nil value removes a
// claim.
func valid(change claims) []byte {
	now := time.Now()
	c := claims{"iss": issuerURL, "aud": "toolhost", "sub": "ada", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for name, value := range change {
		c[name] = value
		if value == nil {
			delete(c, name)
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return data
}

// newVerifier returns a verifier of an issuer with the given keys.
func newVerifier(t testing.TB, c oidc.Config, keys ...pair) (*oidc.Verifier, *fakeIssuer) {
	t.Helper()
	fake := &fakeIssuer{}
	for _, k := range keys {
		fake.keys = append(fake.keys, k.public())
	}
	c.Issuer, c.Transport = issuerURL, fake
	if c.Audience == nil {
		c.Audience = []string{"toolhost"}
	}
	v, err := oidc.New([]oidc.Config{c}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v, fake
}

func verify(t testing.TB, v *oidc.Verifier, token string) (authn.Verified, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return v.Verify(ctx, token)
}
