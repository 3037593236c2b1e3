package catalog

import "time"

// slowAnswer is how long a plugin may take to say what it is before that is held against it should toolhost end meanwhile:
// one that lives for a single run must remember, too, what hangs.
const slowAnswer = 2 * time.Second

// noteFailure remembers that a digest did not say what it is, if that is not for want of time.
func (c *Catalog) noteFailure(p *Plugin, err error, took time.Duration) {
	reason := err.Error()
	if c.ctx.Err() != nil {
		reason = "it was still being asked what it is when toolhost ended"
	}
	if c.ctx.Err() == nil || took >= slowAnswer {
		c.remember(p, func(known *about) { known.Unanswered = reason })
	}
}

// retryFailed asks, once in this life, those that did not answer an earlier one: when all others have answered, one after
// the other, and nobody waits for them. A plugin that hangs when it is asked costs its first toolhost some seconds, and no
// later one.
func (c *Catalog) retryFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retrying {
		return
	}
	c.retrying = true
	c.spawn(func() { // ends with the catalogue's context: each question is bounded by DescribeTimeout
		if c.Settle(c.ctx) != nil {
			return
		}
		for {
			p, e := c.nextFailed()
			if p == nil || c.ctx.Err() != nil {
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

// nextFailed returns one that did not answer an earlier life and was not asked in this one; nil if there is none.
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
