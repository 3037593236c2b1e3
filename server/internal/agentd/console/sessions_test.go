package console

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/tool"
)

func newPeople() *people {
	return &people{tokens: map[string]authn.Verified{}, revoked: map[int]bool{}}
}

// A code is for the user of a unix socket, works once, and for a minute.
func TestCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSessions(newPeople())
		for name, e := range map[string]authn.Evidence{
			"a stranger": {}, "a token": {UID: 7, HasUID: true, Bearer: "x"}, "a certificate": {UID: 7, HasUID: true, Certificate: &x509.Certificate{}}, "a port": {Plain: true},
		} {
			if _, _, err := s.NewCode(e); tool.KindOf(err) != tool.KindDenied {
				t.Errorf("%s: %v", name, err)
			}
		}
		code, ends, err := s.NewCode(authn.Evidence{UID: 7, HasUID: true, Address: "other"})
		if err != nil || time.Until(ends) != codeLife {
			t.Fatal(ends, err)
		}
		if e, err := s.redeem(" " + strings.ToUpper(code) + " "); err != nil || e.UID != 7 || e.Address != "" {
			t.Errorf("got %+v, %v", e, err)
		}
		if _, err := s.redeem(code); err == nil {
			t.Error("a code works twice")
		}
		late, _, _ := s.NewCode(authn.Evidence{UID: 7, HasUID: true})
		time.Sleep(codeLife)
		if _, err := s.redeem(late); err == nil {
			t.Error("a code works after its end")
		}
		guessed, _, _ := s.NewCode(authn.Evidence{UID: 7, HasUID: true})
		if letters := strings.ReplaceAll(guessed, "-", ""); len(letters) < 12 {
			t.Errorf("%q has fewer than 60 bits", guessed)
		}
		for range 1000 {
			if _, err := s.redeem("aaaa-aaaa-aaaa"); err == nil {
				t.Fatal("guessed")
			}
		}
		if _, err := s.redeem(guessed); err != nil {
			t.Errorf("a stranger's wrong codes end the code of another person: %v", err)
		}
		for range maxCodes {
			if _, _, err := s.NewCode(authn.Evidence{UID: 7, HasUID: true}); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.NewCode(authn.Evidence{UID: 7, HasUID: true}); tool.KindOf(err) != tool.KindRateLimited {
			t.Errorf("too many codes: %v", err)
		}
	})
}

// A session ends with idleness, with its age, and with the credential; and each RPC of it is
// authenticated again.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeople()
		s := NewSessions(p)
		begin := func(e authn.Evidence) string {
			cookie, err := s.begin(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			return cookie
		}
		user := authn.Evidence{UID: 7, HasUID: true}
		idle := begin(user)
		time.Sleep(idleLife)
		if s.of(idle) != nil {
			t.Error("an idle session stays")
		}
		busy := begin(user)
		for range int(maxLife/idleLife)*2 - 1 {
			time.Sleep(idleLife / 2)
			if s.of(busy) == nil {
				t.Fatal("a session that is used ends early")
			}
		}
		time.Sleep(idleLife / 2)
		if s.of(busy) != nil {
			t.Error("a session lives for more than half a day")
		}
		p.tokens["jwt"] = authn.Verified{Principal: identity.Principal{Tenant: "red", Name: "ada"}, Expires: time.Now().Add(5 * time.Minute)}
		p.tokens["lasting"] = authn.Verified{Principal: identity.Principal{Tenant: "red", Name: "ada"}}
		short := begin(authn.Evidence{Bearer: "jwt"})
		bearer := s.of(short).bearer
		if v, err := s.Authenticate(t.Context(), authn.Evidence{Bearer: bearer}); err != nil || v.Principal.Key() != "red/ada" || !strings.HasPrefix(v.Principal.From, "console ") {
			t.Errorf("got %+v, %v", v, err)
		}
		time.Sleep(5 * time.Minute)
		if s.of(short) != nil {
			t.Error("a session outlives its credential")
		}
		other, without := begin(authn.Evidence{Bearer: "lasting"}), begin(authn.Evidence{Bearer: "lasting"})
		refused := func(cookie, why string) {
			t.Helper()
			of := s.of(cookie)
			if _, err := s.Authenticate(t.Context(), authn.Evidence{Bearer: of.bearer}); err == nil || s.of(cookie) != nil {
				t.Errorf("a session %s: %v", why, err)
			}
		}
		unchecked := errors.New("no keys")
		p.fails = &authn.UncheckedError{Missing: "the keys", Err: unchecked}
		if _, err := s.Authenticate(t.Context(), authn.Evidence{Bearer: s.of(other).bearer}); !errors.Is(err, unchecked) || s.of(other) == nil {
			t.Errorf("a credential that cannot be checked: %v", err)
		}
		p.fails = nil
		p.tokens["lasting"] = authn.Verified{Principal: identity.Principal{Tenant: "blue", Name: "ada"}}
		refused(other, "goes on as another principal")
		delete(p.tokens, "lasting")
		refused(without, "goes on without its credential")
		if _, err := s.Authenticate(t.Context(), authn.Evidence{Bearer: bearerPrefix + "guessed"}); err == nil {
			t.Error("a guessed credential works")
		}
	})
}

