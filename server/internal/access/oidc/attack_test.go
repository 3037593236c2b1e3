package oidc_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolhost/toolhost/server/internal/access/oidc"
)

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// hmacWith signs with HS256 and a secret. An attacker uses the public key as the secret.
func hmacWith(t *testing.T, secret, payload []byte, id string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, &jose.SignerOptions{ExtraHeaders: header{"kid": id}})
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

// TestAttacksAreRefused presents tokens that an attacker can make from a valid token, from public
// keys and from keys of other parties.
func TestAttacksAreRefused(t *testing.T) {
	key, other, rsaKey, stranger := newPair("k1"), newPair("k2"), newRSAPair("r1", 2048), newPair("k1")
	v, fake := newVerifier(t, oidc.Config{}, key, other, rsaKey)
	good := key.sign(t, valid(nil), nil)
	if _, err := verify(t, v, good); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	der, err := x509.MarshalPKIXPublicKey(rsaKey.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	jwk, err := json.Marshal(rsaKey.public())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	twice := strings.Replace(string(valid(nil)), `"sub":"ada"`, `"sub":"ada","sub":"root"`, 1)
	withKey := func() string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: stranger.private, KeyID: "k1"}}, &jose.SignerOptions{EmbedJWK: true})
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign(valid(nil))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := signed.CompactSerialize()
		return text
	}()
	for name, test := range map[string]struct{ token, reason string }{
		"algorithm none":                  {part(`{"alg":"none"}`) + "." + part(string(valid(nil))) + ".", "algorithm"},
		"algorithm None":                  {part(`{"alg":"None","kid":"k1"}`) + "." + part(string(valid(nil))) + "." + parts[2], "algorithm"},
		"algorithm missing":               {part(`{"kid":"k1"}`) + "." + parts[1] + "." + parts[2], "algorithm"},
		"algorithm twice":                 {part(`{"alg":"none","alg":"ES256","kid":"k1"}`) + "." + parts[1] + "." + parts[2], "invalid protected header"},
		"HS256 with the public key":       {hmacWith(t, publicPEM, valid(nil), "r1"), "algorithm"},
		"HS256 with the DER key":          {hmacWith(t, der, valid(nil), "r1"), "algorithm"},
		"HS256 with the JWK":              {hmacWith(t, jwk, valid(nil), "r1"), "algorithm"},
		"another kind of key":             {pair{"r1", jose.ES256, stranger.private}.sign(t, valid(nil), nil), `key "r1"`},
		"a foreign key under a known id":  {stranger.sign(t, valid(nil), nil), "signature is wrong"},
		"another key of the issuer":       {pair{"k2", jose.ES256, key.private}.sign(t, valid(nil), nil), "signature is wrong"},
		"no key id":                       {key.sign(t, valid(nil), header{"kid": nil}), "names no key"},
		"an unknown key id":               {pair{"k9", jose.ES256, stranger.private}.sign(t, valid(nil), nil), "k9"},
		"a path as key id":                {pair{"../../../../dev/null", jose.ES256, stranger.private}.sign(t, valid(nil), nil), "key"},
		"SQL as key id":                   {pair{"x' UNION SELECT 'a", jose.ES256, stranger.private}.sign(t, valid(nil), nil), "key"},
		"a long key id":                   {pair{strings.Repeat("k", 300), jose.ES256, stranger.private}.sign(t, valid(nil), nil), "too long"},
		"a key in the header":             {withKey, "brings its own key"},
		"a URL of keys in the header":     {stranger.sign(t, valid(nil), header{"jku": "https://evil.example.org/keys"}), "signature is wrong"},
		"a URL of certificates":           {stranger.sign(t, valid(nil), header{"x5u": "https://evil.example.org/cert"}), "signature is wrong"},
		"a critical extension":            {key.sign(t, valid(nil), header{"crit": []string{"exp"}, "exp": 1}), "demands an extension"},
		"an unencoded payload":            {key.sign(t, valid(nil), header{"crit": []string{"b64"}, "b64": true}), "demands an extension"},
		"a logout token":                  {key.sign(t, valid(nil), header{"typ": "logout+jwt"}), "its type"},
		"a DPoP proof":                    {key.sign(t, valid(nil), header{"typ": "dpop+jwt"}), "its type"},
		"a type that is no text":          {key.sign(t, valid(nil), header{"typ": 1}), "its type"},
		"expired":                         {key.sign(t, valid(claims{"iat": now.Add(-2 * time.Hour).Unix(), "exp": now.Add(-time.Hour).Unix()}), nil), "expired at"},
		"without expiry":                  {key.sign(t, valid(claims{"exp": nil}), nil), "claim exp"},
		"with a text as expiry":           {key.sign(t, valid(claims{"exp": "never"}), nil), "Number"},
		"with an endless expiry":          {key.sign(t, valid(claims{"exp": 1e300}), nil), ""},
		"with a negative expiry":          {key.sign(t, valid(claims{"exp": -1}), nil), "claim exp"},
		"valid for a year":                {key.sign(t, valid(claims{"exp": now.AddDate(1, 0, 0).Unix()}), nil), "at most 24h"},
		"without time of issue":           {key.sign(t, valid(claims{"iat": nil}), nil), "claim iat"},
		"issued in the future":            {key.sign(t, valid(claims{"iat": now.Add(time.Hour).Unix(), "exp": now.Add(2 * time.Hour).Unix()}), nil), "in the future"},
		"not yet valid":                   {key.sign(t, valid(claims{"nbf": now.Add(time.Hour).Unix()}), nil), "valid from"},
		"with a text as not before":       {key.sign(t, valid(claims{"nbf": "0"}), nil), ""},
		"of another audience":             {key.sign(t, valid(claims{"aud": "agentd"}), nil), "its audience"},
		"of a similar audience":           {key.sign(t, valid(claims{"aud": "toolhost.evil"}), nil), "its audience"},
		"of an empty audience":            {key.sign(t, valid(claims{"aud": []string{}}), nil), "its audience"},
		"without audience":                {key.sign(t, valid(claims{"aud": nil}), nil), "its audience"},
		"of another issuer":               {key.sign(t, valid(claims{"iss": "https://evil.example.org"}), nil), "which the configuration does not have"},
		"of a similar issuer":             {key.sign(t, valid(claims{"iss": issuerURL + "/"}), nil), "which the configuration does not have"},
		"without issuer":                  {key.sign(t, valid(claims{"iss": nil}), nil), "names no issuer"},
		"with the issuer in another case": {key.sign(t, []byte(strings.Replace(string(valid(nil)), `"iss"`, `"Iss"`, 1)), nil), "names no issuer"},
		"with a list of issuers":          {key.sign(t, valid(claims{"iss": []string{issuerURL}}), nil), "names no issuer"},
		"without subject":                 {key.sign(t, valid(claims{"sub": nil}), nil), "claim sub"},
		"with a subject that is no text":  {key.sign(t, valid(claims{"sub": 7}), nil), ""},
		"with spaces in the subject":      {key.sign(t, valid(claims{"sub": "ada root"}), nil), "printable ASCII"},
		"with a long subject":             {key.sign(t, valid(claims{"sub": strings.Repeat("a", 200)}), nil), "printable ASCII"},
		"with a claim twice":              {key.sign(t, []byte(twice), nil), "duplicate"},
		"with another payload":            {parts[0] + "." + part(strings.Replace(string(valid(nil)), "ada", "root", 1)) + "." + parts[2], "signature is wrong"},
		"with another header":             {part(`{"alg":"ES256","kid":"k1"}`) + "." + parts[1] + "." + parts[2], "signature is wrong"},
		"truncated":                       {good[:len(good)-1], ""},
		"without signature":               {parts[0] + "." + parts[1] + ".", "signature is wrong"},
		"with two signatures":             {good + "." + parts[2], "no JWT"},
		"in JSON form":                    {fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, parts[0], parts[1], parts[2]), "no JWT"},
		"encrypted":                       {strings.Join([]string{parts[0], "", parts[1], parts[2], ""}, "."), "no JWT"},
		"with spaces":                     {" " + good, "no JWT"},
		"with a line end":                 {good + "\n", "no JWT"},
		"with padding":                    {good + "=", "no JWT"},
		"huge":                            {key.sign(t, valid(claims{"pad": strings.Repeat("x", 9000)}), nil), "at most 8192 are accepted"},
		"deep":                            {part(`{"alg":"ES256"}`) + "." + part(strings.Repeat("[", 4000)) + "." + parts[2], "ill-formed"},
		"empty":                           {"", "no JWT"},
		"only dots":                       {"..", "ill-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := verify(t, v, test.token)
			if err == nil || got.Principal.Name != "" || !strings.Contains(err.Error(), test.reason) {
				t.Fatalf("%+v, %v; want an error with %q", got.Principal, err, test.reason)
			}
			if len(parts[2]) > 0 && strings.Contains(err.Error(), parts[2]) {
				t.Errorf("the error contains a signature: %v", err)
			}
		})
	}
	if _, err := verify(t, v, good); err != nil {
		t.Errorf("after the attacks: %v", err)
	}
	if fake.count() > 4 {
		t.Errorf("the attacks made the server fetch the keys %d times", fake.count())
	}
}

