package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/rpc/filterjson"
	"github.com/toolhost/toolhost/tool"
)

// Filter says around which calls a filter is asked. If neither Tools nor Tags are given, that is all calls; else those of
// tools that one of them fits.
type Filter struct {
	Name     string        // as its plugin declares it
	Tools    []string      // names of tools, or patterns as path.Match has them
	Tags     []string      // of tools
	Optional bool          // if it fails, or does not exist, the call goes on without it
	Timeout  time.Duration // for one question; 0: 5 s
}

const defaultFilterTimeout = 5 * time.Second

// Where a result's metadata says what filters did.
const (
	filtersKey    = "toolhost.filters"     // a JSON array of the names of those that changed arguments or result
	answeredByKey = "toolhost.answered_by" // the name of the one that answered instead of the tool
)

// applies reports whether the filter is asked around calls of a tool. A pattern that cannot be read fits each tool: better
// one question too many than one too few.
func (f *Filter) applies(name string, tags []string) bool {
	if len(f.Tools)+len(f.Tags) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Tools, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return matched || err != nil
	}) || slices.ContainsFunc(f.Tags, func(tag string) bool { return slices.Contains(tags, tag) })
}

func (f *Filter) timeout() time.Duration { return cmp.Or(f.Timeout, defaultFilterTimeout) }

// filtering is what filters did to a call.
type filtering struct {
	changed    []string // the names of those that changed something, in the order in which they did
	answeredBy string   // empty: none
}

// filters returns those that are asked around the call, in their order. Around a filter's own call there are none.
func (r *run) filters() []*Filter {
	if r.whole {
		return nil
	}
	var found []*Filter
	for i := range r.host.cfg.Filters {
		if f := &r.host.cfg.Filters[i]; f.applies(r.call.Tool, r.tool.Spec.Tags) {
			found = append(found, f)
		}
	}
	return found
}

// mayPreview reports whether the plugin may see the arguments before they are complete: not where a filter would have to
// see them first, nor where the policy speaks against it.
func (r *run) mayPreview() bool {
	if !r.policyLetsPreview() {
		return false
	}
	snapshot := r.host.cfg.Catalog.Snapshot()
	return !slices.ContainsFunc(r.filters(), func(f *Filter) bool {
		declared := snapshot.Filter(f.Name)
		return declared == nil || declared.Spec.Before
	})
}

// filterBefore asks the filters before the call. It returns the arguments as they left them, or false if that ended the
// call.
func (r *run) filterBefore(s submission) (text []byte, parsed arguments.Parsed, ok bool) {
	text, parsed = s.text, s.parsed
	filters := r.filters()
	for i, f := range filters {
		v, err := r.ask(f, filterjson.Before, parsed.Canonical(), nil)
		switch {
		case err != nil:
			err.Message += "; nothing was executed"
			r.finishWithout(tool.Outcome{Err: err})
			return nil, parsed, false
		case v.answer.Deny != nil:
			r.finishWithout(tool.Outcome{Err: r.denied(f, *v.answer.Deny, parsed.Canonical())})
			return nil, parsed, false
		case v.answer.Answer != nil:
			r.answered(filters[:i], f, parsed.Canonical(), *v.answer.Answer)
			return nil, parsed, false
		case v.changed != nil && !bytes.Equal(v.changed.Canonical(), parsed.Canonical()):
			text, parsed = v.changed.Canonical(), *v.changed
			r.noteChange(f)
		}
	}
	return text, parsed, true
}

// denied is the failure of a call that a filter does not want to be made. It is kept in the audit log.
func (r *run) denied(f *Filter, reason string, given json.RawMessage) *tool.Error {
	reason = clip(cmp.Or(reason, "it did not say why"), maxReason)
	err := tool.Errorf(tool.KindDenied, "the call of %q is not allowed: %s (filter %q)", r.call.Tool, reason, f.Name)
	err.Rule = f.Name
	return r.audited(audit.Decision{
		Principal: r.call.Principal, Session: r.call.Session, CallID: r.call.ID, Tool: r.call.Tool, Plugin: r.tool.Plugin.Info.Name,
		Outcome: audit.Denied, Rule: f.Name, Reason: reason, Arguments: given,
	}, err)
}

