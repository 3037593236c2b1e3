package host

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxReplacement bounds the final arguments of a plugin that has previewed other text: they
	// travel in one message, of at most 4 MiB.
	maxReplacement = 4<<20 - 4<<10
	// maxShownArguments bounds the final arguments in an answer that asks for an approval: they
	// travel in one message.
	maxShownArguments = 1 << 20
)

// task is the remaining work on a call whose arguments are complete. The zero task does nothing.
type task struct {
	call      *call
	submitted submission
	previewed bool // another goroutine executes the call
	// unsettled says that an earlier execution under the id has an unknown outcome: execution claims
	// the id for the call when the tool was asked.
	unsettled bool
	elsewhere *callstore.Entry // the call as another toolhost executes it; nil: none does
	execution *execution
}

// do prepares and executes the call. Unless the call is previewed, it has ended when do returns.
func (t task) do() {
	if t.call == nil {
		return
	}
	if t.unsettled {
		t.call.services.plugins.settler.Settle(t.call.ctx(), t.call.entry.Key())
		t.execution.claimAgain(t.call, t.submitted).do()
		return
	}
	if t.elsewhere != nil {
		if t.call.awaitElsewhere(t.elsewhere) {
			t.execution.claimAgain(t.call, t.submitted).do()
		}
		return
	}
	ready := t.call.prepare(t.submitted)
	t.call.memory.hold.Give(t.submitted.work)
	switch {
	case !ready:
	case t.previewed:
		t.call.args.signal()
	default:
		t.call.execute()
	}
}

// accept sets the deadline of a call that has claimed its id. It returns the remaining work, which
// is nothing if the call has already ended.
func (c *call) accept(s submission) task {
	if c.entry.Finished() { // a preview has failed
		return task{}
	}
	c.setDeadline()
	return task{call: c, submitted: s, previewed: c.args.previews()}
}

// preparation turns the complete arguments of a call into final arguments that the plugin may
// execute. Filters, repairs and the schema make the final arguments. The policy, an approval and
// the rate limit decide on them. After freeze, the arguments do not change: the tool executes
// exactly the arguments on which the rules decided and which the person saw.
type preparation struct {
	call      *call
	submitted submission
	text      []byte           // the final arguments as the plugin gets them
	final     arguments.Parsed // the same
}

// prepare prepares a call, and reports whether a plugin may execute it. Otherwise the call has its
// outcome.
func (c *call) prepare(s submission) bool {
	if _, err := c.secrets(); err != nil {
		c.finishUnexecuted(tool.Outcome{Err: err})
		return false
	}
	p := preparation{call: c, submitted: s, text: s.text, final: s.parsed}
	if !p.freeze() {
		return false
	}
	p.recordArguments()
	refused := p.authorize()
	if refused == nil && c.kind != Review {
		refused = c.checkRate(false)
	}
	if refused != nil {
		c.finishUnexecuted(tool.Outcome{Err: refused})
		return false
	}
	c.args.finish(p.text, s.text)
	return true
}

// freeze makes the final arguments and checks them against the schema. If a person approved
// arguments that are still in the cache, it takes those; otherwise filters and repairs make them.
// If no arguments fit the schema, freeze ends the call with a result for the model, and returns
// false.
func (p *preparation) freeze() bool {
	c, taken := p.call, p.takeFrozen()
	if taken != nil {
		p.text, p.final = taken.Final.Canonical(), taken.Final
	} else if c.hasFilters() {
		var ok bool
		if p.text, p.final, ok = c.filters().before(p.submitted); !ok {
			return false
		}
	}
	// not every JSON reader accepts this
	if len(p.text) > 0 && p.text[0] <= ' ' && len(bytes.TrimSpace(p.text)) == 0 {
		p.text = p.final.Canonical()
	}
	schema, err := c.schema()
	if err != nil {
		c.finishUnexecuted(tool.Outcome{Err: c.unsent(err)})
		return false
	}
	p.submitted.kept = c.request.Approval != nil && bytes.Equal(p.final.Canonical(), p.submitted.parsed.Canonical())
	if !schema.Settled(p.final) { // most arguments are settled, so that nothing below is necessary
		if taken == nil && !c.tool.Spec.Strict {
			p.repair(schema)
		}
		if err := p.validate(schema); err != nil {
			c.finishUnexecuted(tool.Outcome{Result: tool.ErrorResult(err.Error())})
			return false
		}
	}
	if leaked := schema.Leaked(p.final); len(leaked) > 0 {
		c.report.SetLeaked(leaked)
	}
	if canonical := p.final.Canonical(); c.request.Approval != nil && !p.tooLargeToReplace(canonical) {
		p.text = canonical // exactly the bytes of the digest
	}
	return true
}

// repair repairs arguments that do not fit the schema, and records each repair for the result. It
// changes nothing if the repaired arguments could not be sent to the plugin, or the repairs could
// not be reported.
func (p *preparation) repair(schema *catalog.Schema) {
	repaired, repairs := schema.Repair(p.final)
	if len(repairs) == 0 || p.tooLargeToReplace(repaired.Canonical()) || p.call.report.SetRepairs(repairs) != nil {
		return
	}
	p.final, p.text = repaired, repaired.Canonical()
	replaces := func(r arguments.Repair) bool { return len(r.From) > 0 || len(r.To) == 0 }
	p.submitted.kept = p.submitted.kept && !slices.ContainsFunc(repairs, replaces)
}

