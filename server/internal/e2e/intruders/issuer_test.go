package intruders_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// issuer is an OpenID Connect server with the issuers URL/ids, URL/names and URL/mails, which have
// the same key.
type issuer struct {
	url, ca string
	key     *ecdsa.PrivateKey
	visits  atomic.Int64 // requests for anything else, such as the keys of an intruder
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{key: newKey(t)}
	server := httptest.NewTLSServer(http.HandlerFunc(i.serve))
	t.Cleanup(server.Close)
	i.url, i.ca = server.URL, filepath.Join(t.TempDir(), "issuer.pem")
	if err := os.WriteFile(i.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	for _, path := range []string{"/ids", "/names", "/mails"} {
		switch r.URL.Path {
		case path + "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.url + path, "jwks_uri": i.url + "/keys", "id_token_signing_alg_values_supported": []string{"none", "HS256", "ES256"}})
			return
		case "/keys":
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{jwk(i.key, "k1")}})
			return
		}
	}
	i.visits.Add(1)
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{}})
}

// jwk returns a public key in the form of RFC 7517.
func jwk(key *ecdsa.PrivateKey, id string) map[string]any {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err) // the key is one of P-256
	}
	return map[string]any{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": id,
		"x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:]),
	}
}

type members = map[string]any

// claims returns the claims of a job of the repository acme/tools, changed by change. A nil value
// removes a claim.
func (i *issuer) claims(change members) members {
	now := time.Now()
	all := members{"iss": i.url + "/ids", "aud": "toolhost", "sub": "job", "repository": "acme/tools", "iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix()}
	return changed(all, change)
}

func changed(all, change members) members {
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// token returns a genuine token with changed claims and a changed header.
func (i *issuer) token(t *testing.T, change, header members) string {
	t.Helper()
	return sign(t, i.key, encode(t, changed(members{"alg": "ES256", "kid": "k1", "typ": "JWT"}, header)), encode(t, i.claims(change)))
}

// sign returns a token with a signature of the kind ES256.
func sign(t *testing.T, key *ecdsa.PrivateKey, header, payload string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(header + "." + payload))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return header + "." + payload + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// keyed returns a token whose signature is a HMAC with the public key as its secret.
func (i *issuer) keyed(t *testing.T) string {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(crypto.PublicKey(&i.key.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	text := encode(t, members{"alg": "HS256", "kid": "k1", "typ": "JWT"}) + "." + encode(t, i.claims(nil))
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// encode returns JSON in base64url. A string is JSON already.
func encode(t *testing.T, value any) string {
	t.Helper()
	text, ok := value.(string)
	if !ok {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}
