package authn_test

import (
	"context"
	"crypto/x509"
	"errors"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
)

// fake verifies one bearer credential.
type fake struct {
	bearer   string
	verified authn.Verified
}

func (f fake) Verify(_ context.Context, bearer string) (authn.Verified, error) {
	if bearer != f.bearer {
		return authn.Verified{}, errors.New("it is wrong")
	}
	return f.verified, nil
}

func certificate(t *testing.T, uri, dns, mail string) *x509.Certificate {
	t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(255), NotAfter: time.Now().Add(time.Hour)}
	c.Subject.CommonName = "root"
	if uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		c.URIs = []*url.URL{u}
	}
	if dns != "" {
		c.DNSNames = []string{dns}
	}
	if mail != "" {
		c.EmailAddresses = []string{mail}
	}
	return c
}

func TestAuthenticate(t *testing.T) {
	uid, issuer := 1000, "https://issuer.example.org"
	a := authn.New(authn.Config{
		TokenPrefix: "toolhost",
		Tokens:      fake{"toolhost_good", authn.Verified{Principal: identity.Principal{Tenant: "red", Name: "ci", Credential: authn.Token}, Claims: map[string]any{"iss": issuer}}},
		Issuers: fake{"a.good.jwt", authn.Verified{
			Principal: identity.Principal{Tenant: "default", Name: issuer + "#1", Groups: []string{"own"}, Credential: authn.JWT},
			Claims:    map[string]any{"iss": issuer, "repository": "acme/tools", "roles": []any{"x", "dev"}, "verified": true, "level": 7.0, "realm": map[string]any{"kind": "job"}},
		}},
		Rules: []authn.Rule{
			{UID: &uid, Name: "ada", Tenant: "red", Groups: []string{"dev"}},
			{Certificate: "uri:spiffe://acme/ns/*", Tenant: "acme", Groups: []string{"machines"}},
			{Certificate: "dns:*.example.org", Name: "web"},
			{Issuer: "https://other.example.org", Name: "wrong-issuer"},
			{Issuer: issuer, Claims: map[string]string{"repository": "acme/*", "missing": "*"}, Name: "wrong-claim"},
			{Issuer: issuer, Claims: map[string]string{"repository": "evil/*"}, Name: "wrong-pattern"},
			{Issuer: issuer, Claims: map[string]string{"repository": "*"}, Name: "star-matches-slash"},
			{Issuer: issuer, Claims: map[string]string{"repository": "acme/*", "roles": "dev", "verified": "true", "level": "7", "realm.kind": "job"}, Name: "tools", Tenant: "acme", Groups: []string{"jobs"}},
			{Issuer: issuer, Name: "later"},
		},
	})
	spiffe := certificate(t, "spiffe://acme/ns/x", "a.example.org", "")
	for name, test := range map[string]struct {
		evidence authn.Evidence
		want     string // key of the principal
		groups   string
		reason   string
	}{
		"a user with a rule":                  {evidence: authn.Evidence{HasUID: true, UID: 1000}, want: "red/ada", groups: "dev"},
		"a user without a rule":               {evidence: authn.Evidence{HasUID: true, UID: 7}, want: "uid:7"},
		"a user who is not accepted":          {evidence: authn.Evidence{HasUID: true, UID: 7, Accepts: []string{authn.Token}}, reason: "nothing identifies"},
		"a URI":                               {evidence: authn.Evidence{Certificate: spiffe}, want: "acme/uri:spiffe://acme/ns/x", groups: "machines"},
		"a URI below the pattern":             {evidence: authn.Evidence{Certificate: certificate(t, "spiffe://acme/ns/x/sa/y", "", "")}, want: "default/uri:spiffe://acme/ns/x/sa/y"},
		"a URI of another trust domain":       {evidence: authn.Evidence{Certificate: certificate(t, "spiffe://acme.evil/ns/x", "", "")}, want: "default/uri:spiffe://acme.evil/ns/x"},
		"a DNS name":                          {evidence: authn.Evidence{Certificate: certificate(t, "", "A.Example.org", "")}, want: "web"},
		"a mail address":                      {evidence: authn.Evidence{Certificate: certificate(t, "", "", "ada@example.org")}, want: "mail:ada@example.org"},
		"a mail address that looks like DNS":  {evidence: authn.Evidence{Certificate: certificate(t, "", "", "dns:a.example.org")}, want: "mail:dns:a.example.org"},
		"only a common name":                  {evidence: authn.Evidence{Certificate: certificate(t, "", "", "")}, reason: "has no URI, DNS or mail name"},
		"only a common name, on a socket":     {evidence: authn.Evidence{Certificate: certificate(t, "", "", ""), HasUID: true, UID: 7}, reason: "has no URI"},
		"a name with a line end":              {evidence: authn.Evidence{Certificate: certificate(t, "", "", "a\nb")}, reason: "gives no principal"},
		"a certificate that is not accepted":  {evidence: authn.Evidence{Certificate: spiffe, Accepts: []string{authn.Token}}, reason: "nothing identifies"},
		"a token":                             {evidence: authn.Evidence{Bearer: "toolhost_good"}, want: "red/ci"},
		"a token and a certificate":           {evidence: authn.Evidence{Bearer: "toolhost_good", Certificate: spiffe}, want: "red/ci"},
		"a bad token and a certificate":       {evidence: authn.Evidence{Bearer: "toolhost_bad", Certificate: spiffe}, reason: "it is wrong"},
		"a bad token of root":                 {evidence: authn.Evidence{Bearer: "toolhost_bad", HasUID: true}, reason: "it is wrong"},
		"a bad token on a plain listener":     {evidence: authn.Evidence{Bearer: "x", Plain: true}, reason: "it is wrong"},
		"a token that is not accepted":        {evidence: authn.Evidence{Bearer: "toolhost_good", Accepts: []string{authn.JWT, authn.Peer}, HasUID: true}, reason: "does not accept a credential of the kind token"},
		"a token of another program":          {evidence: authn.Evidence{Bearer: "agentd_good"}, reason: "of another program"},
		"a JWT":                               {evidence: authn.Evidence{Bearer: "a.good.jwt"}, want: "acme/tools", groups: "own jobs"},
		"a JWT that is not accepted":          {evidence: authn.Evidence{Bearer: "a.good.jwt", Accepts: []string{authn.Token}}, reason: "kind jwt"},
		"an anonymous caller":                 {evidence: authn.Evidence{Plain: true}, want: "anonymous"},
		"nothing":                             {reason: "nothing identifies"},
		"nothing, but a listener and address": {evidence: authn.Evidence{Listener: "x", Address: "127.0.0.1"}, reason: "nothing identifies"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := a.Authenticate(t.Context(), test.evidence)
			if test.reason != "" {
				if err == nil || !strings.Contains(err.Error(), test.reason) || got.Principal.Name != "" {
					t.Fatalf("%+v, %v; want an error with %q", got.Principal, err, test.reason)
				}
				return
			}
			if err != nil || got.Principal.Key() != test.want || strings.Join(got.Principal.Groups, " ") != test.groups {
				t.Errorf("%s %v, %v; want %s [%s]", got.Principal.Key(), got.Principal.Groups, err, test.want, test.groups)
			}
		})
	}
	var none authn.Authenticator
	for _, bearer := range []string{"toolhost_good", "a.good.jwt", "x"} {
		if got, err := none.Authenticate(t.Context(), authn.Evidence{Bearer: bearer, HasUID: true}); err == nil {
			t.Errorf("without verifiers, %q identifies %s", bearer, got.Principal.Key())
		}
	}
}

