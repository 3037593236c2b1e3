// Package result converts a plugin's result into the result for the caller. It adds metadata about
// toolhost's changes, removes effects that the tool may not have, and replaces content that is too
// large by artifacts.
package result

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

// The keys of a result's metadata that toolhost sets, with tool.KeyStandingApproval. All keys that
// begin with tool.ReservedPrefix belong to toolhost: Report removes them from the results of
// plugins and filters. setMetadata sets them, and nothing else does.
const (
	repairsKey    = tool.ReservedPrefix + "repairs"    // a JSON array of arguments.Repair
	undeclaredKey = tool.ReservedPrefix + "undeclared" // a JSON array of arguments.Undeclared
	leakedKey     = tool.ReservedPrefix + "leaked"     // a JSON array of arguments.Leaked
	// a JSON array of names of filters that made changes
	filtersKey        = tool.ReservedPrefix + "filters"
	answeredByKey     = tool.ReservedPrefix + "answered_by"     // the filter that answered in place of the tool
	outputKey         = tool.ReservedPrefix + "output_schema"   // why the result does not fit its schema
	refusedEffectsKey = tool.ReservedPrefix + "refused_effects" // a JSON array of refusedEffect
)

// Report collects toolhost's changes to a call, and the cost of the call. The zero value is empty.
// All methods are safe for concurrent use.
type Report struct {
	mu         sync.Mutex
	repairs    []byte // in JSON; nil: none
	undeclared []byte // in JSON; nil: none
	leaked     []arguments.Leaked
	changedBy  []string
	answeredBy string
	badOutput  []byte // in JSON; nil: the result fits, or the caller does not get it
	standing   []byte // in JSON; nil: no standing approval approved the call
	cost       float64
}

// SetRepairs records how toolhost repaired the arguments.
func (r *Report) SetRepairs(repairs []arguments.Repair) error {
	list, err := json.Marshal(repairs)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repairs = list
	return nil
}

// SetUndeclared records the arguments that the tool does not declare. They are probably misspelled.
func (r *Report) SetUndeclared(all []arguments.Undeclared) error {
	list, err := json.Marshal(all)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undeclared = list
	return nil
}

// SetLeaked records the texts of the arguments that hold the markup of a parameter. The result
// warns the model of each, because nothing else shows it that a parameter did not arrive.
func (r *Report) SetLeaked(all []arguments.Leaked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaked = all
}

// AddChange records that a filter changed the arguments or the result.
func (r *Report) AddChange(filter string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.changedBy, filter) {
		r.changedBy = append(r.changedBy, filter)
	}
}

// SetAnsweredBy records the filter that answered in place of the tool.
func (r *Report) SetAnsweredBy(filter string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answeredBy = filter
}

// SetStanding records the standing approval that approved the call; nil: none did.
func (r *Report) SetStanding(a *tool.StandingApproval) {
	var text []byte
	if a != nil {
		text = encode(map[string]string{"id": a.ID, "approver": a.Approver})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.standing = text
}

// SetBadOutput records why the result does not fit the tool's output schema, if the caller gets it
// anyway.
func (r *Report) SetBadOutput(reason string) {
	text, _ := json.Marshal(reason) // a string never fails
	r.mu.Lock()
	defer r.mu.Unlock()
	r.badOutput = text
}

// ArgumentChanges returns how the arguments were changed: the repairs in JSON, and the filters.
func (r *Report) ArgumentChanges() (repairs []byte, filters []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.repairs, slices.Clone(r.changedBy)
}

// RestoreArgumentChanges sets what ArgumentChanges returned for an earlier attempt of the call.
func (r *Report) RestoreArgumentChanges(repairs []byte, filters []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repairs, r.changedBy = repairs, slices.Clone(filters)
}

// Charge adds the cost of one attempt: what the tool reports, or perUse if it reports nothing. A
// failed attempt counts too, because the tool may have paid for it. The outcome of the last attempt
// gets the cost of all attempts.
func (r *Report) Charge(outcome *tool.Outcome, perUse float64) {
	cost := perUse
	if reported := outcome.Result.Cost; outcome.Err == nil && reported > 0 && !math.IsInf(reported, 0) {
		cost = reported
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cost += min(max(cost, 0), tool.MaxCost)
	if outcome.Err == nil {
		outcome.Result.Cost = r.cost
	}
}

// Cost returns the cost of all attempts.
func (r *Report) Cost() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cost
}

// AddTo removes toolhost's keys from the metadata that the plugin sent, and adds the report.
// Warnings for the model become a block of text behind the content.
func (r *Report) AddTo(outcome *tool.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome.Result.Metadata = maps.Clone(outcome.Result.Metadata) // the plugin's map stays as it is
	maps.DeleteFunc(outcome.Result.Metadata, func(key string, _ json.RawMessage) bool { return strings.HasPrefix(key, tool.ReservedPrefix) })
	setMetadata(outcome, repairsKey, r.repairs)
	setMetadata(outcome, undeclaredKey, r.undeclared)
	if len(r.changedBy) > 0 {
		setMetadata(outcome, filtersKey, encode(r.changedBy))
	}
	if r.answeredBy != "" {
		setMetadata(outcome, answeredByKey, encode(r.answeredBy))
	}
	if outcome.Err == nil {
		r.warnLocked(outcome)
		setMetadata(outcome, outputKey, r.badOutput)
		setMetadata(outcome, tool.KeyStandingApproval, r.standing)
	}
}

func (r *Report) warnLocked(outcome *tool.Outcome) {
	if len(r.leaked) == 0 {
		return
	}
	text := "Warning:"
	for _, l := range r.leaked {
		text += "\n- " + l.Warning()
	}
	outcome.Result.Content = append(slices.Clip(outcome.Result.Content), tool.Text(text)) // the plugin's slice stays as it is
	setMetadata(outcome, leakedKey, encode(r.leaked))
}

// setMetadata sets a key of a result's metadata, unless the value is nil.
func setMetadata(outcome *tool.Outcome, key string, value []byte) {
	if value == nil {
		return
	}
	if outcome.Result.Metadata == nil {
		outcome.Result.Metadata = map[string]json.RawMessage{}
	}
	outcome.Result.Metadata[key] = value
}

// encode returns strings and truth values in JSON.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // they never fail
	}
	return text
}

// CostOf returns what a call cost. An outcome with a cost that is not a positive finite number cost
// nothing: a filter's answer may contain any number.
func CostOf(outcome *tool.Outcome) float64 {
	cost := outcome.Result.Cost
	if outcome.Err != nil {
		cost = outcome.Err.Cost
	}
	if !(cost > 0) || math.IsInf(cost, 0) { // also for NaN
		return 0
	}
	return min(cost, tool.MaxCost)
}
