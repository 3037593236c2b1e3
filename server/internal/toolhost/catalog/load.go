package catalog

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// Load reads the folders. It may be called any number of times.
//
// When Load returns, the Snapshot has the plugins whose descriptions are known already. A new
// plugin joins the Snapshot when it has answered, so a slow plugin delays no other. Settle waits
// for these answers. A changed file becomes a candidate. A plugin whose file is gone leaves the
// Snapshot.
//
// A later Load asks those plugins again that did not answer an earlier Load. The first Load does
// not ask plugins that did not answer an earlier toolhost process: retryFailed asks them, and
// Settle does not wait for them.
//
// If a folder cannot be read, Load returns an error and changes nothing. If a plugin is bad, Load
// returns no error: the Snapshot has the plugin with the reason.
func (c *Catalog) Load(ctx context.Context) error {
	return c.load(ctx, loadOptions{again: true})
}

// loadOptions are the differences between kinds of loads.
type loadOptions struct {
	again bool            // ask plugins that did not answer again
	leave map[string]bool // sources that are being written: they keep their known state
}

func (c *Catalog) load(ctx context.Context, o loadOptions) error {
	ctx, release, err := c.sources.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	var pins manifest.Lock
	if c.cfg.Locked {
		if pins, err = manifest.ReadLock(c.cfg.LockFile, c.cfg.CheckLock); err != nil {
			return err
		}
	}
	found, err := c.sources.scanAll(ctx)
	if err != nil {
		return err
	}
	old := c.slotsBySource()
	readings, err := c.sources.readAll(ctx, found, old, pins, o)
	if err != nil {
		return err
	}
	records, err := c.trust.begin(readings)
	if err != nil {
		return err
	}
	c.index.forgetGone(found)
	c.merge(readings, pins, records, o)
	c.recordTrust()
	err = c.index.save()
	c.sweeper.sweep()
	c.ask()
	c.retryFailed()
	return err
}

// seen is a copy of the parts of a slot that load needs.
type seen struct {
	record        record
	file, current *Plugin
}

func (c *Catalog) slotsBySource() map[string]seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	slots := make(map[string]seen, len(c.slots))
	for _, s := range c.slots {
		slots[s.source] = seen{record: s.record, file: s.file, current: s.current}
	}
	return slots
}

// merge makes the new slots and the new snapshot from the readings.
func (c *Catalog) merge(readings []reading, pins manifest.Lock, records *trust.Plugins, o loadOptions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := map[string]*slot{}
	for _, s := range c.slots {
		old[s.source] = s
	}
	c.base, c.pins, c.trust.records = c.current.Load(), pins, records
	c.base.ordered() // now, so that it does not keep its own base
	c.slots = make([]*slot, 0, len(readings))
	for _, r := range readings {
		s := old[r.source]
		if s == nil {
			s = &slot{source: r.source, record: c.index.get(r.source)}
			if c.loaded || s.record == (record{}) {
				c.cfg.Logger.Info("plugin discovered", "source", r.source, "digest", digestOf(r.file))
			}
		}
		delete(old, r.source)
		s.real = r.real
		if !r.left {
			s.apply(r, pins)
		}
		if c.trust.outdated(s) {
			s.file = s.file.toAsk()
		}
		if s.file != nil && s.file.unanswered && c.loaded && (o.again || s.file.remembered) {
			s.file = s.file.toAsk()
		}
		c.slots = append(c.slots, s)
	}
	for source, s := range old {
		if o.leave[source] {
			c.slots = append(c.slots, s)
			continue
		}
		c.index.remove(source)
	}
	c.loaded = true
	c.settleSlotsLocked()
}

// settleSlotsLocked decides about all slots, records the decisions and publishes the snapshot.
func (c *Catalog) settleSlotsLocked() {
	c.settled, c.unsettled = time.Now(), false
	owners := map[string]string{}
	for _, s := range c.slots {
		s.untrusted = c.trust.distrust(s)
		if c.trust.unknown(s) {
			s.current = nil // no revision of it was ever trusted, or the trust was revoked
		}
		if s.current != nil && owners[s.current.Info.Name] == "" {
			owners[s.current.Info.Name] = s.source
		}
	}
	taken := func(name, source string) bool { return owners[name] != "" && owners[name] != source }
	for _, s := range c.slots {
		s.decide(c.pins, taken)
		s.told = s.refusal()
		c.index.put(s.source, s.record)
		for _, p := range []*Plugin{s.current, s.candidate()} {
			if p != nil {
				c.sweeper.serve(p.Digest)
			}
		}
	}
	c.publishLocked()
}

