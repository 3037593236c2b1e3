package credentials_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// issuer is a real issuer with TLS. It returns its settings and a function that signs tokens.
func issuer(t *testing.T) (authconfig.Issuer, func() string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signs := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k1", Algorithm: "ES256"}}}
	server := httptest.NewTLSServer(signs)
	t.Cleanup(server.Close)
	signs.SetIssuer(server.URL)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return authconfig.Issuer{Issuer: server.URL, Audience: []string{"toolhost"}, CA: ca, ClockSkew: time.Second, MaxLifetime: time.Hour}, func() string {
		return oidctest.SignIDToken(key, "k1", "ES256", fmt.Sprintf(`{"iss":%q,"aud":"toolhost","sub":"job","iat":%d,"exp":%d}`,
			server.URL, time.Now().Unix(), time.Now().Add(time.Minute).Unix()))
	}
}

func open(t *testing.T, state string, auth *authconfig.Auth) *credentials.Credentials {
	t.Helper()
	c, err := credentials.New(tokenstore.New("toolhost", state), auth, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// known returns the key of the principal that evidence identifies, or the reason why there is none.
func known(t *testing.T, c *credentials.Credentials, e authn.Evidence) string {
	t.Helper()
	v, err := c.Authenticate(t.Context(), e)
	if err != nil {
		return err.Error()
	}
	return v.Principal.Key()
}

// A reload changes issuers and rules at once. Until it is applied, and after it was canceled,
// nothing changes. A reload that leaves the issuers alone keeps what was fetched of them.
func TestReload(t *testing.T) {
	first, sign := issuer(t)
	second, signSecond := issuer(t)
	c := open(t, t.TempDir(), &authconfig.Auth{Issuers: []authconfig.Issuer{first}})
	before := "default/" + first.Issuer + "#job"
	if got := known(t, c, authn.Evidence{Bearer: sign()}); got != before {
		t.Fatalf("a job is %q", got)
	}
	renamed := &authconfig.Auth{
		Issuers:    []authconfig.Issuer{first},
		Principals: []authconfig.Principal{{Issuer: first.Issuer, Name: "ci", Tenant: "red"}},
	}
	_, cancel, err := c.Prepare(renamed)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := known(t, c, authn.Evidence{Bearer: sign()}); got != before {
		t.Errorf("a canceled reload makes the job %q", got)
	}
	apply, _, err := c.Prepare(renamed)
	if err != nil {
		t.Fatal(err)
	}
	if got := known(t, c, authn.Evidence{Bearer: sign()}); got != before {
		t.Errorf("before the reload is applied, the job is %q", got)
	}
	apply()
	if got := known(t, c, authn.Evidence{Bearer: sign()}); got != "red/ci" {
		t.Errorf("after the reload, the job is %q", got)
	}
	_, cancel, err = c.Prepare(&authconfig.Auth{Issuers: []authconfig.Issuer{second}})
	if err != nil {
		t.Fatal(err)
	}
	cancel() // also ends what New would fetch for the second issuer
	other, _, err := c.Prepare(&authconfig.Auth{Issuers: []authconfig.Issuer{second}})
	if err != nil {
		t.Fatal(err)
	}
	other()
	if got := known(t, c, authn.Evidence{Bearer: sign()}); !strings.Contains(got, "issuer") {
		t.Errorf("a token of the issuer that was removed gives %q", got)
	}
	if got := known(t, c, authn.Evidence{Bearer: signSecond()}); got != "default/"+second.Issuer+"#job" {
		t.Errorf("a token of the new issuer gives %q", got)
	}
	if _, _, err := c.Prepare(&authconfig.Auth{Principals: []authconfig.Principal{{User: "no-such-user-here", Name: "x"}}}); err == nil {
		t.Error("a rule for an unknown user is accepted")
	}
	if got := known(t, c, authn.Evidence{Bearer: signSecond()}); got != "default/"+second.Issuer+"#job" {
		t.Errorf("after a reload that failed, a token gives %q", got)
	}
}

// While reloads exchange issuers and rules, each caller is known by one whole configuration: the
// job has the name of the first or of the second one, and no token is refused.
func TestReloadUnderLoad(t *testing.T) {
	first, sign := issuer(t)
	longer := first
	longer.MaxLifetime = 2 * time.Hour // another issuer for the reload, which fetches the keys again
	state := t.TempDir()
	a := &authconfig.Auth{Issuers: []authconfig.Issuer{first}, Principals: []authconfig.Principal{{Issuer: first.Issuer, Name: "a", Tenant: "red"}}}
	b := &authconfig.Auth{Issuers: []authconfig.Issuer{longer}, Principals: []authconfig.Principal{{Issuer: first.Issuer, Name: "b", Tenant: "blue"}}}
	c := open(t, state, a)
	store := tokenstore.New("toolhost", state)
	defer store.Close()
	token, _, err := store.Create(t.Context(), tokenstore.Record{Name: "ci", Tenant: "red"})
	if err != nil {
		t.Fatal(err)
	}
	var (
		callers sync.WaitGroup
		done    atomic.Bool
	)
	for range 16 {
		callers.Go(func() {
			for !done.Load() {
				got := known(t, c, authn.Evidence{Bearer: sign()})
				if got != "red/a" && got != "blue/b" {
					t.Errorf("the job is %q", got)
					return
				}
				if got := known(t, c, authn.Evidence{Bearer: token}); got != "red/ci" {
					t.Errorf("the token gives %q", got)
					return
				}
			}
		})
	}
	for i := range 50 {
		apply, _, err := c.Prepare([]*authconfig.Auth{b, a}[i%2])
		if err != nil {
			t.Fatal(err)
		}
		apply()
		// Each configuration serves a call before the next one replaces it.
		if got, want := known(t, c, authn.Evidence{Bearer: sign()}), []string{"blue/b", "red/a"}[i%2]; got != want {
			t.Errorf("after reload %d, the job is %q, want %q", i, got, want)
		}
	}
	done.Store(true)
	callers.Wait()
}
