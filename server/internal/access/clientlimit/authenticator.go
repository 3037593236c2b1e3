package clientlimit

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/tool"
)

// Authenticator limits the attempts of callers to authenticate. It tells the connection which
// principal uses it. It is safe for concurrent use, and must not be copied.
type Authenticator struct {
	Inner    gate.Authenticator // required
	Failures *listen.Failures   // required
	Logger   *slog.Logger       // required

	proven proven
}

// Authenticate implements gate.Authenticator. It refuses an origin with too many failures without a
// look at its credential, unless the credential was valid before: others behind the same proxy do
// not lock out its owner. The error of that is a gate.LimitError, which the caller gets.
func (a *Authenticator) Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error) {
	guest := peercred.GuestOf(ctx)
	origin := originOf(guest, e)
	if wait := a.Failures.Blocked(origin); wait > 0 && fallible(e) && !a.proven.has(e.Bearer) {
		return authn.Verified{}, limited("there were too many failed attempts to authenticate", wait)
	}
	caller, err := a.Inner.Authenticate(ctx, e)
	if unchecked, ok := errors.AsType[*authn.UncheckedError](err); ok {
		return caller, a.unchecked(origin, unchecked)
	}
	if err == nil || ctx.Err() == nil { // otherwise the error says nothing about the credential
		a.proven.set(e.Bearer, err == nil)
	}
	if err != nil {
		if a.Failures.Add(origin) {
			a.Logger.Warn("a client is blocked for a minute, because of its failed attempts to authenticate", "origin", origin, "error", err)
			err = fmt.Errorf("%w; further attempts get no line until the minute ends", err)
		}
		return caller, err
	}
	if guest != nil && !guest.Admit(caller.Principal.Key()) {
		return authn.Verified{}, limited("the caller has too many connections", time.Second)
	}
	return caller, nil
}

// unchecked returns the error for a credential that could not be checked. No attempt failed, so it
// blocks neither the origin nor the credential. But an origin gets as many lines in the log for it
// as for failures.
func (a *Authenticator) unchecked(origin string, e *authn.UncheckedError) error {
	origin = "unchecked " + origin // no origin of failures begins with it
	if a.Failures.Blocked(origin) > 0 {
		return &gate.LimitError{Err: gate.Unchecked(e)}
	}
	a.Failures.Add(origin)
	return e
}

func limited(reason string, wait time.Duration) error {
	e := tool.Errorf(tool.KindRateLimited, "%s; try again later", reason)
	e.RetryAfter = wait
	return &gate.LimitError{Err: e}
}

// fallible reports whether the evidence has a credential that can be tried out, or none at all. The
// kernel and TLS have verified the others.
func fallible(e authn.Evidence) bool {
	return e.Bearer != "" || !e.HasUID && e.Certificate == nil && !e.Plain
}

// originOf returns where the failures of a caller count.
func originOf(guest *listen.Conn, e authn.Evidence) string {
	switch {
	case guest != nil:
		return guest.Origin()
	case e.HasUID:
		return "user " + strconv.Itoa(e.UID)
	}
	return listen.OriginOf(e.Address)
}

// mostProven bounds the credentials that are remembered. Then one is forgotten for each new one.
const mostProven = 8192

// proven remembers which bearer credentials were valid when they were last shown. It keeps no
// credential, but a hash under a key of this process: whoever finds another text with the same hash
// only has it checked. The zero value is empty.
type proven struct {
	mu     sync.RWMutex
	seed   maphash.Seed
	hashes map[uint64]struct{} // nil: none yet, and no seed
}

func (p *proven) has(bearer string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if bearer == "" || p.hashes == nil {
		return false
	}
	_, is := p.hashes[maphash.String(p.seed, bearer)]
	return is
}

// set records whether a credential was valid.
func (p *proven) set(bearer string, valid bool) {
	if bearer == "" || p.has(bearer) == valid {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hashes == nil {
		p.seed, p.hashes = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	hash := maphash.String(p.seed, bearer)
	if !valid {
		delete(p.hashes, hash)
		return
	}
	if len(p.hashes) >= mostProven {
		for other := range p.hashes {
			delete(p.hashes, other)
			break
		}
	}
	p.hashes[hash] = struct{}{}
}
