package host

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// applies reports whether the host asks the filter for calls of a tool. An invalid pattern matches
// every tool: one request too many is safer than one too few.
func (f *Filter) applies(name string, tags []string) bool {
	if len(f.Tools)+len(f.Tags) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Tools, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return matched || err != nil
	}) || slices.ContainsFunc(f.Tags, func(tag string) bool { return slices.Contains(tags, tag) })
}

// filterChain is the filters of one call, in their order. Before the tool executes, each filter can
// change the arguments, deny the call, or answer in place of the tool. After the tool has answered,
// each filter can replace the result. After the call the host asks the last filter first, so that
// the first filter is the outermost one in both directions. The filters of the configuration come
// first, so that the operator's see what callers send and get. Those that the tool's own plugin
// applies are closest to the tool; see ownFilter.
type filterChain struct {
	call    *call
	filters []*Filter
}

// filters returns the filters of the call. A call that asks a filter has none.
func (c *call) filters() filterChain {
	chain := filterChain{call: c}
	if c.kind == FilterCall {
		return chain
	}
	for i := range c.settings.Filters {
		if f := &c.settings.Filters[i]; f.applies(c.request.Tool, c.tool.Spec.Tags) && !chain.appliesItself(f) {
			chain.filters = append(chain.filters, f)
		}
	}
	for _, spec := range c.tool.Filters {
		chain.filters = append(chain.filters, ownFilter(c.tool, spec))
	}
	return chain
}

// declared returns a filter as its plugin declares it, or nil if no plugin has it now.
func (x filterChain) declared(f *Filter) *catalog.Filter {
	if f.own != nil {
		return f.own
	}
	return x.call.services.plugins.catalog.Snapshot().Filter(f.Name)
}

// mustSeeArguments reports whether a filter may have to see the arguments before the plugin does.
func (x filterChain) mustSeeArguments() bool {
	return slices.ContainsFunc(x.filters, func(f *Filter) bool {
		declared := x.declared(f)
		return declared == nil || declared.Spec.Before
	})
}

// digest returns a digest of the filters and of the plugins that currently provide them. An
// approved repeat of a call skips the filters only if the digest is the same as when the arguments
// were shown. So it passes the filters again if a reload has added or changed one.
func (x filterChain) digest() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, f := range x.filters {
		plugin, digest := "", ""
		if declared := x.declared(f); declared != nil {
			plugin, digest = declared.Plugin.Info.Name, declared.Plugin.Digest
		}
		fmt.Fprintf(h, "%q %q %q %v\n", f.Name, plugin, digest, f.own != nil)
	}
	h.Sum(sum[:0])
	return sum
}

// before asks the filters before the tool executes. It returns the arguments after all changes. ok
// is false if a filter has ended the call.
func (x filterChain) before(s submission) (text []byte, parsed arguments.Parsed, ok bool) {
	text, parsed = s.text, s.parsed
	for i, f := range x.filters {
		if x.isFirstOwn(i) && x.willBeDenied() {
			break
		}
		reply, err := x.ask(f, filterjson.Before, parsed.Canonical(), nil)
		switch {
		case err != nil:
			err.Message += "; nothing was executed"
			x.call.finishUnexecuted(tool.Outcome{Err: err})
			return nil, parsed, false
		case reply.answer.Deny != nil:
			x.call.finishUnexecuted(tool.Outcome{Err: x.denied(f, *reply.answer.Deny, parsed.Canonical())})
			return nil, parsed, false
		case reply.answer.Answer != nil:
			outer := filterChain{call: x.call, filters: x.filters[:i]}
			outer.answered(f, parsed.Canonical(), *reply.answer.Answer)
			return nil, parsed, false
		case reply.arguments != nil && !bytes.Equal(reply.arguments.Canonical(), parsed.Canonical()):
			text, parsed = reply.arguments.Canonical(), *reply.arguments
			x.call.report.AddChange(f.Name)
		}
	}
	return text, parsed, true
}

// denied returns the failure of a call that a filter denies, and writes it to the audit log.
func (x filterChain) denied(f *Filter, reason string, given json.RawMessage) *tool.Error {
	c := x.call
	reason = result.Clip(cmp.Or(reason, "it did not say why"), result.MaxReason)
	err := tool.Errorf(tool.KindDenied, "the call of %q is not allowed: %s (filter %q)", c.request.Tool, reason, f.Name)
	err.Rule = f.Name
	return c.decided(audit.Decision{
		Principal: c.request.Principal, Via: c.request.Via, From: c.request.From, Session: c.request.Session, CallID: c.request.ID, Tool: c.request.Tool, Plugin: c.plugin(),
		Outcome: audit.Denied, Rule: f.Name, Reason: reason, Arguments: given,
	}, err)
}

// answered ends the call with the result that a filter gave in place of the tool. The filters
// before that one in the order are then asked about the result as if it came from the tool.
func (x filterChain) answered(by *Filter, arguments json.RawMessage, answer tool.Result) {
	x.call.report.SetAnsweredBy(by.Name)
	answer.Duration = 0 // the tool did not run
	filtered, err := x.afterResult(arguments, answer)
	if err != nil {
		err.Message += "; nothing was executed"
		x.call.finishUnexecuted(tool.Outcome{Err: err})
		return
	}
	x.call.finish(tool.Outcome{Result: filtered}) // a repeat must get the same answer
}

// after asks the filters about the outcome of the tool, and returns the outcome of the call.
func (x filterChain) after(outcome tool.Outcome) tool.Outcome {
	if x.call.entry.Finished() { // at its deadline
		return outcome
	}
	text := x.call.args.current()
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	filtered, err := x.afterResult(text, outcome.Result)
	if err != nil {
		return tool.Outcome{Plugin: outcome.Plugin, Instance: outcome.Instance, Err: x.withheld(err)}
	}
	outcome.Result = filtered
	return outcome
}

// afterResult lets the filters replace a result, the last filter first.
func (x filterChain) afterResult(arguments json.RawMessage, r tool.Result) (tool.Result, *tool.Error) {
	for _, f := range slices.Backward(x.filters) {
		reply, err := x.ask(f, filterjson.After, arguments, &r)
		if err != nil {
			return tool.Result{}, err
		}
		if reply.answer.Result != nil {
			r = replaceResult(r, *reply.answer.Result)
			x.call.report.AddChange(f.Name)
		}
	}
	return r, nil
}

// replaceResult returns a filter's result in place of another one. It keeps the measured duration,
// and the usage and cost unless the filter gives others.
func replaceResult(old, r tool.Result) tool.Result {
	r.Duration = old.Duration
	r.Usage = cmp.Or(r.Usage, old.Usage)
	r.Cost = cmp.Or(r.Cost, old.Cost)
	return r
}

// withheld returns the failure of a call that a plugin has executed. Callers must not see its
// result, because a filter failed.
func (x filterChain) withheld(cause *tool.Error) *tool.Error {
	aftermath := "it can be called again"
	kind := cause.Kind
	if x.call.tool.Spec.HasSideEffects() {
		aftermath = "its side effects have happened; look before you make a new call"
		if kind != tool.KindTimeout && kind != tool.KindCancelled {
			kind = tool.KindOutcomeUnknown
		}
	}
	err := tool.Errorf(kind, "the tool %q was executed, but its result is withheld: %w; %s", x.call.request.Tool, cause, aftermath)
	err.RetryAfter = cause.RetryAfter
	return err
}
