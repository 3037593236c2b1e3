package catalog

import (
	"context"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Load reads the folders. It may be called any number of times. When it returns, the Snapshot has
// the plugins that are known from earlier. New plugins join it one by one as they answer (see
// Settle), so that a slow one delays no other. A changed file becomes a candidate, a removed one
// leaves the Snapshot, and plugins that did not answer are asked again. Settle does not wait for
// plugins that did not answer an earlier toolhost. If a folder cannot be read, Load returns an
// error and changes nothing. A bad plugin is no error: it is in the Snapshot with the reason.
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
	records, err := c.begin(readings)
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
	c.base, c.pins, c.records = c.current.Load(), pins, records
	c.base.ordered() // now, so that it does not keep its own base
	c.slots = make([]*slot, 0, len(readings))
	for _, r := range readings {
		s := old[r.source]
		if s == nil {
			s = &slot{source: r.source, record: c.index.get(r.source)}
		}
		delete(old, r.source)
		if !r.left {
			s.apply(r, pins)
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
	owners := map[string]string{}
	for _, s := range c.slots {
		s.untrusted = c.distrustLocked(s)
		if c.cfg.Trust != nil && !c.cfg.TrustNew && c.records.Source(s.source) == nil {
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

func unreadable(source, problem string) *Plugin {
	return &Plugin{Source: source, Problem: problem, Info: tool.Description{Name: filepath.Base(source)}}
}
