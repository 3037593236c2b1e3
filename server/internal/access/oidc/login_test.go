package oidc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/oidc"
)

// codeIssuer is an issuer with the authorization code flow. It notes what its token endpoint got.
type codeIssuer struct {
	nonce string // of the ID token
	token string // the answer of the token endpoint instead
	got   url.Values
	basic string // user and password of the request
	found int    // how often it was asked for its discovery document
}

// RoundTrip implements http.RoundTripper.
func (c *codeIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(v any) (*http.Response, error) {
		data, err := json.Marshal(v)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(data)), Request: r}, err
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		c.found++
		return answer(map[string]any{
			"issuer": issuerURL, "authorization_endpoint": issuerURL + "/auth", "token_endpoint": issuerURL + "/token", "jwks_uri": issuerURL + "/keys",
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic"},
		})
	case "/token":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		user, password, _ := r.BasicAuth()
		c.got, c.basic = r.PostForm, user+":"+password
		id := c.token
		if id == "" {
			payload, err := json.Marshal(map[string]string{"nonce": c.nonce})
			if err != nil {
				return nil, err
			}
			id = "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".AA"
		}
		return answer(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": id})
	}
	return nil, errors.New("no such page")
}

func TestALogin(t *testing.T) {
	const redirect = "https://agents.example.org/login/callback"
	for name, test := range map[string]struct {
		answer url.Values // beside code and state
		change func(c *codeIssuer, answer url.Values)
		fails  string
	}{
		"well":                {},
		"with iss":            {answer: url.Values{"iss": {issuerURL}}},
		"of another issuer":   {answer: url.Values{"iss": {"https://evil.example"}}, fails: "is of the issuer"},
		"with another state":  {change: func(_ *codeIssuer, answer url.Values) { answer.Set("state", "x") }, fails: "another state"},
		"without a state":     {change: func(_ *codeIssuer, answer url.Values) { answer.Del("state") }, fails: "another state"},
		"refused":             {answer: url.Values{"error": {"access_denied"}}, fails: "access_denied"},
		"without a code":      {change: func(_ *codeIssuer, answer url.Values) { answer.Del("code") }, fails: "no code"},
		"with another nonce":  {change: func(c *codeIssuer, _ url.Values) { c.nonce = "of another login" }, fails: "another nonce"},
		"with no ID token":    {change: func(c *codeIssuer, _ url.Values) { c.token = "nonsense" }, fails: "no usable ID token"},
		"with a long token":   {change: func(c *codeIssuer, _ url.Values) { c.token = "a." + strings.Repeat("b", 1<<20) + ".c" }, fails: "exchanging the code"},
		"with an ill payload": {change: func(c *codeIssuer, _ url.Values) { c.token = "a.b.c" }, fails: "ill-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			issuer := &codeIssuer{}
			l := &oidc.Login{
				Issuer: issuerURL, ClientID: "agentd", Scopes: []string{"profile"}, Transport: issuer, Secret: func() (string, error) { return "s3", nil },
			}
			to, secret, err := l.Begin(t.Context(), redirect)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(to)
			if err != nil {
				t.Fatal(err)
			}
			asked := u.Query()
			if !strings.HasPrefix(to, issuerURL+"/auth?") || asked.Get("scope") != "openid profile" || asked.Get("redirect_uri") != redirect || asked.Get("client_id") != "agentd" ||
				asked.Get("response_type") != "code" || asked.Get("code_challenge_method") != "S256" || len(asked.Get("state")) < 20 || len(asked.Get("nonce")) < 20 {
				t.Fatalf("the browser goes to %s", to)
			}
			issuer.nonce = asked.Get("nonce")
			answer := url.Values{"code": {"c0de"}, "state": {asked.Get("state")}}
			for key, values := range test.answer {
				answer[key] = values
			}
			if test.change != nil {
				test.change(issuer, answer)
			}
			id, err := l.Finish(t.Context(), redirect, secret, answer)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) || len(err.Error()) > 1000 {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !oidc.Looks(id) {
				t.Fatal(id, err)
			}
			sum := sha256.Sum256([]byte(issuer.got.Get("code_verifier")))
			if base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || issuer.got.Get("code") != "c0de" || issuer.got.Get("redirect_uri") != redirect || issuer.basic != "agentd:s3" {
				t.Errorf("the issuer got %v by %s", issuer.got, issuer.basic)
			}
		})
	}
}

// Two logins share nothing.
func TestLoginsDiffer(t *testing.T) {
	l := &oidc.Login{Issuer: issuerURL, ClientID: "agentd", Transport: &codeIssuer{}}
	first, one, err := l.Begin(t.Context(), "https://a.example")
	if err != nil {
		t.Fatal(err)
	}
	second, other, err := l.Begin(t.Context(), "https://a.example")
	if err != nil || first == second || bytes.Equal(one, other) {
		t.Error("two logins are the same", err)
	}
}

// Strangers who begin logins make this server ask the issuer once in a while.
func TestManyLoginsAskTheIssuerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := &codeIssuer{}
		l := &oidc.Login{Issuer: issuerURL, ClientID: "agentd", Transport: issuer}
		for i := range 200 {
			if _, _, err := l.Begin(t.Context(), "https://a.example"); err != nil {
				t.Fatal(err)
			}
			if want := i/100 + 1; issuer.found != want {
				t.Fatalf("after %d logins the issuer was asked %d times, want %d", i+1, issuer.found, want)
			}
			if i == 99 {
				time.Sleep(time.Minute)
			}
		}
	})
}
