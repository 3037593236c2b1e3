package supervisor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Lease is the right of one call to use an instance, or the place of the call in the queue for one.
// A call gets a lease with Acquire, and ends it with Release.
type Lease struct {
	supervisor *Supervisor
	ref        lifecycle.CallRef
	request    Request

	answered chan struct{} // closed at the answer; nil: the answer came at once
	instance *Instance     // valid after the answer; nil: the call gets none
	err      *tool.Error   // valid after the answer: why the call gets no instance
}

// ask requests a lease. The answer may come at once or later.
func (s *Supervisor) ask(request Request) *Lease {
	session := sessionOf(request.Call, *s.isolation.Load())
	l := &Lease{supervisor: s, request: request}
	s.mu.Lock()
	if s.forgotten {
		s.mu.Unlock() // Plugins locks its own mutex first
		return s.successor().ask(request)
	}
	defer s.mu.Unlock()
	if len(s.crashes) > 0 {
		if l.err = s.crashes.refusal(&request, s.name, time.Now()); l.err != nil {
			return l
		}
	}
	s.queue.lastRef++
	l.ref, s.queue.asking = s.queue.lastRef, l
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Acquire(now, l.ref, session) })
	if s.queue.asking == l {
		s.queue.asking, l.answered, s.queue.waiting[l.ref] = nil, make(chan struct{}), l
	}
	return l
}

// sessionOf returns the session of a call for the state machine: which calls of the tenant share an
// instance with this one.
func sessionOf(call *tool.Call, isolation lifecycle.Isolation) string {
	switch isolation {
	case lifecycle.PerPrincipal:
		return call.Principal
	case lifecycle.PerSession:
		return call.Principal + "\x00" + call.Session
	default:
		return ""
	}
}

// ownerOf returns whose calls an instance serves that the state machine starts for a session.
func ownerOf(tenant, session string) Owner {
	owner := Owner{Tenant: tenant}
	owner.Principal, owner.Session, owner.OneSession = strings.Cut(session, "\x00")
	return owner
}

// successor returns the supervisor that serves the tenant after this one was forgotten.
func (s *Supervisor) successor() *Supervisor {
	s.mu.Lock()
	routed, _ := s.machine.Revision()
	p := s.succession.revisions[routed]
	s.mu.Unlock()
	return s.plugins.Of(p, s.tenant)
}

// Acquire returns a lease of an instance that lives. The caller must release the lease. The error
// is a *tool.Error or the cause of ctx.
//
// A process may have ended before the supervisor notices. So Acquire asks the operating system, and
// a call never goes to a process that ended before the call arrived.
func (s *Supervisor) Acquire(ctx context.Context, request Request) (*Lease, error) {
	for {
		l := s.ask(request)
		if err := l.await(ctx); err != nil {
			return nil, err
		}
		if l.instance.proc.Alive() {
			return l, nil
		}
		l.Release()
		select { // until the machine knows that the process has ended
		case <-l.instance.gone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// hasAnswer reports whether the lease has its answer.
func (l *Lease) hasAnswer() bool {
	if l.answered == nil {
		return true
	}
	select {
	case <-l.answered:
		return true
	default:
		return false
	}
}

// Instance returns the instance of a lease that Acquire returned.
func (l *Lease) Instance() *Instance { return l.instance }

// await waits for the answer. A call that ends meanwhile gives back the instance that it may have
// got.
func (l *Lease) await(ctx context.Context) error {
	if !l.hasAnswer() {
		select {
		case <-l.answered:
		case <-ctx.Done():
			l.giveUp()
			return context.Cause(ctx)
		}
	}
	if l.err != nil {
		return l.err
	}
	return nil
}

// giveUp takes the call out of the queue, or releases the instance that it got at the last moment.
func (l *Lease) giveUp() {
	s := l.supervisor
	s.mu.Lock()
	if _, waits := s.queue.waiting[l.ref]; waits {
		delete(s.queue.waiting, l.ref)
		s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Leave(now, l.ref) })
	}
	s.mu.Unlock()
	if l.hasAnswer() && l.instance != nil {
		l.Release()
	}
}

// queue is the calls that want an instance. The mutex of its supervisor guards it, because the
// machine decides about the same calls.
type queue struct {
	waiting map[lifecycle.CallRef]*Lease
	asking  *Lease // what Ask is requesting from the machine; nil: nothing
	lastRef lifecycle.CallRef
}

// answer answers the lease of a call. It does nothing if the call does not wait any more.
func (q *queue) answer(ref lifecycle.CallRef, in *Instance, err *tool.Error) {
	l := q.asking
	if l != nil && l.ref == ref {
		q.asking = nil
	} else if l = q.waiting[ref]; l == nil {
		return
	}
	if in != nil {
		in.addLease(l)
	}
	l.instance, l.err = in, err
	if l.answered != nil {
		delete(q.waiting, ref)
		close(l.answered)
	}
}

// Release ends a lease that has an instance.
func (l *Lease) Release() {
	l.instance.removeLease(l)
	s := l.supervisor
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.crashes) > 0 {
		s.crashes.clear(&l.request)
	}
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Release(now, l.ref) })
}

// Stuck reports that the tool has not stopped for a while after the call was canceled. The instance
// gets no other calls until the tool stops.
func (l *Lease) Stuck(reason string) {
	l.supervisor.apply(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Stuck(now, l.ref, reason) })
}

// Unyielding reports that the tool did not stop in time after the call was canceled. The instance
// ends, and its exit names the call, which has ended for its caller before that.
func (l *Lease) Unyielding(reason string) {
	s := l.supervisor
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := l.instance; len(in.unyielding) < maxExitCalls {
		in.unyielding = append(in.unyielding, exitCalls([]*Lease{l})...)
	}
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Unyielding(now, l.instance.id, reason)
	})
}

// exitCalls describes the calls that were executed when a process ended.
func exitCalls(executed []*Lease) []tool.ExitCall {
	var calls []tool.ExitCall
	for _, l := range executed[:min(len(executed), maxExitCalls)] {
		c := l.request.Call
		named := tool.ExitCall{CallID: c.ID, Tool: c.Tool, Session: c.Session, Principal: c.Principal, StartTime: l.request.State.Received()}
		if sum := l.request.State.Sum(); sum != ([sha256.Size]byte{}) {
			named.ArgumentsDigest = hex.EncodeToString(sum[:])
		}
		calls = append(calls, named)
	}
	return calls
}
