package credentials_test

import (
	"context"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

// A stream asks again for each call whether its credential is valid. The answer follows the
// settings in force, and not those by which the stream began.
func TestStreamsFollowAReload(t *testing.T) {
	state := t.TempDir()
	machines := &authconfig.Auth{Principals: []authconfig.Principal{{Certificate: "uri:spiffe://acme/*", Tenant: "acme", Groups: []string{"machines"}}}}
	c, err := credentials.New(tokenstore.New("toolhost", state), machines, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tokens := tokenstore.New("toolhost", state)
	defer tokens.Close()
	token, record, err := tokens.Create(t.Context(), tokenstore.Record{Name: "ci", Tenant: "red"})
	if err != nil {
		t.Fatal(err)
	}
	name, err := url.Parse("spiffe://acme/ci")
	if err != nil {
		t.Fatal(err)
	}
	began := map[string]authn.Verified{}
	for way, e := range map[string]authn.Evidence{
		"token":       {Bearer: token},
		"certificate": {Certificate: &x509.Certificate{URIs: []*url.URL{name}, SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}},
		"peer":        {UID: os.Getuid(), HasUID: true},
	} {
		if began[way], err = c.Authenticate(t.Context(), e); err != nil {
			t.Fatalf("%s: %v", way, err)
		}
	}
	if !began["peer"].Lasting() {
		t.Error("the user of a unix socket is checked for each call")
	}
	valid := func(want ...string) {
		t.Helper()
		for way, v := range began {
			is := v.StillValid(context.Background()) == nil
			for _, w := range want {
				if w == way {
					is = !is
				}
			}
			if is {
				t.Errorf("%s: %v; valid are %v", way, v.StillValid(context.Background()), want)
			}
		}
	}
	reload := func(auth *authconfig.Auth) {
		t.Helper()
		apply, _, err := c.Prepare(auth)
		if err != nil {
			t.Fatal(err)
		}
		apply()
	}
	valid("token", "certificate", "peer")
	reload(&authconfig.Auth{Principals: []authconfig.Principal{{Certificate: "uri:spiffe://acme/*", Tenant: "acme", Groups: []string{"guests"}}}})
	valid("token", "peer") // the certificate gives other groups
	reload(machines)
	valid("token", "certificate", "peer")
	reload(&authconfig.Auth{})
	valid("token", "peer")
	if _, err := tokens.Revoke(t.Context(), record.ID); err != nil {
		t.Fatal(err)
	}
	valid("peer")
}
