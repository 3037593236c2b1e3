package oidc_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"encoding/pem"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/go-jose/go-jose/v4"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/oidc"
)

var _ authn.Verifier = (*oidc.Verifier)(nil)

// TestRealServer uses the issuer of go-oidc's tests over TLS with a private CA.
func TestRealServer(t *testing.T) {
	key := newRSAPair("k1", 2048)
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.private.Public(), KeyID: "k1", Algorithm: "RS256"}}}
	server := httptest.NewTLSServer(issuer)
	defer server.Close()
	issuer.SetIssuer(server.URL)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, reason := range map[string]string{ca: "", "": "certificate", ca + "x": "no such file"} {
		v, err := oidc.New([]oidc.Config{{Issuer: server.URL, Audience: []string{"toolhost"}, CAFile: file}}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		got, err := verify(t, v, key.sign(t, valid(claims{"iss": server.URL}), nil))
		if reason == "" && (err != nil || got.Principal.Name != server.URL+"#ada") || reason != "" && (err == nil || !strings.Contains(err.Error(), reason)) {
			t.Errorf("with the CA %q: %+v, %v; want %q", file, got.Principal, err, reason)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPrincipals(t *testing.T) {
	key := newPair("k1")
	for name, test := range map[string]struct {
		config oidc.Config
		claims claims
		want   string // key and groups
		reason string
	}{
		"default":                  {want: "default/" + issuerURL + "#ada []"},
		"tenant":                   {config: oidc.Config{Tenant: "red"}, want: "red/" + issuerURL + "#ada []"},
		"name and tenant":          {config: oidc.Config{NameClaim: "preferred_username", TenantClaim: "org"}, claims: claims{"preferred_username": "Ada", "org": "blue"}, want: "blue/Ada []"},
		"groups":                   {config: oidc.Config{GroupsClaim: "groups"}, claims: claims{"groups": []any{"dev", "Domain Users", 7, "ops"}}, want: "default/" + issuerURL + "#ada [dev ops]"},
		"one group":                {config: oidc.Config{GroupsClaim: "groups"}, claims: claims{"groups": "dev"}, want: "default/" + issuerURL + "#ada [dev]"},
		"groups within":            {config: oidc.Config{GroupsClaim: "realm_access.roles"}, claims: claims{"realm_access": claims{"roles": []string{"dev"}}}, want: "default/" + issuerURL + "#ada [dev]"},
		"a claim with dots":        {config: oidc.Config{GroupsClaim: "https://a.example.org/groups"}, claims: claims{"https://a.example.org/groups": "dev"}, want: "default/" + issuerURL + "#ada [dev]"},
		"verified mail":            {config: oidc.Config{NameClaim: "email"}, claims: claims{"email": "ada@example.org", "email_verified": true}, want: "ada@example.org []"},
		"several audiences":        {config: oidc.Config{NameClaim: "sub"}, claims: claims{"aud": []string{"other", "toolhost"}}, want: "ada []"},
		"mail that is not":         {config: oidc.Config{NameClaim: "email"}, claims: claims{"email": "root@example.org", "email_verified": false}, reason: "has not verified"},
		"mail verified by text":    {config: oidc.Config{NameClaim: "email"}, claims: claims{"email": "root@example.org", "email_verified": "true"}, reason: "has not verified"},
		"no name":                  {config: oidc.Config{NameClaim: "preferred_username"}, reason: "preferred_username"},
		"no tenant":                {config: oidc.Config{TenantClaim: "org"}, reason: "claim org"},
		"a bad tenant":             {config: oidc.Config{TenantClaim: "org"}, claims: claims{"org": "../red"}, reason: "tenant"},
		"all tenants":              {config: oidc.Config{TenantClaim: "org"}, claims: claims{"org": "all"}, reason: "tenant"},
		"name of a user":           {config: oidc.Config{NameClaim: "nickname"}, claims: claims{"nickname": "uid:0"}, reason: "reserved"},
		"name of a certificate":    {config: oidc.Config{NameClaim: "nickname"}, claims: claims{"nickname": "uri:spiffe://a/b"}, reason: "reserved"},
		"name of the anonymous":    {config: oidc.Config{NameClaim: "nickname"}, claims: claims{"nickname": "anonymous"}, reason: "reserved"},
		"name of another issuer's": {config: oidc.Config{NameClaim: "nickname"}, claims: claims{"nickname": "https://other#ada"}, reason: "reserved"},
		"another tenant by name":   {config: oidc.Config{NameClaim: "nickname"}, claims: claims{"nickname": "red/ada"}, want: "default/red/ada []"},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := newVerifier(t, test.config, key)
			got, err := verify(t, v, key.sign(t, valid(test.claims), header{"typ": "at+jwt"}))
			if test.reason != "" {
				if err == nil || !strings.Contains(err.Error(), test.reason) {
					t.Fatalf("%+v, %v; want an error with %q", got.Principal, err, test.reason)
				}
				return
			}
			if text := fmt.Sprint(got.Principal.Key(), " ", got.Principal.Groups); err != nil || text != test.want {
				t.Errorf("%s, %v; want %s", text, err, test.want)
			}
			if tenant, _ := identity.SplitKey(got.Principal.Key()); tenant != got.Principal.Tenant {
				t.Errorf("the key %s is of the tenant %s", got.Principal.Key(), tenant)
			}
		})
	}
}

func TestClockSkewAndExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newPair("k1")
		v, _ := newVerifier(t, oidc.Config{ClockSkew: time.Minute}, key)
		now := time.Now()
		token := key.sign(t, valid(claims{"iat": now.Add(50 * time.Second).Unix(), "nbf": now.Add(50 * time.Second).Unix(), "exp": now.Add(time.Hour).Unix()}), nil)
		got, err := verify(t, v, token)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour + 59*time.Second)
		if _, err := verify(t, v, token); err != nil {
			t.Errorf("within the clock skew: %v", err)
		}
		if err := got.Current(t.Context()); err != nil {
			t.Errorf("within the clock skew: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := verify(t, v, token); err == nil || !strings.Contains(err.Error(), "expired at") {
			t.Errorf("after the clock skew: %v", err)
		}
		if err := got.Current(t.Context()); err == nil || time.Now().Before(got.Expires) {
			t.Errorf("a stream goes on with an expired token: %v", err)
		}
	})
}

func TestKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newPair("k1"), newPair("k2")
		v, fake := newVerifier(t, oidc.Config{}, first)
		old := first.sign(t, valid(nil), nil)
		got, err := verify(t, v, old)
		if err != nil {
			t.Fatal(err)
		}
		// A new key counts at once, also for 64 callers at the same time with one fetch.
		fake.set(func(f *fakeIssuer) { f.keys = []jose.JSONWebKey{first.public(), second.public()} })
		before := fake.count()
		var group sync.WaitGroup
		for i := range 64 {
			group.Go(func() {
				if _, err := verify(t, v, second.sign(t, valid(claims{"jti": fmt.Sprint(i)}), nil)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := fake.count() - before; n > 2 {
			t.Errorf("64 callers with a new key made %d fetches", n)
		}
		// A key that the issuer withdraws is refused after the next refresh, also for tokens in the
		// cache.
		fake.set(func(f *fakeIssuer) { f.keys = f.keys[1:] })
		time.Sleep(11 * time.Minute)
		if _, err := verify(t, v, second.sign(t, valid(nil), nil)); err != nil {
			t.Error(err)
		}
		synctest.Wait() // the refresh in the background
		if _, err := verify(t, v, old); err == nil || !strings.Contains(err.Error(), "no key") {
			t.Errorf("a token of a withdrawn key: %v", err)
		}
		if err := got.Current(t.Context()); err == nil {
			t.Error("a stream goes on with a withdrawn key")
		}
		// The same id with another key is another key.
		impostor := newPair("k2")
		token := second.sign(t, valid(nil), nil)
		if _, err := verify(t, v, token); err != nil {
			t.Error(err)
		}
		fake.set(func(f *fakeIssuer) { f.keys = []jose.JSONWebKey{impostor.public()} })
		time.Sleep(11 * time.Minute)
		_, _ = verify(t, v, token)
		synctest.Wait()
		if _, err := verify(t, v, token); err == nil {
			t.Error("a token of a replaced key is valid")
		}
	})
}

func TestIssuerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newPair("k1")
		v, fake := newVerifier(t, oidc.Config{MaxLifetime: 100 * time.Hour}, key)
		token := key.sign(t, valid(claims{"exp": time.Now().Add(90 * time.Hour).Unix()}), nil)
		fake.set(func(f *fakeIssuer) { f.down = true })
		unchecked := func(when, token string) {
			t.Helper()
			if _, err := verify(t, v, token); !isUnchecked(err) || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("%s: %v", when, err)
			}
		}
		for range 5 { // also when no further fetch is permitted
			unchecked("without keys", token)
		}
		time.Sleep(time.Minute)
		fake.set(func(f *fakeIssuer) { f.down = false })
		if _, err := verify(t, v, token); err != nil {
			t.Errorf("after the issuer has started: %v", err)
		}
		fake.set(func(f *fakeIssuer) { f.down = true })
		for range 23 {
			time.Sleep(time.Hour)
			if _, err := verify(t, v, key.sign(t, valid(nil), nil)); err != nil {
				t.Fatalf("while the issuer is down: %v", err)
			}
		}
		next := newPair("k2")
		unchecked("a new key", next.sign(t, valid(nil), nil))
		if _, err := verify(t, v, key.sign(t, valid(claims{"aud": "other"}), nil)); err == nil || isUnchecked(err) {
			t.Errorf("another audience: %v", err)
		}
		time.Sleep(2 * time.Hour)
		unchecked("keys of a day ago", token)
		fake.set(func(f *fakeIssuer) { f.down = false })
		time.Sleep(time.Minute)
		if _, err := verify(t, v, token); err != nil {
			t.Errorf("after the issuer is back: %v", err)
		}
	})
}