// tooLargeToReplace reports whether the text cannot replace what the plugin has previewed.
func (p *preparation) tooLargeToReplace(text []byte) bool {
	return p.call.tool.Spec.PartialArguments && len(text) > maxReplacement
}

// validate returns why the final arguments do not fit the schema, or nil.
func (p *preparation) validate(schema *catalog.Schema) error {
	if err := schema.Validate(p.final); err != nil {
		return err
	}
	return p.checkUndeclared(schema.Undeclared(p.final))
}

// checkUndeclared reports arguments that the tool does not declare in the result. If the operator
// configured it, it refuses the call instead.
func (p *preparation) checkUndeclared(all []arguments.Undeclared) error {
	if len(all) == 0 {
		return nil
	}
	if p.call.settings.RefuseMisspelled {
		return arguments.Refusal(all)
	}
	return p.call.report.SetUndeclared(all)
}

// authorize returns an error if the final arguments must not be executed, or nil. It writes the
// decision to the audit log.
func (p *preparation) authorize() *tool.Error {
	c := p.call
	d, ended := c.settings.authorizer.decide(c.ctx(), &c.request, c.tool, p.submitted, p.final, !p.tooLargeToReplace(p.final.Canonical()))
	if ended != nil {
		return c.unsent(ended)
	}
	if c.kind == Review && d.refused == nil {
		return nil // what is executed later is decided and recorded then
	}
	if d.standing != nil {
		p.stand(d)
	}
	if d.refused != nil && d.refused.Kind == tool.KindApprovalRequired {
		p.storeFrozen(d.refused)
		if p.holds() {
			return p.hold(d)
		}
	}
	return p.record(d)
}

// record reports a decision, writes it to the audit log, and then moves the session, if a person
// has approved that. It returns an error if the call must not be executed.
func (p *preparation) record(d decision) *tool.Error {
	c := p.call
	c.observed.decided(&d.entry)
	if c.services.approvals.audited && rateLimits(c) != (throttle.Limits{}) {
		c.approval.setDecision(d.entry) // for checkRate
	}
	if refused := c.decided(d.entry, d.refused); refused != nil {
		return refused
	}
	return c.settings.authorizer.moveHome(c.ctx(), d.move, &c.request)
}

// schema returns the schema of the arguments, as the session of the call sees the tool. It returns
// an error if the call ends first.
func (c *call) schema() (*catalog.Schema, error) {
	if !c.tool.Spec.Dynamic {
		c.output.Store(c.tool.Output)
		return c.tool.Schema, context.Cause(c.ctx())
	}
	viewer := tool.Viewer{Principal: c.request.Principal, Session: c.request.Session, Context: c.request.Context}
	seen := c.services.plugins.tools.seenBy(c.ctx(), viewer, []*catalog.Tool{c.tool})
	c.output.Store(seen[0].Output)
	return seen[0].Schema, context.Cause(c.ctx())
}

// takeFrozen takes the final arguments that the approval names by their digest from the cache; nil
// if there are none.
func (p *preparation) takeFrozen() *frozen.Arguments {
	c := p.call
	taken := c.approval.frozen() // prepare may run twice
	if taken != nil || c.request.Approval == nil || c.request.Approval.ArgumentsSHA256 == "" {
		return taken
	}
	key, ok := p.frozenKey(c.request.Approval.ArgumentsSHA256)
	if !ok {
		return nil
	}
	if taken = c.services.approvals.frozen.Take(key); taken == nil {
		return nil
	}
	c.approval.setFrozen(taken, key)
	c.report.RestoreArgumentChanges(taken.Repairs, taken.Filters)
	return taken
}

// storeFrozen stores the final arguments in the cache for the approved repeat of the call, and adds
// them to the answer that asks for the approval.
func (p *preparation) storeFrozen(asked *tool.Error) {
	c := p.call
	digest := frozen.Digest(p.final)
	asked.ArgumentsSHA256 = digest
	if c.settings.authorizer.standing != nil {
		asked.DefinitionSHA256 = c.tool.DefinitionDigest()
	}
	if canonical := p.final.Canonical(); len(canonical) <= maxShownArguments {
		asked.Arguments = json.RawMessage(canonical)
	} else {
		asked.Message += "; the final arguments are too large to be shown, so that no person can approve them: put large data " +
			"into a file of the workspace and pass its path"
	}
	if c.approval.frozen() != nil { // finishUnexecuted gives them back
		return
	}
	if key, ok := p.frozenKey(digest); ok {
		repairs, filters := c.report.ArgumentChanges()
		c.services.approvals.frozen.Store(key, frozen.Arguments{Final: p.final, Repairs: repairs, Filters: filters})
	}
}

// frozenKey returns the key of final arguments with a digest; false if the digest is invalid.
func (p *preparation) frozenKey(digest string) (key frozen.Key, ok bool) {
	c := p.call
	if key.Final, ok = frozen.ParseDigest(digest); !ok {
		return key, false
	}
	key.Principal, key.Session, key.Revision = c.request.Principal, c.request.Session, c.tool.Plugin.Digest
	key.Submitted = ledger.SumOf(c.request.Tool, p.submitted.parsed)
	if c.hasFilters() {
		key.Filters = c.filters().digest()
	}
	return key, true
}
