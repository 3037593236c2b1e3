package catalog

// ask asks all new digests for their descriptions, in the background.
func (c *Catalog) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.slots {
		if s.awaits() {
			p, e := s.file, s.expectation(c.pins, c.recordedName(s))
			c.asker.start(p.Digest, func() { c.askOne(p, e) }) // ends when the catalog is closed, or at DescribeTimeout
		}
	}
}

func (c *Catalog) askOne(p *Plugin, e expectation) {
	answer := c.asker.ask(p, e)
	c.mu.Lock()
	c.answeredLocked(p.Digest, answer)
	last := c.asker.finish(p.Digest)
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
	c.asker.settle()
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

// retryFailed asks the plugins that did not answer an earlier process, once in this process: after
// all others have answered, one after the other, and without a caller that waits. So a plugin that
// hangs delays only the first toolhost that asks it.
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
