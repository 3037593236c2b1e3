package conformance

import (
	"context"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/tool"
)

// maxReason bounds the reason of a settlement, by the contract.
const maxReason = 1 << 10

// settle asks the tools what became of calls: one that never was, and one that was executed.
func (c *conversation) settle(ctx context.Context, found []target) {
	undeclared := false
	var executed []*target
	for i := range found {
		to := &found[i]
		switch {
		case to.spec.Settles:
			c.probe(ctx, "settle.unused", func(ctx context.Context, t *trial) { c.settleUnused(ctx, t, to) })
			if to.executed != nil {
				executed = append(executed, to)
			}
		case to.again && !undeclared: // a plugin that ignores the question executes the call
			undeclared = true
			c.probe(ctx, "settle.undeclared", func(ctx context.Context, t *trial) { c.settleUndeclared(ctx, t, to) })
		}
	}
	if len(executed) > 0 {
		c.replace()
	}
	for _, to := range executed {
		c.probe(ctx, "settle.executed", func(ctx context.Context, t *trial) { c.settleExecuted(ctx, t, to) })
	}
	for _, check := range []string{"settle.answer", "settle.unused"} {
		c.x.findings.skip(check, "no tool that could be called declares settles")
	}
	c.x.findings.skip("settle.executed", "no call went well of a tool that declares settles")
	c.x.findings.skip("settle.undeclared", "no tool that may be called again declares no settles")
}

// replace kills the process. The next probe starts another: toolhost asks a process that has not
// executed the call, so what only the memory of a process has does not count.
func (c *conversation) replace() {
	if c.t == nil {
		return
	}
	c.t.end()
	c.harvest(c.t)
	c.t = nil
}

func (c *conversation) settleUnused(ctx context.Context, t *trial, to *target) {
	const check = "settle.unused"
	verdict, ok := c.ask(ctx, t, to, c.x.call(to.spec.Name, to.arguments[0]))
	if !ok {
		return
	}
	if verdict == pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_HAPPENED {
		c.x.findings.fail(check, to.spec.Name, "asked about a call id that was never used, it says that the call happened")
	}
	c.x.findings.pass(check, "")
}

func (c *conversation) settleExecuted(ctx context.Context, t *trial, to *target) {
	const check = "settle.executed"
	start := c.x.call(to.spec.Name, to.executed.GetArguments())
	start.CallId, start.EffectKey = to.executed.GetCallId(), to.executed.GetEffectKey()
	verdict, ok := c.ask(ctx, t, to, start)
	if !ok {
		return
	}
	if verdict == pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_DID_NOT_HAPPEN {
		c.x.findings.fail(check, to.spec.Name, "asked in another process about a call that ended with a result, it says that the call did not happen: toolhost would execute it twice")
	}
	c.x.findings.pass(check, "")
}

// ask asks a tool what became of a call. It returns ok only if the answer is of use.
func (c *conversation) ask(ctx context.Context, t *trial, to *target, start *pluginv1.StartCall) (verdict pluginv1.SettlementVerdict, ok bool) {
	const check = "settle.answer"
	start.Settle = true
	one, err := t.stream.begin(start)
	if err != nil || !c.ends(ctx, t, one, check) {
		return 0, false
	}
	got := one.settlement()
	switch kind := one.kind(); {
	case got == nil && (to.guessed || kind == tool.KindUnavailable || kind == tool.KindDenied || kind == tool.KindRateLimited):
		c.x.findings.pass(check, "")
		return 0, false
	case got == nil:
		c.x.findings.fail(check, to.spec.Name, "asked what became of a call, it ended with %s", one.outcome())
		return 0, false
	case got.GetCallId() != start.GetCallId():
		c.x.findings.fail(check, to.spec.Name, "asked about the call %s, it answered for the call %s", quote(start.GetCallId()), quote(got.GetCallId()))
		return 0, false
	}
	if _, known := pluginv1.SettlementVerdict_name[int32(got.GetVerdict())]; !known {
		c.x.findings.fail(check, to.spec.Name, "the verdict %d is not known", got.GetVerdict())
	}
	if len(got.GetReason()) > maxReason {
		c.x.findings.fail(check, to.spec.Name, "the reason has %d bytes, more than %d", len(got.GetReason()), maxReason)
	}
	c.x.findings.pass(check, "")
	c.judgeStructure(one, to)
	return got.GetVerdict(), true
}

func (c *conversation) settleUndeclared(ctx context.Context, t *trial, to *target) {
	const check = "settle.undeclared"
	start := c.x.call(to.spec.Name, to.arguments[0])
	start.Settle = true
	one, err := t.stream.begin(start)
	if err != nil || !c.ends(ctx, t, one, check) {
		return
	}
	if one.kind() != tool.KindUnsupported {
		c.x.findings.fail(check, to.spec.Name, "asked what became of a call although it declares no settles, it ended with %s", one.outcome())
	}
	c.x.findings.pass(check, "")
}

// settlement returns the settlement with which the call ended, or nil.
func (c *call) settlement() *pluginv1.Settlement {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end.GetSettlement()
}