// maxReason bounds a filter's reason for a denial.
const maxReason = 2000

// answered ends a call with what a filter answered instead of the tool. The filters around that one, outer, see it as if it
// were the tool's result.
func (r *run) answered(outer []*Filter, by *Filter, arguments json.RawMessage, result tool.Result) {
	r.mu.Lock()
	r.filtering.answeredBy = by.Name
	r.mu.Unlock()
	result.Duration = 0 // the tool did not run
	filtered, err := r.filterResult(outer, arguments, result)
	if err != nil {
		err.Message += "; nothing was executed"
		r.finishWithout(tool.Outcome{Err: err})
		return
	}
	r.finish(tool.Outcome{Result: filtered}) // not finishWithout: asked again, the filter might answer otherwise
}

// filterAfter asks the filters about what the tool answered, and returns how the call ends.
func (r *run) filterAfter(outcome tool.Outcome) tool.Outcome {
	r.mu.Lock()
	finished, text := r.finished, r.text
	r.mu.Unlock()
	if finished { // at its deadline
		return outcome
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	filtered, err := r.filterResult(r.filters(), text, outcome.Result)
	if err != nil {
		return tool.Outcome{Plugin: outcome.Plugin, Instance: outcome.Instance, Err: r.withheld(err)}
	}
	outcome.Result = filtered
	return outcome
}

// filterResult has filters change a result, the last of them first.
func (r *run) filterResult(filters []*Filter, arguments json.RawMessage, result tool.Result) (tool.Result, *tool.Error) {
	for _, f := range slices.Backward(filters) {
		v, err := r.ask(f, filterjson.After, arguments, &result)
		if err != nil {
			return tool.Result{}, err
		}
		if v.answer.Result != nil {
			result = replaced(result, *v.answer.Result)
			r.noteChange(f)
		}
	}
	return result, nil
}

// replaced returns the result that takes the place of another. What was measured stays, and what the tool used and cost
// unless the filter has other figures.
func replaced(old, result tool.Result) tool.Result {
	result.Duration = old.Duration
	result.Usage = cmp.Or(result.Usage, old.Usage)
	result.Cost = cmp.Or(result.Cost, old.Cost)
	return result
}

// withheld is the failure of a call whose tool was executed, and whose result nobody may see, because a filter failed.
func (r *run) withheld(cause *tool.Error) *tool.Error {
	aftermath := "it can be called again"
	kind := cause.Kind
	if r.tool.Spec.HasSideEffects() {
		aftermath = "its side effects have happened; look before you make a new call"
		if kind != tool.KindTimeout && kind != tool.KindCancelled {
			kind = tool.KindOutcomeUnknown
		}
	}
	err := tool.Errorf(kind, "the tool %q was executed, but its result is withheld: %w; %s", r.call.Tool, cause, aftermath)
	err.RetryAfter = cause.RetryAfter
	return err
}

func (r *run) noteChange(f *Filter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.filtering.changed, f.Name) {
		r.filtering.changed = append(r.filtering.changed, f.Name)
	}
}

// tellFilters adds to a call's outcome what filters did.
func (r *run) tellFilters(outcome *tool.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tell := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // names
		}
		if outcome.Result.Metadata == nil {
			outcome.Result.Metadata = map[string]json.RawMessage{}
		}
		outcome.Result.Metadata[key] = text
	}
	if len(r.filtering.changed) > 0 {
		tell(filtersKey, r.filtering.changed)
	}
	if r.filtering.answeredBy != "" {
		tell(answeredByKey, r.filtering.answeredBy)
	}
}
