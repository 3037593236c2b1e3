package conformance

import (
	"context"
	"encoding/json"
	"time"
)

const (
	sip      = 16 << 10             // how much a call gets at a time that is kept short of credit
	sipEvery = 2 * time.Millisecond // how often is looked whether it has used that up
	thirst   = 100                  // how often is looked whether a call has used up what it had
)

// starve calls a tool with hardly any credit, and gives more bit by bit.
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
		c.x.skip(check, "the tool that is called sends too little to need credit")
		return
	}
	c.x.pass(check, "")
}

// cancelWaiting cancels a call that waits for credit.
func (c *conversation) cancelWaiting(ctx context.Context, t *trial, name string, text json.RawMessage) {
	const check = "flow.waiting"
	start := c.x.call(name, text)
	start.Credit, start.Timeout = 1, nil // so that nothing but the cancel ends it
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
		c.x.skip(check, "the tool that is called sends too little to need credit")
		return
	}
	if one.cancel() == nil && c.ends(ctx, t, one, check) {
		c.x.pass(check, "")
	}
}
