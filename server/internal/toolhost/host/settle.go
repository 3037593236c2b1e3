package host

import (
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/settle"
	"github.com/toolhost/toolhost/tool"
)

func canSettle(s *tool.Spec) bool { return s.Settles && s.HasSideEffects() }

// settleArguments returns the final arguments that the store keeps in case the outcome becomes
// unknown; nil if the tool cannot settle the call.
func settleArguments(c *call) []byte {
	if !canSettle(&c.tool.Spec) {
		return nil
	}
	if text := c.args.current(); len(text) > 0 {
		return text
	}
	return []byte("{}")
}

// canSettle reports whether toolhost can ask the tool what became of the call, if its caller
// repeats it.
func (c *call) canSettle() bool {
	arguments := settleArguments(c)
	return arguments != nil && len(arguments) <= callstore.MaxArguments && c.services.plugins.settler.Enabled() && !c.entry.Generated()
}

// settled is the calls in memory as the settler uses them.
type settled struct{ *ledger.Ledger[*call] }

// Known implements settle.Ledger.
func (s settled) Known(key ledger.Key) (known, unknown bool) {
	e := s.Find(key)
	if e == nil {
		return false, false
	}
	outcome, _ := e.Call.events.Outcome()
	return true, outcome != nil && outcome.Err != nil && outcome.Err.Kind == tool.KindOutcomeUnknown
}

// settlingTool implements settle.Config.Tool.
func (h *Host) settlingTool(name, plugin string) (settle.Tool, bool) {
	settings, snapshot := h.generations.view(h.cfg.Catalog)
	t := snapshot.Tool(name)
	if t == nil || t.Plugin.Info.Name != plugin || !canSettle(&t.Spec) || settings.switchedOff(plugin) != nil {
		return settle.Tool{}, false
	}
	return settle.Tool{
		Tool: t, Secrets: settings.Secrets, MaxTimeout: settings.MaxTimeout, YieldTimeout: settings.YieldTimeout,
		Outcome: func(e *callstore.Entry, instance string, said tool.Settlement) tool.Outcome {
			return h.settledOutcome(toolView{t, settings}, e, instance, said)
		},
	}, true
}

// settledOutcome returns the outcome of a call that happened, as callers get it: the result passes
// the output schema, the filters and the rules like any other, and costs nothing.
func (h *Host) settledOutcome(view toolView, e *callstore.Entry, instance string, said tool.Settlement) tool.Outcome {
	c := &call{services: h.services, settings: view.settings, tool: view.tool, arrived: e.Begun}
	c.request = tool.Call{ID: e.Key.ID, Tool: e.Tool, Principal: e.Key.Principal, Session: e.Key.Session}
	c.timer.Init(h.ctx)
	c.timer.Set(c.settings.timeout(&c.request, &c.tool.Spec))
	defer c.timer.Stop()
	c.args.finish(e.Arguments, e.Arguments)
	outcome := tool.Outcome{CallID: e.Key.ID, Plugin: e.Plugin, Instance: instance}
	if said.Result == nil {
		outcome.Result = settle.LostResult(said.Reason)
	} else {
		outcome.Result = *said.Result
		outcome.Result.Duration = 0
		checkSettled(c, &outcome)
		if outcome.Err != nil && outcome.Err.Kind == tool.KindInternal {
			// The call happened, and nobody asks again: an error would be its outcome for good.
			outcome.Err, outcome.Result = nil, settle.LostResult(said.Reason)
		}
	}
	if outcome.Err == nil && c.hasFilters() {
		outcome = c.filters().after(outcome)
	}
	return c.shape(outcome)
}

// checkSettled compares the result of a call that happened with the output schema of its tool.
func checkSettled(c *call, outcome *tool.Outcome) {
	if _, err := c.schema(); err != nil {
		outcome.Err = tool.Errorf(tool.KindOutcomeUnknown, "its result could not be checked: %w", err)
		return
	}
	if schema := c.output.Load(); schema != nil {
		c.checkOutput(schema, outcome)
	}
}