func isUnchecked(err error) bool {
	_, is := errors.AsType[*authn.UncheckedError](err)
	return is
}

func TestUnknownKeysDoNotFloodTheIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, stranger := newPair("k1"), newPair("x")
		v, fake := newVerifier(t, oidc.Config{}, key)
		good := key.sign(t, valid(nil), nil)
		if _, err := verify(t, v, good); err != nil {
			t.Fatal(err)
		}
		before := fake.count()
		for i := range 600 {
			stranger.id = fmt.Sprint("x", i)
			if _, err := verify(t, v, stranger.sign(t, valid(nil), nil)); err == nil {
				t.Fatal("a token of an unknown key is valid")
			} else if isUnchecked(err) {
				t.Fatalf("a stranger is not counted: %v", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := fake.count() - before; n < 3 || n > 10 {
			t.Errorf("600 tokens with unknown keys in a minute made %d fetches", n)
		}
		if _, err := verify(t, v, good); err != nil {
			t.Errorf("the caller with a good token: %v", err)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	key := newPair("k1")
	v, _ := newVerifier(t, oidc.Config{}, key)
	for i := range 40 {
		if _, err := verify(t, v, key.sign(t, valid(claims{"sub": fmt.Sprint(i)}), nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := oidc.Cached(v); n != 40 {
		t.Errorf("%d tokens are cached", n)
	}
	oidc.Fill(v, time.Now().Add(time.Hour), func(i int) [32]byte { return sha256.Sum256([]byte(fmt.Sprint(i))) })
	if _, err := verify(t, v, key.sign(t, valid(nil), nil)); err != nil {
		t.Fatal(err)
	}
	if n := oidc.Cached(v); n > 4096 || n < 3000 {
		t.Errorf("a full cache has %d tokens after one more", n)
	}
}

func TestCloseEndsFetches(t *testing.T) {
	key := newPair("k1")
	hung := make(chan struct{})
	v, err := oidc.New([]oidc.Config{{Issuer: issuerURL, Audience: []string{"toolhost"}, Transport: hanging{hung}}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { // ends when Close cancels the fetch
		_, err := v.Verify(context.Background(), key.sign(t, valid(nil), nil))
		failed <- err
	}()
	<-hung
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("a token is valid without keys")
	}
	if _, err := v.Verify(t.Context(), key.sign(t, valid(nil), nil)); err == nil {
		t.Error("a closed verifier accepts a token")
	}
}

// hanging is an issuer that does not answer.
type hanging struct{ started chan struct{} }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	close(h.started)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestConfigIsChecked(t *testing.T) {
	good := oidc.Config{Issuer: issuerURL, Audience: []string{"toolhost"}}
	for name, change := range map[string]func(c *oidc.Config){
		"no TLS":            func(c *oidc.Config) { c.Issuer = "http://issuer.example.org" },
		"no host":           func(c *oidc.Config) { c.Issuer = "https://" },
		"a query":           func(c *oidc.Config) { c.Issuer += "?x=1" },
		"a password":        func(c *oidc.Config) { c.Issuer = "https://a:b@issuer.example.org" },
		"no audience":       func(c *oidc.Config) { c.Audience = nil },
		"an empty audience": func(c *oidc.Config) { c.Audience = []string{""} },
		"two tenants":       func(c *oidc.Config) { c.Tenant, c.TenantClaim = "red", "org" },
		"much clock skew":   func(c *oidc.Config) { c.ClockSkew = time.Hour },
	} {
		c := good
		change(&c)
		if _, err := oidc.New([]oidc.Config{c}, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := oidc.New([]oidc.Config{good, good}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an issuer is accepted twice")
	}
}

func FuzzVerify(f *testing.F) {
	key := newPair("k1")
	v, _ := newVerifier(f, oidc.Config{}, key)
	good := key.sign(f, valid(nil), nil)
	f.Add(good)
	for _, part := range strings.Split(good, ".") {
		f.Add(part + "." + part + "." + part)
	}
	f.Fuzz(func(t *testing.T, token string) {
		got, err := v.Verify(t.Context(), token)
		if err == nil && (got.Principal.Name != issuerURL+"#ada" || !slices.Equal(strings.Split(token, ".")[:2], strings.Split(good, ".")[:2])) {
			t.Errorf("%q is valid", token)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	key := newPair("k1")
	v, _ := newVerifier(b, oidc.Config{}, key)
	b.Run("repeated", func(b *testing.B) {
		token := key.sign(b, valid(nil), nil)
		for b.Loop() {
			if _, err := v.Verify(b.Context(), token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		tokens := make([]string, 2000)
		for i := range tokens {
			tokens[i] = key.sign(b, valid(claims{"jti": fmt.Sprint(i)}), nil)
		}
		i := 0
		for b.Loop() {
			if i++; i%len(tokens) == 0 {
				oidc.Forget(v)
			}
			if _, err := v.Verify(b.Context(), tokens[i%len(tokens)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