func TestBearer(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   string
		reason string
	}{
		{nil, "", ""},
		{[]string{"Bearer abc"}, "abc", ""},
		{[]string{"Bearer abc", "Bearer def"}, "", "several values"},
		{[]string{"Bearer abc", ""}, "", "several values"},
		{[]string{""}, "", "does not begin"},
		{[]string{"Bearer"}, "", "does not begin"},
		{[]string{"Bearer "}, "", "is empty"},
		{[]string{"bearer abc"}, "", "does not begin"},
		{[]string{"BEARER abc"}, "", "does not begin"},
		{[]string{" Bearer abc"}, "", "does not begin"},
		{[]string{"Bearer\tabc"}, "", "does not begin"},
		{[]string{"Basic cm9vdDpyb290"}, "", "does not begin"},
		{[]string{"abc"}, "", "does not begin"},
		{[]string{"Bearer  abc"}, "", "characters"},
		{[]string{"Bearer abc "}, "", "characters"},
		{[]string{"Bearer abc, Bearer def"}, "", "characters"},
		{[]string{"Bearer abc,def"}, "", "characters"},
		{[]string{"Bearer abc\x00"}, "", "characters"},
		{[]string{"Bearer äbc"}, "", "characters"},
		{[]string{"Bearer " + strings.Repeat("a", 8<<10+1)}, "", "at most 8192"},
	} {
		got, err := authn.Bearer(test.values)
		if got != test.want || (err == nil) != (test.reason == "") || err != nil && !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%.60q: %q, %v; want %q, %q", test.values, got, err, test.want, test.reason)
		}
	}
}

func TestRuleCheck(t *testing.T) {
	uid := 0
	for name, r := range map[string]authn.Rule{
		"nothing":                      {},
		"no credential":                {Name: "ada"},
		"two credentials":              {UID: &uid, Certificate: "dns:a", Name: "ada"},
		"no effect":                    {UID: &uid},
		"a bad pattern":                {Certificate: "dns:[", Name: "ada"},
		"a bad claim":                  {Issuer: "x", Claims: map[string]string{"a": "["}, Name: "ada"},
		"a name without kind":          {Certificate: "a.example.org", Name: "ada"},
		"the common name":              {Certificate: "cn:root", Name: "ada"},
		"a bad tenant":                 {UID: &uid, Tenant: "../red"},
		"a bad name":                   {UID: &uid, Name: "a b"},
		"a bad group":                  {UID: &uid, Groups: []string{""}},
		"a pattern of all kinds":       {Certificate: "*", Name: "ada"},
		"a pattern that has two kinds": {Certificate: "*:x", Name: "ada"},
	} {
		if r.Check() == nil {
			t.Errorf("a rule with %s is accepted", name)
		}
	}
	good := authn.Rule{Certificate: "uri:spiffe://acme/*", Tenant: "acme"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

func TestStillValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revoked error
		v := authn.Verified{Expires: time.Now().Add(time.Hour), Current: func(context.Context) error { return revoked }}
		if err := v.StillValid(t.Context()); err != nil || v.Lasting() {
			t.Error(err)
		}
		revoked = errors.New("revoked")
		if err := v.StillValid(t.Context()); err == nil {
			t.Error("a revoked credential is valid")
		}
		revoked = nil
		time.Sleep(time.Hour)
		if err := v.StillValid(t.Context()); err == nil {
			t.Error("an expired credential is valid")
		}
		peer := authn.Verified{}
		if err := peer.StillValid(t.Context()); err != nil || !peer.Lasting() {
			t.Errorf("the user of a unix socket: %v", err)
		}
	})
}