// TestKeysLie has an issuer's server that an attacker controls in part, or that is wrong.
func TestKeysLie(t *testing.T) {
	key, weak := newPair("k1"), newRSAPair("r1", 1024)
	public, err := json.Marshal(key.public())
	if err != nil {
		t.Fatal(err)
	}
	weakPublic, err := json.Marshal(weak.public())
	if err != nil {
		t.Fatal(err)
	}
	encryption := strings.Replace(string(public), `"use":"sig"`, `"use":"enc"`, 1)
	off := *key.private.Public().(*ecdsa.PublicKey)
	for name, test := range map[string]struct {
		change func(f *fakeIssuer)
		token  func() string
		reason string
	}{
		"another issuer": {change: func(f *fakeIssuer) {
			f.discovery = `{"issuer":"https://evil.example.org","jwks_uri":"` + issuerURL + `/keys"}`
		}, reason: "discovery"},
		"no place":            {change: func(f *fakeIssuer) { f.discovery = `{"issuer":"` + issuerURL + `"}` }, reason: "not an https URL"},
		"a place without TLS": {change: func(f *fakeIssuer) { f.place = "http://issuer.example.org/keys" }, reason: "not an https URL"},
		"a file as place":     {change: func(f *fakeIssuer) { f.place = "file:///etc/passwd" }, reason: "not an https URL"},
		"a missing place":     {change: func(f *fakeIssuer) { f.place = issuerURL + "/other" }, reason: "answered 404"},
		"no JSON":             {change: func(f *fakeIssuer) { f.jwks = "<html>" }, reason: "ill-formed"},
		"no keys":             {change: func(f *fakeIssuer) { f.jwks = "{}" }, reason: "has no keys"},
		"a huge answer":       {change: func(f *fakeIssuer) { f.jwks = `{"keys":["` + strings.Repeat("x", 2<<20) + `"]}` }, reason: "too large"},
		"a huge discovery":    {change: func(f *fakeIssuer) { f.discovery = strings.Repeat("x", 2<<20) }, reason: "too large"},
		"too many keys":       {change: func(f *fakeIssuer) { f.jwks = `{"keys":[` + strings.Repeat("{},", 100) + `{}]}` }, reason: "more than 100"},
		"a key to encrypt":    {change: func(f *fakeIssuer) { f.jwks = `{"keys":[` + encryption + `]}` }, reason: "has no key"},
		"a secret key": {
			change: func(f *fakeIssuer) {
				f.jwks = `{"keys":[{"kty":"oct","kid":"k1","alg":"HS256","k":"` + part("secret") + `"}]}`
			},
			token: func() string { return hmacWith(t, []byte("secretsecretsecretsecretsecretse"), valid(nil), "k1") }, reason: "algorithm",
		},
		"a weak key": {change: func(f *fakeIssuer) { f.jwks = `{"keys":[` + string(weakPublic) + `]}` },
			token: func() string { return weak.sign(t, valid(nil), nil) }, reason: "has no key"},
		"a key for another algorithm": {change: func(f *fakeIssuer) {
			f.keys = []jose.JSONWebKey{{Key: &off, KeyID: "k1", Algorithm: "ES384"}}
		}, reason: "has no key"},
	} {
		t.Run(name, func(t *testing.T) {
			v, fake := newVerifier(t, oidc.Config{}, key)
			fake.set(test.change)
			token := key.sign(t, valid(nil), nil)
			if test.token != nil {
				token = test.token()
			}
			got, err := verify(t, v, token)
			if err == nil || got.Principal.Name != "" || !strings.Contains(err.Error(), test.reason) {
				t.Fatalf("%+v, %v; want an error with %q", got.Principal, err, test.reason)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
	t.Run("unknown keys beside a good one", func(t *testing.T) {
		v, fake := newVerifier(t, oidc.Config{}, key)
		fake.set(func(f *fakeIssuer) {
			f.jwks = `{"keys":[{"kty":"new"},{"kty":"OKP","crv":"Ed448","x":"AA"},"text",` + string(weakPublic) + `,` + string(public) + `]}`
		})
		if _, err := verify(t, v, key.sign(t, valid(nil), nil)); err != nil {
			t.Error(err)
		}
	})
}
