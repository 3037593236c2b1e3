package catalog

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// ask asks all new digests for their descriptions, in the background.
func (c *Catalog) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks.closed() {
		return
	}
	for _, s := range c.slots {
		if _, asked := c.asking[digestOf(s.file)]; asked || !s.awaits() {
			continue
		}
		if isClosed(c.settled) {
			c.settled = make(chan struct{})
		}
		c.asking[s.file.Digest] = struct{}{}
		p, e := s.file, s.expectation(c.pins, c.recordedName(s))
		c.tasks.spawn(func() { c.askOne(p, e) }) // ends with the catalog's context, or at DescribeTimeout
	}
}

func (c *Catalog) askOne(p *Plugin, e expectation) {
	var answer answer
	select {
	case c.asks <- struct{}{}:
		answer = c.question(p, e)
		<-c.asks
	case <-c.tasks.ctx.Done():
		answer.problem = context.Cause(c.tasks.ctx).Error()
	}
	c.mu.Lock()
	c.answeredLocked(p.Digest, answer)
	delete(c.asking, p.Digest)
	last := len(c.asking) == 0
	c.mu.Unlock()
	c.recordTrust()
	if !last {
		return
	}
	// Once for all questions. If the process is killed before, the next one restores it from the
	// stored descriptions.
	if err := c.index.save(); err != nil {
		c.cfg.Logger.Warn("what is known of plugins is not kept", "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asking) == 0 && !isClosed(c.settled) {
		close(c.settled)
	}
}

func (c *Catalog) question(p *Plugin, e expectation) answer {
	question := *p
	question.Info.Name = c.expectedName(p, e)
	return c.describe(c.tasks.ctx, &question)
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// answer is the description of a digest, or why there is none.
type answer struct {
	description tool.Description
	refused     refusedSchemas
	problem     string
}

// describe asks a plugin for its description, and stores the answer.
func (c *Catalog) describe(ctx context.Context, p *Plugin) answer {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.DescribeTimeout)
	defer cancel()
	d, err := c.cfg.Describe(ctx, p)
	if err != nil {
		c.cfg.Logger.Warn("plugin left out", "source", p.Source, "digest", p.Digest, "reason", err)
		c.noteFailure(p, err, time.Since(began))
		return answer{problem: err.Error()}
	}
	a := answer{description: d, refused: checkSchemas(d.Tools)}
	c.remember(p, func(known *about) {
		known.Unanswered, known.Description, known.SchemaCheck, known.Refused = "", &d, schemaCheck, a.refused
	})
	return a
}

// remember changes what is known of a digest.
func (c *Catalog) remember(p *Plugin, change func(known *about)) {
	known, _ := c.store.about(p.Digest)
	change(&known)
	if err := c.store.remember(p.Digest, known); err != nil {
		c.cfg.Logger.Warn("what a plugin answered is not kept; it will be asked again at the next start", "source", p.Source, "error", err)
	}
}

// answeredLocked passes the answer of a digest to all its slots.
func (c *Catalog) answeredLocked(digest string, a answer) {
	for _, s := range c.slots {
		if digestOf(s.file) != digest || s.file.usable() {
			continue
		}
		if a.problem != "" {
			s.file = s.file.withProblem(a.problem)
			s.file.unanswered, s.file.remembered = true, false
			continue
		}
		s.file = s.file.described(a.description, a.refused)
		s.refused = refusal(c.pins, s.file, s.current)
	}
	c.settleSlotsLocked()
}

func digestOf(p *Plugin) string {
	if p == nil {
		return ""
	}
	return p.Digest
}

// sweep removes digests from the store that nothing needs any more. Retention counts from the first
// sweep that finds a digest unused. A digest that was not in service since toolhost started has no
// instances and is removed at once.
func (c *Catalog) sweep() {
	needed := c.index.digests()
	now := time.Now()
	c.mu.Lock()
	for digest := range c.asking {
		needed[digest] = true
	}
	for digest := range needed {
		delete(c.retired, digest)
	}
	for digest := range c.served {
		if !needed[digest] && c.retired[digest].IsZero() {
			c.retired[digest] = now
		}
	}
	next := c.cfg.Retention
	for digest, since := range c.retired {
		if left := c.cfg.Retention - now.Sub(since); left > 0 {
			needed[digest] = true
			next = min(next, left)
			continue
		}
		delete(c.retired, digest)
		delete(c.served, digest)
	}
	if len(c.retired) > 0 {
		c.sweepLater(next)
	}
	c.mu.Unlock()
	if err := c.store.sweep(func(digest string) bool { return needed[digest] }); err != nil {
		c.cfg.Logger.Warn("old copies of plugins are not removed", "error", err)
	}
}

// sweepLater schedules a sweep, unless one is scheduled. The caller holds c.mu.
func (c *Catalog) sweepLater(after time.Duration) {
	if c.sweeping {
		return
	}
	c.sweeping = true
	timer := time.AfterFunc(after, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tasks.spawn(c.sweepAgain)
	})
	context.AfterFunc(c.tasks.ctx, func() { timer.Stop() })
}

// sweepAgain sweeps when no load copies into the store. It ends with c.tasks.ctx.
func (c *Catalog) sweepAgain() {
	_, release, err := c.sources.acquire(c.tasks.ctx)
	if err != nil {
		return
	}
	defer release()
	c.mu.Lock()
	c.sweeping = false
	c.mu.Unlock()
	c.sweep()
}