// ask asks all new digests for their descriptions, in the background.
func (c *Catalog) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.slots {
		if s.awaits() {
			p, e := s.file, s.expectation(c.pins, c.trust.recordedName(s))
			c.asker.start(p.Digest, func() { c.askOne(p, e) }) // ends when the catalog is closed, or at DescribeTimeout
		}
	}
}

func (c *Catalog) askOne(p *Plugin, e expectation) {
	answer := c.asker.ask(p, e)
	c.mu.Lock()
	last := c.asker.finish(p.Digest)
	if !c.tasks.closed() {
		c.answeredLocked(p.Digest, answer)
		if last {
			c.settleSlotsLocked()
		} else {
			c.settleSoonLocked()
		}
	}
	c.mu.Unlock()
	if !last {
		return
	}
	// Save once for all questions, because each of both files has a part for every plugin. If the
	// process is killed before that, the next process makes the records from the stored descriptions.
	c.recordTrust()
	if err := c.index.save(); err != nil {
		c.cfg.Logger.Warn("what is known of plugins is not kept", "error", err)
	}
	c.asker.settle()
}

// answeredLocked passes the answer of a digest to all its slots. The caller settles them.
func (c *Catalog) answeredLocked(digest string, a answer) {
	for _, s := range c.slots {
		if digestOf(s.file) != digest || s.file.usable() {
			continue
		}
		if a.problem != "" {
			s.file = s.file.withProblem(a.problem)
			s.file.unanswered, s.file.remembered, s.file.Fault = true, false, a.fault
			continue
		}
		s.file = s.file.described(a.description, a.refused)
		s.refused = refusal(c.pins, s.file, s.current)
	}
}

// settlePause is the least time between two snapshots while many plugins answer. A snapshot takes
// time for every plugin that there is, also in those who follow the catalog.
const settlePause = 100 * time.Millisecond

// settleSoonLocked decides about all slots, at once or within settlePause. The last answer does not
// wait.
func (c *Catalog) settleSoonLocked() {
	wait := settlePause - time.Since(c.settled)
	switch {
	case c.unsettled:
	case wait <= 0:
		c.settleSlotsLocked()
	default:
		c.unsettled = true
		time.AfterFunc(wait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.unsettled && !c.tasks.closed() {
				c.settleSlotsLocked()
			}
		})
	}
}

// retryFailed asks the plugins that did not answer an earlier process, once in this process. It
// begins after all others have answered, asks one after the other, and no caller waits for it. So a
// plugin that hangs delays only the first toolhost that asks it.
func (c *Catalog) retryFailed() {
	if !c.asker.firstRetry() {
		return
	}
	c.tasks.spawn(func() { // ends when the catalog is closed: DescribeTimeout bounds each question
		if c.Settle(c.tasks.ctx) != nil {
			return
		}
		for {
			p, e := c.nextFailed()
			if p == nil || c.tasks.ctx.Err() != nil {
				return
			}
			answer := c.asker.question(p, e)
			c.mu.Lock()
			c.answeredLocked(p.Digest, answer)
			c.settleSlotsLocked()
			c.mu.Unlock()
			c.recordTrust()
			if err := c.index.save(); err != nil {
				c.cfg.Logger.Warn("what is known of plugins is not kept", "error", err)
			}
		}
	})
}

// nextFailed returns a plugin that did not answer an earlier process and was not asked in this one;
// nil if there is none.
func (c *Catalog) nextFailed() (*Plugin, expectation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.slots {
		if s.file != nil && s.file.remembered && s.refused == "" && s.untrusted == "" {
			return s.file, s.expectation(c.pins, c.trust.recordedName(s))
		}
	}
	return nil, expectation{}
}
