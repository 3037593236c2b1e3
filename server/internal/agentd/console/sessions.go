package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/tool"
)

const (
	codeLife = time.Minute    // of a one-time code
	idleLife = time.Hour      // of a session that is not used
	maxLife  = 12 * time.Hour // of a session
	// maxCodes, maxSessions and maxPerPrincipal bound the memory. The oldest of a principal goes
	// first.
	maxCodes, maxSessions, maxPerPrincipal = 100, 10_000, 20
	// codeLetters is the length of a code. Nobody guesses one of 32^12 in a minute, so wrong ones need
	// no bound, with which a stranger could end the codes of others.
	codeLetters = 12
	// bearerPrefix begins the credential of a session. It never leaves the process.
	bearerPrefix = "console_"
)

// Authenticator identifies callers, as *authn.Authenticator does.
type Authenticator interface {
	Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error)
}

// Sessions are the logins of people at the pages. They are in memory: a restart ends them. The zero
// value is not usable. All methods are safe for concurrent use.
type Sessions struct {
	inner Authenticator

	mu    sync.Mutex
	codes map[string]login    // by the digest of the code
	open  map[string]*session // by the digest of the cookie
	byRPC map[string]*session // by the digest of the credential for RPCs
}

// login is a person who asked for a one-time code.
type login struct {
	evidence authn.Evidence
	ends     time.Time
}

// session is one login. Sessions.mu guards used.
type session struct {
	principal identity.Principal
	evidence  authn.Evidence // with which each RPC is authenticated again
	bearer    string         // names the session in RPCs
	ends      time.Time      // at the latest: with the credential
	used      time.Time
}

// NewSessions returns sessions whose people inner identifies.
func NewSessions(inner Authenticator) *Sessions {
	return &Sessions{inner: inner, codes: map[string]login{}, open: map[string]*session{}, byRPC: map[string]*session{}}
}

// Authenticate implements gate.Authenticator. An RPC of a session is authenticated with the
// evidence of its login, by the settings in force now; a session ends when that is refused. All
// others go to the authenticator inside.
func (s *Sessions) Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error) {
	if !strings.HasPrefix(e.Bearer, bearerPrefix) {
		return s.inner.Authenticate(ctx, e)
	}
	s.mu.Lock()
	of := s.byRPC[digest(e.Bearer)]
	if of != nil && of.over(time.Now()) {
		of = nil
	}
	s.mu.Unlock()
	if of == nil {
		return authn.Verified{}, errors.New("the session at the pages has ended")
	}
	v, err := s.inner.Authenticate(ctx, of.evidence)
	if err == nil && v.Principal.Key() != of.principal.Key() {
		err = fmt.Errorf("the credential of the session stands for %s now", v.Principal.Key())
	}
	if err != nil {
		if _, unchecked := errors.AsType[*authn.UncheckedError](err); !unchecked && ctx.Err() == nil {
			s.revoke(of)
		}
		return authn.Verified{}, err
	}
	v.Principal.From = "console " + of.evidence.Address
	return v, nil
}

// NewCode returns a one-time code for the user at the other end of a unix socket, and when it ends.
// Errors: denied for any other caller, because only a unix socket proves that the person is at this
// machine.
func (s *Sessions) NewCode(e authn.Evidence) (code string, ends time.Time, err error) {
	if !e.HasUID || e.Bearer != "" || e.Certificate != nil {
		return "", ends, tool.Errorf(tool.KindDenied, "a code is only for the user of a unix socket; log in at the pages with your issuer instead")
	}
	code = strings.ToLower(rand.Text()[:codeLetters]) // 32 letters and digits each
	ends = time.Now().Add(codeLife)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireCodes()
	if len(s.codes) >= maxCodes {
		return "", ends, tool.Errorf(tool.KindRateLimited, "too many codes wait to be used; try again in a minute")
	}
	s.codes[digest(code)] = login{evidence: authn.Evidence{UID: e.UID, HasUID: true}, ends: ends}
	return code[:4] + "-" + code[4:8] + "-" + code[8:], ends, nil
}

// expireCodes removes the codes that have ended. The caller has the lock.
func (s *Sessions) expireCodes() {
	now := time.Now()
	for key, of := range s.codes {
		if !now.Before(of.ends) {
			delete(s.codes, key)
		}
	}
}

// errWrongCode is the answer to a code that nobody has, which was used, or which has ended.
var errWrongCode = tool.Errorf(tool.KindDenied, "the code is wrong, was used, or is older than a minute; get another one with agentd console")

// redeem returns the evidence that a code stands for. Each code counts once.
func (s *Sessions) redeem(typed string) (authn.Evidence, error) {
	code := strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(typed))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expireCodes()
	of, ok := s.codes[digest(code)]
	if !ok {
		return authn.Evidence{}, errWrongCode
	}
	delete(s.codes, digest(code))
	return of.evidence, nil
}

// begin authenticates a person and returns the value of the cookie of a new session.
func (s *Sessions) begin(ctx context.Context, e authn.Evidence) (cookie string, err error) {
	v, err := s.inner.Authenticate(ctx, e)
	if err != nil {
		return "", err
	}
	now := time.Now()
	of := &session{principal: v.Principal, evidence: e, bearer: bearerPrefix + rand.Text() + rand.Text(), ends: now.Add(maxLife), used: now}
	if !v.Expires.IsZero() && v.Expires.Before(of.ends) {
		of.ends = v.Expires
	}
	cookie = rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(of.principal.Key(), now)
	if len(s.open) >= maxSessions {
		return "", tool.Errorf(tool.KindRateLimited, "too many people are logged in; try again later")
	}
	s.open[digest(cookie)], s.byRPC[digest(of.bearer)] = of, of
	return cookie, nil
}

// makeRoom removes sessions that are over, and the oldest of a principal that has too many. The
// caller has the lock.
func (s *Sessions) makeRoom(principal string, now time.Time) {
	own, oldest := 0, ""
	for key, of := range s.open {
		switch {
		case of.over(now):
			s.remove(key)
		case of.principal.Key() == principal:
			if own++; oldest == "" || of.used.Before(s.open[oldest].used) {
				oldest = key
			}
		}
	}
	if own >= maxPerPrincipal {
		s.remove(oldest)
	}
}

// remove ends a session. The caller has the lock.
func (s *Sessions) remove(key string) {
	if of := s.open[key]; of != nil {
		delete(s.byRPC, digest(of.bearer))
		delete(s.open, key)
	}
}

// of returns the session of a cookie, or nil, and notes that it was used.
func (s *Sessions) of(cookie string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, now := digest(cookie), time.Now()
	of := s.open[key]
	if of == nil {
		return nil
	}
	if of.over(now) {
		s.remove(key)
		return nil
	}
	of.used = now
	return of
}

// lives reports whether the session of a cookie has not ended. It is no use of the session.
func (s *Sessions) lives(cookie string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.open[digest(cookie)]
	return of != nil && !of.over(time.Now())
}

// end ends the session of a cookie.
func (s *Sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(digest(cookie))
}

// revoke ends a session whose credential is not valid any more.
func (s *Sessions) revoke(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, one := range s.open {
		if one == of {
			s.remove(key)
		}
	}
}

// over reports whether a session has ended. The caller has the lock.
func (s *session) over(now time.Time) bool {
	return !now.Before(s.ends) || now.Sub(s.used) >= idleLife
}

// digest returns the key of a secret in the maps: a lookup then tells nothing about how much of a
// secret is right.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return string(sum[:])
}
