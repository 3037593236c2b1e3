package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/tool"
)

const (
	attemptLife = 10 * time.Minute // from the page of the login to the answer of the issuer
	// maxWanted bounds the path that a login leads to, because a cookie has at most 4 KiB.
	maxWanted = 1 << 10
)

// attempts are the logins at the issuer that have begun. Each is in the cookie of its browser,
// encrypted with a key of this process. So strangers, who may begin any number of them, fill no
// memory and push out no login of others.
type attempts struct{ key cipher.AEAD }

// attempt is one of them.
type attempt struct {
	Secret []byte
	To     string // the page that the person wanted
	Ends   time.Time
}

func newAttempts() attempts {
	block, err := aes.NewCipher([]byte(rand.Text() + rand.Text())[:32])
	if err != nil {
		panic(err) // the key has the right length
	}
	key, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the right block size
	}
	return attempts{key}
}

// seal returns the value of the cookie of a new attempt.
func (a attempts) seal(secret []byte, to string) string {
	text, _ := json.Marshal(attempt{secret, to, time.Now().Add(attemptLife)}) // it has no value that JSON does not have
	return base64.RawURLEncoding.EncodeToString(a.key.Seal(nil, nil, text, nil))
}

// open returns the attempt of a cookie, unless it has ended.
func (a attempts) open(cookie string) (of attempt, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return of, false
	}
	text, err := a.key.Open(nil, nil, sealed, nil)
	ok = err == nil && json.Unmarshal(text, &of) == nil && time.Now().Before(of.Ends)
	return of, ok
}

// callback is the address to which the issuer sends the browser.
func (s *Server) callback() string { return s.config.URL.String() + "/login/callback" }

// wanted returns the page of these pages that a link asks for after the login, or that of the
// inbox.
func wanted(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") ||
		strings.HasPrefix(to, "/log") {
		return "/"
	}
	if to = u.EscapedPath(); len(to) > maxWanted {
		return "/"
	}
	return to
}

func (s *Server) showLogin(v *visit) error {
	return s.render(v, http.StatusOK, "login", map[string]any{"To": wanted(v.r.FormValue("to")), "Issuer": s.config.Login != nil, "Title": "Log in"})
}

// loginByCode redeems a one-time code.
func (s *Server) loginByCode(v *visit) error {
	to := wanted(v.r.PostFormValue("to"))
	evidence, err := s.config.Sessions.redeem(v.r.PostFormValue("code"))
	if err != nil {
		return s.render(v, http.StatusForbidden, "login", map[string]any{"To": to, "Issuer": s.config.Login != nil, "Title": "Log in", "Problem": tool.AsError(err).Message})
	}
	return s.enter(v, evidence, to)
}

// enter begins a session. A session that the browser had before ends: whoever may have set its
// cookie does not share the new one.
func (s *Server) enter(v *visit, evidence authn.Evidence, to string) error {
	evidence.Address = s.address(v.r)
	cookie, err := s.config.Sessions.begin(v.ctx, evidence)
	if err != nil {
		s.config.Logger.Warn("a login at the pages failed", "peer", evidence.Address, "error", err)
		if e := tool.AsError(err); e.Kind == tool.KindRateLimited {
			return err
		}
		return tool.Errorf(tool.KindDenied, "the server does not accept this login; its log says why")
	}
	s.config.Sessions.end(v.cookie)
	s.setCookie(v, s.cookieName(), cookie)
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

func (s *Server) attemptCookie() string {
	return strings.Replace(s.cookieName(), "session", "login", 1)
}

// beginLogin sends the browser to the issuer.
func (s *Server) beginLogin(v *visit) error {
	if s.config.Login == nil {
		return tool.Errorf(tool.KindNotFound, "these pages have no login at an issuer; use agentd console")
	}
	to, secret, err := s.config.Login.Begin(v.ctx, s.callback())
	if err != nil {
		s.config.Logger.Warn("a login at the issuer cannot begin", "error", err)
		return tool.Errorf(tool.KindUnavailable, "the issuer cannot be reached; try again later")
	}
	s.setCookie(v, s.attemptCookie(), s.attempts.seal(secret, wanted(v.r.FormValue("to"))))
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// finishLogin takes the answer of the issuer. Only the browser that began the login has its cookie.
func (s *Server) finishLogin(v *visit) error {
	c, err := v.r.Cookie(s.attemptCookie())
	if err != nil || s.config.Login == nil {
		return tool.Errorf(tool.KindDenied, "this browser has not begun the login; begin again")
	}
	s.setCookie(v, s.attemptCookie(), "")
	of, ok := s.attempts.open(c.Value)
	if !ok {
		return tool.Errorf(tool.KindDenied, "the login took too long; begin again")
	}
	idToken, err := s.config.Login.Finish(v.ctx, s.callback(), of.Secret, v.r.URL.Query())
	if err != nil {
		s.config.Logger.Warn("a login at the issuer failed", "peer", s.address(v.r), "error", err)
		return tool.Errorf(tool.KindDenied, "the login failed; the server's log says why")
	}
	return s.enter(v, authn.Evidence{Bearer: idToken, Accepts: []string{authn.JWT}}, of.To)
}

func (s *Server) logout(v *visit) error {
	s.config.Sessions.end(v.cookie)
	s.setCookie(v, s.cookieName(), "")
	http.Redirect(v.w, v.r, "/login", http.StatusSeeOther)
	return nil
}
