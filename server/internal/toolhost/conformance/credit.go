package conformance

import (
	"context"
	"encoding/json"
	"time"
)

const (
	sip      = 16 << 10             // the credit that a starved call gets at a time
	sipEvery = 2 * time.Millisecond // the interval at which the use of the credit is checked
	thirst   = 100                  // the number of such checks before the test gives up
)

// starve calls a tool with very little credit, and grants more bit by bit.
func (c *conversation) starve(ctx context.Context, t *trial, name string, text json.RawMessage) {
	const check = "flow.credit"
	start := c.x.call(name, text)
	start.Credit = 1
	one, err := t.stream.begin(start)
	if err != nil {
		return
	}
	for began := time.Now(); !one.wait(ctx, sipEvery) && time.Since(began) < c.x.cfg.Timeout; {
		if t.stream.problem() != nil || one.isShort() && t.stream.grant(one, sip) != nil {
			return
		}
	}
	if !one.over() && t.stream.grant(one, plenty) == nil && !c.ends(ctx, t, one, check) {
		return
	}
	one.mu.Lock()
	heard := one.heard
	one.mu.Unlock()
	if heard < 3 {
		c.x.findings.skip(check, "the tool that is called sends too little to need credit")
		return
	}
	c.x.findings.pass(check, "")
}

// cancelWaiting cancels a call that waits for credit.
func (c *conversation) cancelWaiting(ctx context.Context, t *trial, name string, text json.RawMessage) {
	const check = "flow.waiting"
	start := c.x.call(name, text)
	start.Credit, start.Timeout = 1, nil // only the cancel ends it
	one, err := t.stream.begin(start)
	if err != nil {
		return
	}
	for range thirst {
		if one.wait(ctx, sipEvery) || one.isShort() {
			break
		}
	}
	if !t.barrier(ctx, one) {
		c.x.findings.skip(check, "the tool that is called sends too little to need credit")
		return
	}
	if one.cancel() == nil && c.ends(ctx, t, one, check) {
		c.x.findings.pass(check, "")
	}
}
