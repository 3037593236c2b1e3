package agent

import (
	"context"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	fair "github.com/toolhost/toolhost/server/internal/fairness/turns"
)

// pacer slows down the requests to a model whose provider says that they are too many.
//
// The problem: a thousand runs that repeat refused requests by themselves keep the provider at its
// limit, and a run gives up after some attempts, whichever has the least luck. The idea: after a
// refusal, no request of this process goes to the model for the pause that the provider asks for.
// Then a few go at a time, half as many as before, and one more after each answer. The others wait
// in a queue in which tenants take turns. So a refused request costs its run time and nothing else.
// A model that refuses nothing has no queue.
//
// The zero value slows down nothing. It is safe for concurrent use.
type pacer struct {
	mu     sync.Mutex
	models map[string]*paced // by name; those with requests
}

// paced is the requests to one model.
type paced struct {
	active  int
	limit   int       // of active; 0: none
	until   time.Time // no request goes before
	misses  int       // refusals since the last answer
	waiting fair.Queue
	timer   *time.Timer // admits at until; nil: none is set
}

// enter waits until a request may go to a model, and returns true. If ctx ends first, it returns
// false. It does not wait unless waits is set: a request that another model can get goes at once.
// After true, the caller must call leave once.
func (p *pacer) enter(ctx context.Context, name, tenant string, waits bool) bool {
	p.mu.Lock()
	if p.models == nil {
		p.models = map[string]*paced{}
	}
	m := p.models[name]
	if m == nil {
		m = &paced{}
		p.models[name] = m
	}
	if !waits || m.limit == 0 {
		m.active++
		p.mu.Unlock()
		return true
	}
	turn := m.waiting.Add(tenant)
	p.admitLocked(m)
	p.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !m.waiting.Remove(tenant, turn) { // it had its turn in the same moment
		m.active--
	}
	p.settleLocked(name, m)
	return false
}

// leave reports how a request has ended. The refusals of requests that were under way together
// count once.
func (p *pacer) leave(name string, failure *model.Error, retry Retry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.models[name]
	m.active--
	now := time.Now()
	switch {
	case failure == nil && m.limit > 0:
		m.limit, m.misses = m.limit+1, 0
	case failure != nil && failure.RateLimited():
		if !now.Before(m.until) {
			m.misses++
			m.limit = max(1, (m.active+1)/2)
			m.until = now.Add(retry.pause(m.misses, failure.RetryAfter))
		} else if asked := now.Add(min(failure.RetryAfter, maxRetryAfter)); asked.After(m.until) {
			m.until = asked
		}
	}
	p.settleLocked(name, m)
}

// settleLocked admits requests, and forgets a model without any that has refused none for a while.
func (p *pacer) settleLocked(name string, m *paced) {
	p.admitLocked(m)
	if m.active == 0 && m.waiting.Empty() && !time.Now().Before(m.until) {
		delete(p.models, name)
	}
}

// admitLocked lets requests go that may.
func (p *pacer) admitLocked(m *paced) {
	if m.waiting.Empty() {
		return
	}
	if wait := time.Until(m.until); wait > 0 {
		if m.timer == nil {
			// What it runs does not block. It sets itself again until the queue is empty.
			m.timer = time.AfterFunc(wait, func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				m.timer = nil
				p.admitLocked(m)
			})
		}
		return
	}
	for !m.waiting.Empty() && m.active < m.limit {
		m.waiting.Pop()
		m.active++
	}
}

// asksNoModel notes that nothing is lost if a task that asks a model ends now, as it does in a run
// that is given up.
func (r *run) asksNoModel(t *task) {
	if t.asking.Store(false); r.agent.work.drains() {
		r.wake() // it may be given up now
	}
}

// ask makes one attempt of a request of a task, when the model may get it. The error is that of
// stream.
func (r *run) ask(t *task, at *route, request model.Request, see func(model.Chunk)) (*model.Response, error) {
	m, pace := at.current(), &r.agent.pace
	name := m.Model.Name()
	r.asksNoModel(t)
	if !pace.enter(t.ctx, name, TenantOf(r.id), at.last()) {
		return nil, context.Cause(t.ctx)
	}
	failure := &model.Error{} // a panic of the model says nothing about its limits
	t.asking.Store(true)
	defer func() {
		pace.leave(name, failure, at.retry)
		if failure != nil { // an answer is still on its way to the journal
			r.asksNoModel(t)
		}
	}()
	resp, err := stream(t.ctx, m.Model, r.config.ModelIdle, request, see)
	if failure = nil; err != nil {
		failure = modelError(err)
	}
	return resp, err
}
