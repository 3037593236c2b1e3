package host

import (
	"math"

	"github.com/toolhost/toolhost/tool"
)

// charge adds a try that the plugin was given to execute to what the call costs: what the tool reports, or its declared cost per
// use. Tries that fail count, because the tool may have paid for them. What was not executed costs nothing, and a replayed outcome
// is no try. The outcome of the last try gets the cost of all.
func (r *run) charge(outcome *tool.Outcome) {
	cost := r.tool.Spec.CostPerUse
	if reported := outcome.Result.Cost; outcome.Err == nil && reported > 0 && !math.IsInf(reported, 0) {
		cost = reported
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cost += max(cost, 0)
	if outcome.Err == nil {
		outcome.Result.Cost = r.cost
	}
}

// tellCost says in a call's failure what it cost all the same.
func (r *run) tellCost(failure *tool.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	failure.Cost = r.cost
}

// costOf returns what a call cost.
func costOf(outcome *tool.Outcome) float64 {
	cost := outcome.Result.Cost
	if outcome.Err != nil {
		cost = outcome.Err.Cost
	}
	if !(cost > 0) || math.IsInf(cost, 0) { // a filter's answer may say anything
		return 0
	}
	return cost
}
