package clientlimit

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/tool"
)

// Authenticator limits the attempts of callers to authenticate. It tells the connection which
// principal uses it.
type Authenticator struct {
	Inner    gate.Authenticator // required
	Failures *listen.Failures   // required
	Logger   *slog.Logger       // required
}

// Authenticate implements gate.Authenticator. It refuses an origin with too many failures without a
// look at its credential. The error of that is a gate.LimitError, which the caller gets.
func (a *Authenticator) Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error) {
	guest := guestOf(ctx)
	origin := originOf(guest, e)
	if wait := a.Failures.Blocked(origin); wait > 0 && fallible(e) {
		return authn.Verified{}, limited("there were too many failed attempts to authenticate", wait)
	}
	caller, err := a.Inner.Authenticate(ctx, e)
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
