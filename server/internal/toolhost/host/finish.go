package host

import (
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// finish ends a call that a plugin has executed or may have executed. If the call ends several
// times, the first end takes effect. The store gets the outcome before any caller can see it, so
// that a later use of the id never gets another one.
func (c *call) finish(outcome tool.Outcome) {
	first, begun := c.entry.Conclude()
	if !first {
		return
	}
	outcome = c.shape(outcome)
	if begun {
		c.entry.End(c.ctx(), &outcome)
	}
	record := recordRecent
	switch {
	case c.kind != ToolCall, begun:
		record = recordNothing
	case !c.entry.Generated(): // only the memory of the ledger has the call
		record = recordFailure
	}
	c.publishEnd(outcome, record)
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
	c.approval.giveBack(&c.services.approvals)
	c.entry.Release()
	record := recordRecent
	// A call that is refused because another one has its id would be listed beside that one.
	if c.kind != ToolCall || outcome.Err != nil && outcome.Err.Kind == tool.KindConflict {
		record = recordNothing
	}
	if c.kind == Review {
		outcome = c.shape(outcome)
		c.events.End(outcome, func(*tool.Outcome) {})
	} else {
		c.publishEnd(c.shape(outcome), record)
	}
	c.stop()
}

// finishElsewhere ends a call that another toolhost has executed or may execute, with what callers
// are told about it there. Statistics do not count it here.
func (c *call) finishElsewhere(outcome tool.Outcome) {
	if first, _ := c.entry.Conclude(); !first {
		return
	}
	c.approval.giveBack(&c.services.approvals)
	c.entry.Release()
	c.events.End(outcome, func(*tool.Outcome) { c.uncount() })
	c.stop()
}

// finishJoined ends a call whose caller has joined another call. Statistics do not count it.
func (c *call) finishJoined() {
	if first, _ := c.entry.Conclude(); !first {
		return
	}
	c.uncount()
	c.events.Publish(tool.Event{Ended: &tool.Outcome{
		CallID: c.request.ID, Err: tool.Errorf(tool.KindCancelled, "the call joined the one that has its id"),
	}})
	c.stop()
}

// recording says what recentCalls does with a call that ends.
type recording int

const (
	recordNothing recording = iota
	recordFailure           // recentCalls.store
	recordRecent            // recentCalls.add
)

// publishEnd adds the outcome to the event log. It counts and records the outcome first, so that a
// caller that sees the outcome finds it in the statistics and in the list of calls, and has the
// place in its quotas for the next call.
// The goroutine that concluded the call's entry in the ledger calls it, so at most one does.
func (c *call) publishEnd(outcome tool.Outcome, record recording) {
	c.events.End(outcome, func(outcome *tool.Outcome) {
		c.uncount()
		switch {
		case record == recordRecent:
			c.services.records.recent.add(c.endRecord(outcome), c.services.records.history)
		case record == recordFailure && outcome.Err != nil:
			c.services.records.recent.store(c.endRecord(outcome), c.services.records.history)
		}
		c.services.records.stats.Count(c.request.Tool, identity.TenantOf(c.request.Principal), c.plugin(), outcome, outcome.Result.Duration)
		c.observed.ended(c, outcome)
		c.logEnd(outcome)
	})
}

// stop ends the context of the call, which also ends a preview. It frees the memory that an ended
// call does not need. Only the goroutine that concluded the call's entry in the ledger calls it,
// after it has published the outcome.
func (c *call) stop() {
	c.timer.Stop()
	c.uncount() // unless publishEnd did
	c.memory.end(callBytes + c.events.Size())
}

// shape returns the outcome in the form that callers get. It adds the report of toolhost's changes,
// removes effects that the tool may not have, and replaces large content by artifacts. A caller
// that joins the call later gets the same outcome, even if it asked for another size.
func (c *call) shape(outcome tool.Outcome) tool.Outcome {
	outcome.CallID = c.request.ID
	if outcome.Err == nil || outcome.Err.Kind != tool.KindOutcomeUnknown { // else the tool can be asked again
		outcome.Settled = c.entry.Settled()
	}
	c.report.AddTo(&outcome)
	if len(outcome.Result.Effects) > 0 {
		rules := result.EffectRules{
			Declared: c.tool.Spec.EffectKeys, Granted: c.tool.Effects, Read: c.settings.Policy.Reads, Tool: c.tool.DeclaredName(),
		}
		if count, key, reason := rules.Apply(&outcome); count > 0 {
			c.logger(c.services.log.calls).Warn("effects of a call were refused", "count", count, "key", key, "reason", reason)
		}
	}
	if c.kind == ToolCall && c.services.artifacts != nil {
		shaper := c.shaper()
		shaper.Shape(&outcome.Result)
	}
	if outcome.Err != nil {
		err := *outcome.Err
		err.CallID, err.Plugin, err.Instance = c.request.ID, outcome.Plugin, outcome.Instance
		err.Cost = c.report.Cost()
		outcome.Err = &err
	}
	return outcome
}

// shaper returns the result.Shaper for this call.
func (c *call) shaper() result.Shaper {
	shown := c.settings.MaxShown
	if c.request.MaxShown != nil {
		shown = max(*c.request.MaxShown, 0)
	}
	return result.Shaper{
		Store: c.services.artifacts, Owner: artifact.Owner{Principal: c.request.Principal, Session: c.request.Session},
		Shown: shown, Losses: c,
	}
}

// LostContent implements result.LossReporter.
func (c *call) LostContent(size uint64, err error) {
	c.logger(c.services.log.calls).Error("a large result was not kept: its caller gets a part of it", "bytes", size, "error", err)
}

// checkOutput checks a result against the output schema of its tool. If the result does not fit,
// the caller gets an error in its place, because code that relies on the schema would misread it.
// The error has the result as text, so that it is not lost, unless filters would see the result.
// The operator can configure a warning instead. A format of a text warns in any case, and so does
// any result of an MCP server: many of them declare a schema and send only text, which would be
// lost.
func (c *call) checkOutput(schema *catalog.Schema, outcome *tool.Outcome) {
	formats, err := result.CheckOutput(schema, outcome)
	if err == nil {
		return
	}
	keep := c.settings.KeepBadOutput || formats || c.tool.Plugin.IsServer()
	c.logger(c.services.log.calls).Warn("a result does not fit the output schema of its tool", "refused", !keep, "error", err)
	if keep {
		c.report.SetBadOutput(result.Clip(err.Error(), result.MaxReason))
		return
	}
	aftermath := "it can be called again"
	if c.tool.Spec.HasSideEffects() {
		aftermath = "its side effects have happened"
	}
	problem := "what does not fit is in toolhost's log, because filters may have to hide it"
	if !c.hasFilters() {
		problem = result.Clip(err.Error(), result.MaxReason)
		aftermath += "; it returned, without the schema's promise:\n" + result.Clip(outcome.Result.Text(), result.MaxReason)
	}
	outcome.Result.Content, outcome.Result.Effects = nil, nil
	outcome.Err = tool.Errorf(tool.KindInternal, "the tool %q broke its contract: its structured result does not fit its output schema:\n%s\n%s",
		c.request.Tool, problem, aftermath)
}