// A principal has some sessions, and the one that was not used for longest makes room.
func TestAPrincipalHasSomeSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSessions(newPeople())
		var cookies []string
		for range maxPerPrincipal + 1 {
			cookie, err := s.begin(t.Context(), authn.Evidence{UID: 7, HasUID: true})
			if err != nil {
				t.Fatal(err)
			}
			cookies = append(cookies, cookie)
			time.Sleep(time.Second)
		}
		if s.of(cookies[0]) != nil || s.of(cookies[1]) == nil || len(s.byRPC) != maxPerPrincipal {
			t.Error("the wrong session made room")
		}
	})
}

// After a login, the browser has another session than before, and is where the person wanted to go,
// if that is a page of this site.
func TestALoginLeads(t *testing.T) {
	for to, want := range map[string]string{
		"/decisions/run-1/d1": "/decisions/run-1/d1", "": "/", "//evil.example": "/", "https://evil.example/": "/", "/\\evil.example": "/", "javascript:alert(1)": "/",
		"/logout": "/", "/%2fevil.example": "/%2fevil.example", "/a\r\nSet-Cookie: x=y": "/", "evil.example": "/",
	} {
		s := newSite(t)
		s.cookies["session"] = "planted"
		code, _, err := s.sessions.NewCode(authn.Evidence{UID: 7, HasUID: true})
		if err != nil {
			t.Fatal(err)
		}
		resp := s.send(http.MethodPost, "/login", url.Values{"code": {code}, "to": {to}})
		if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%q leads to %s %q, want %q", to, resp.Status, got, want)
		}
		if s.cookies["session"] == "planted" {
			t.Error("the session has the id that somebody planted")
		}
		for _, c := range resp.Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Errorf("the cookie is %v", c)
			}
		}
	}
}

func TestTheAddressOfABrowser(t *testing.T) {
	s := newSite(t)
	for name, test := range map[string]struct {
		proxies, forwarded, want string
	}{
		"no proxy":             {"", "203.0.113.9", "192.0.2.7"},
		"a proxy":              {"192.0.2.0/24", "203.0.113.9", "203.0.113.9"},
		"two proxies":          {"192.0.2.0/24", "198.51.100.1, 203.0.113.9, 192.0.2.8", "203.0.113.9"},
		"a false first hop":    {"192.0.2.0/24", "10.0.0.1, 203.0.113.9", "203.0.113.9"},
		"nonsense":             {"192.0.2.0/24", "evil", "192.0.2.7"},
		"a proxy says nothing": {"192.0.2.0/24", "", "192.0.2.7"},
	} {
		s.pages.config.Proxies = nil
		if test.proxies != "" {
			s.pages.config.Proxies = append(s.pages.config.Proxies, mustPrefix(t, test.proxies))
		}
		r, err := http.NewRequest(http.MethodGet, origin, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = "192.0.2.7:1"
		r.Header.Set("X-Forwarded-For", test.forwarded)
		if got := s.pages.address(r); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// issuer is a login that remembers the secrets it was given back.
type issuer struct{ secrets []string }

func (i *issuer) Begin(context.Context, string) (string, []byte, error) {
	return "https://login.example/", []byte(rand.Text()), nil
}

func (i *issuer) Finish(_ context.Context, _ string, secret []byte, _ url.Values) (string, error) {
	i.secrets = append(i.secrets, string(secret))
	return "jwt", nil
}

// The logins that strangers begin push out no other, and only the browser that began one ends it.
func TestLoginsAtTheIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, at := newSite(t), &issuer{}
		s.pages.config.Login = at
		s.people.tokens["jwt"] = authn.Verified{Principal: identity.Principal{Tenant: "red", Name: "ada"}}
		s.send(http.MethodGet, "/login/issuer?to=/runs/r", nil)
		own := s.cookies["login"]
		for range 2000 {
			clear(s.cookies)
			s.send(http.MethodGet, "/login/issuer?to=/"+strings.Repeat("a", 5000), nil)
		}
		if last := s.cookies["login"]; len(last) > 4000 || last == own {
			t.Errorf("the cookie of a login has %d bytes", len(last))
		}
		s.cookies["login"] = own
		if resp := s.send(http.MethodGet, "/login/callback?code=c", nil); resp.Header.Get("Location") != "/runs/r" || len(at.secrets) != 1 || len(at.secrets[0]) != 26 {
			t.Errorf("the login leads to %s %q, by %q", resp.Status, resp.Header.Get("Location"), at.secrets)
		}
		for _, wrong := range []string{"", "AAAA", own[:len(own)-2] + "zz", newAttempts().seal([]byte("x"), "/")} {
			s.cookies["login"] = wrong
			if resp := s.send(http.MethodGet, "/login/callback?code=c", nil); resp.StatusCode != http.StatusForbidden {
				t.Errorf("the cookie %q leads to %s", wrong, resp.Status)
			}
		}
		time.Sleep(attemptLife)
		s.cookies["login"] = own
		if resp := s.send(http.MethodGet, "/login/callback?code=c", nil); resp.StatusCode != http.StatusForbidden || len(at.secrets) != 1 {
			t.Errorf("an old login leads to %s", resp.Status)
		}
	})
}
