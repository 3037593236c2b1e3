package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	// maxAnswer bounds an answer of an issuer. Large issuers publish about 10 KiB.
	maxAnswer       = 1 << 20
	maxHeaderBytes  = 64 << 10
	maxRedirects    = 3
	maxKeys         = 100
	handshakeWithin = fetchTimeout / 2
)

// source fetches the keys of an issuer: first its discovery document, and then the keys at the
// place that the document names, because that place can change.
type source struct {
	issuer, caFile string
	transport      http.RoundTripper // nil: one with caFile for each fetch
}

// fetch returns the usable public keys.
func (s *source) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	client, err := s.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, client), s.issuer) // checks the issuer's name
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", short(err))
	}
	var document struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, fmt.Errorf("discovery: %w", short(err))
	}
	if err := checkURL(document.Keys); err != nil {
		return nil, fmt.Errorf("the place of the keys: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, document.Keys, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the keys: %w", short(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the keys: the issuer answered %d", response.StatusCode)
	}
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("the keys: %w", err)
	}
	return parseKeys(data)
}

// parseKeys returns the keys of a JWKS that can verify signatures. It ignores keys of other kinds,
// as RFC 7517 demands: symmetric keys, keys for encryption, weak and unknown ones.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("the keys are ill-formed: %w", err)
	}
	if set.Keys == nil || len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the answer has no keys, or more than %d", maxKeys)
	}
	keys := []jose.JSONWebKey{}
	for _, text := range set.Keys {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(text); err == nil && usable(key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func usable(key jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" || !key.Valid() {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// client returns an HTTP client for one fetch. It follows redirects only to https.
func (s *source) client() (*http.Client, error) {
	transport := s.transport
	if transport == nil {
		t := &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: handshakeWithin, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: maxHeaderBytes, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		}
		if s.caFile != "" {
			pem, err := os.ReadFile(s.caFile)
			if err != nil {
				return nil, err
			}
			t.TLSClientConfig.RootCAs = x509.NewCertPool()
			if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
				return nil, fmt.Errorf("%s contains no certificate", s.caFile)
			}
		}
		transport = t
	}
	return &http.Client{Transport: bounded{transport}, Timeout: fetchTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("too many redirects")
		}
		return checkURL(r.URL.String())
	}}, nil
}

func checkURL(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%.200q is not an https URL", text)
	}
	return nil
}

// maxErrorText bounds what an issuer can write into the log.
const maxErrorText = 300

// short returns an error whose text is bounded. go-oidc puts whole answers into its errors.
func short(err error) error {
	if text := err.Error(); len(text) > maxErrorText {
		return fmt.Errorf("%s…", text[:maxErrorText])
	}
	return err
}

// bounded is a transport whose answers have at most maxAnswer bytes. The bound holds after
// decompression.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	}
	return response, err
}

// CloseIdleConnections closes the connections of the transport.
func (b bounded) CloseIdleConnections() {
	if closer, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
