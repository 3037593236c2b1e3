package catalog

import "time"

// slowAnswer is how long a plugin may take to describe itself before a process that ends meanwhile
// records a failure. Without it, toolhosts that live for a single run would never record a plugin
// that hangs.
const slowAnswer = 2 * time.Second

// noteFailure records that a digest did not describe itself, unless it had too little time.
func (c *Catalog) noteFailure(p *Plugin, err error, took time.Duration) {
	reason := err.Error()
	if c.tasks.ctx.Err() != nil {
		reason = "it was still being asked what it is when toolhost ended"
	}
	if c.tasks.ctx.Err() == nil || took >= slowAnswer {
		c.remember(p, func(known *about) { known.Unanswered = reason })
	}
}

// retryFailed asks the plugins that did not answer an earlier process, once in this process: after
// all others have answered, one after the other, and without a caller that waits. So a plugin that
// hangs delays only the first toolhost that asks it.
func (c *Catalog) retryFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retrying {
		return
	}
	c.retrying = true
	c.tasks.spawn(func() { // ends with the catalog's context: DescribeTimeout bounds each question
		if c.Settle(c.tasks.ctx) != nil {
			return
		}
		for {
			p, e := c.nextFailed()
			if p == nil || c.tasks.ctx.Err() != nil {
				return
			}
			answer := c.question(p, e)
			c.mu.Lock()
			c.answeredLocked(p.Digest, answer)
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
			return s.file, s.expectation(c.pins, c.recordedName(s))
		}
	}
	return nil, expectation{}
}
