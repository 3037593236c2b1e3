package host

import (
	"slices"

	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/internal/host/result"
	"github.com/toolhost/toolhost/tool"
)

// finish ends a call that a plugin has, or may have, executed. Only the first end of a call counts. The
// store gets the outcome before any caller can see it, so that a later use of the id never gets another
// one.
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

// finishUnexecuted ends a call that no plugin executed. Its id can be used again as soon as a caller can
// see the outcome.
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

// finishJoined ends a call whose caller follows another call from now on. Statistics do not count it.
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

// stop ends the context of the call, which also ends a preview, and frees what the call needs no longer.
func (c *call) stop() {
	c.timer.Stop()
	c.memory.end(callBytes + c.events.Size())
}

// shape returns the outcome as callers get it: with the report of what toolhost did, without effects that
// the tool may not have, and with artifacts in place of large content. A caller that joins the call later
// gets the same outcome, even if it asked for another size.
func (c *call) shape(outcome tool.Outcome) tool.Outcome {
	outcome.CallID = c.request.ID
	c.report.AddTo(&outcome)
	c.refuseEffects(&outcome)
	if !c.internal {
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

// checkOutput checks a result against the output schema of its tool. A caller does not get a result that
// does not fit, because code that relies on the schema would misread it, unless the operator wants only
// a warning.
func (c *call) checkOutput(outcome *tool.Outcome) {
	err := result.CheckOutput(c.output.Load(), outcome)
	if err == nil {
		return
	}
	c.host.cfg.Logger.Warn("a result does not fit the output schema of its tool", "tool", c.request.Tool,
		"plugin", c.plugin(), "call_id", c.request.ID, "refused", !c.host.cfg.KeepBadOutput, "error", err)
	if c.host.cfg.KeepBadOutput {
		c.report.SetBadOutput(result.Clip(err.Error(), result.MaxReason))
		return
	}
	aftermath := "it can be called again"
	if c.tool.Spec.HasSideEffects() {
		aftermath = "its side effects have happened"
	}
	outcome.Result.Content, outcome.Result.Effects = nil, nil
	outcome.Err = tool.Errorf(tool.KindInternal, "the tool %q broke its contract: its structured result does not fit its output schema:\n%s\n%s",
		c.request.Tool, result.Clip(err.Error(), result.MaxReason), aftermath)
}

// refuseEffects removes the effects that the tool may not have from an outcome. Rules of the policy may
// trust the context of the run, and effects change the context. So a tool changes only keys that it
// declares, and a key that a rule reads only with the operator's permission, whatever filters made of
// the result.
func (c *call) refuseEffects(outcome *tool.Outcome) {
	if len(outcome.Result.Effects) == 0 {
		return
	}
	count, key, reason := result.RefuseEffects(outcome, c.effectRefusal)
	if count > 0 {
		c.host.cfg.Logger.Warn("effects of a call were refused", "tool", c.request.Tool, "plugin", c.plugin(), "call_id", c.request.ID,
			"count", count, "key", key, "reason", reason)
	}
}

// effectRefusal returns why the tool may not change a key of the run's context; empty if it may.
func (c *call) effectRefusal(key string) string {
	switch {
	case slices.Contains([]string{"tenant", "user", "session", "run", "turn"}, key):
		return "the key says for whom or where the run works, and no effect changes it"
	case !slices.Contains(c.tool.Spec.EffectKeys, key):
		return "the tool does not declare the key in effect_keys"
	case c.host.cfg.Policy.Reads(key) && !slices.Contains(c.tool.Effects, key):
		return "a rule of the policy reads the key; the operator can allow it with tools." + c.tool.DeclaredName() + ".effects in toolhost.yaml"
	}
	return ""
}
