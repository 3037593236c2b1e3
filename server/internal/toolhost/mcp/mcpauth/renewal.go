package mcpauth

import (
	"context"
	"errors"
)

// renewal is a request for a token that several requests wait for.
type renewal struct {
	done chan struct{}
	err  error // valid after done is closed
}

// renew joins or begins the renewal of a login. The caller holds e.mu. It returns nil after Close.
func (l *Logins) renew(e *entry, s Server, who account) *renewal {
	if e.renewal != nil {
		return e.renewal
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	r, before := &renewal{done: make(chan struct{})}, e.login
	e.renewal = r
	l.tasks.Go(func() { // ends with its request, which is bounded
		ctx, cancel := context.WithTimeout(l.ctx, requestTime)
		defer cancel()
		var next *login
		if s.OAuth.Grant == GrantClient {
			next, r.err = l.grantClient(ctx, s, who, e)
		} else {
			next, r.err = l.refresh(ctx, s, who, before)
		}
		if l.renewed(e, who, before, next, r, s.OAuth.Grant != GrantClient) {
			_ = l.revoke(ctx, s, who, next)
		}
	})
	return r
}

// renewed puts the result of a renewal in place, and stores it if stored is set. If a person has
// logged in or out meanwhile, it reports that next has to be revoked.
func (l *Logins) renewed(e *entry, who account, before, next *login, r *renewal, stored bool) (unused bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer close(r.done)
	e.renewal = nil
	if e.login != before {
		r.err = nil // the request looks at the present login
		return next != nil
	}
	_, over := errors.AsType[*LoginError](r.err)
	var err error
	switch {
	case next != nil:
		if e.login, e.failed = next, nil; stored {
			err = l.store.save(next)
		}
	case over:
		e.login = nil
		err = l.store.remove(who)
	default:
		e.failed, e.tried = r.err, l.cfg.Now()
	}
	if err != nil {
		l.cfg.Logger.Error("the renewed login could not be stored; it is lost when toolhost stops", "plugin", who.plugin, "principal", who.principal, "error", err)
	}
	return false
}
