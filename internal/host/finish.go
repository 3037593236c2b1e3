package host

import (
	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/internal/host/result"
	"github.com/toolhost/toolhost/tool"
)

// finish ends a call that a plugin has, or may have, executed. Only the first end of a call counts.
// The store gets the outcome before any caller can see it, so that a later use of the id never gets
// another one.
func (c *call) finish(outcome tool.Outcome) {
	first, begun := c.entry.Conclude()
	if !first {
		return
	}
	outcome = c.shape(outcome)
	if begun {
		c.entry.End(c.ctx(), &outcome)
	}
	c.publish(outcome)
	c.entry.Settle(c.size(), c.tool.Spec.HasSideEffects())
	c.stop()
}

// finishUnexecuted ends a call that no plugin executed. Its id can be used again as soon as a
// caller can see the outcome.
func (c *call) finishUnexecuted(outcome tool.Outcome) {
	first, begun := c.entry.Conclude()
	if !first {
		return
	}
	if begun {
		c.entry.Forget(c.ctx())
	}
	c.approval.giveBack(c.host.frozen)
	c.entry.Release()
	c.publish(c.shape(outcome))
	c.stop()
}

// finishJoined ends a call whose caller follows another call from now on. Statistics do not count
// it.
func (c *call) finishJoined() {
	if first, _ := c.entry.Conclude(); !first {
		return
	}
	c.events.Publish(tool.Event{Ended: &tool.Outcome{
		CallID: c.request.ID, Err: tool.Errorf(tool.KindCancelled, "the call joined the one that has its id"),
	}})
	c.stop()
}

// publish adds the outcome to the event log. A caller that sees the outcome finds it counted.
func (c *call) publish(outcome tool.Outcome) {
	c.events.End(outcome, func() {
		c.host.stats.count(c.request.Tool, c.plugin(), &outcome, outcome.Result.Duration)
	})
}

// stop ends the context of the call, which also ends a preview, and frees what the call needs no
// longer.
func (c *call) stop() {
	c.timer.Stop()
	c.memory.end(callBytes + c.events.Size())
}

// shape returns the outcome as callers get it: with the report of what toolhost did, without
// effects that the tool may not have, and with artifacts in place of large content. A caller that
// joins the call later gets the same outcome, even if it asked for another size.
func (c *call) shape(outcome tool.Outcome) tool.Outcome {
	outcome.CallID = c.request.ID
	c.report.AddTo(&outcome)
	if len(outcome.Result.Effects) > 0 {
		rules := result.EffectRules{
			Declared: c.tool.Spec.EffectKeys, Granted: c.tool.Effects, Read: c.host.cfg.Policy.Reads, Tool: c.tool.DeclaredName(),
		}
		if count, key, reason := rules.Apply(&outcome); count > 0 {
			c.host.cfg.Logger.Warn("effects of a call were refused", "tool", c.request.Tool, "plugin", c.plugin(), "call_id", c.request.ID,
				"count", count, "key", key, "reason", reason)
		}
	}
	if !c.internal && c.host.cfg.Artifacts != nil {
		shaper := c.shaper()
		shaper.Shape(&outcome.Result)
	}
	if outcome.Err != nil {
		e := *outcome.Err
		e.CallID, e.Plugin, e.Instance = c.request.ID, outcome.Plugin, outcome.Instance
		e.Cost = c.report.Cost()
		outcome.Err = &e
	}
	return outcome
}

// shaper returns what shapes the result of the call.
func (c *call) shaper() result.Shaper {
	shown := c.host.cfg.MaxShown
	if c.request.MaxShown != nil {
		shown = max(*c.request.MaxShown, 0)
	}
	return result.Shaper{
		Store: c.host.cfg.Artifacts, Owner: artifact.Owner{Principal: c.request.Principal, Session: c.request.Session},
		Shown: shown, Logger: c.host.cfg.Logger, Call: &c.request,
	}
}
