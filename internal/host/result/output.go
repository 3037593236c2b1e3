package result

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// CheckOutput returns why a result does not fit the output schema of its tool, or nil. It checks the
// first block of JSON, or null if there is none. An error, a result with IsError and a result without
// content always fit, and so does every result if schema is nil.
func CheckOutput(schema *catalog.Schema, outcome *tool.Outcome) error {
	if schema == nil || outcome.Err != nil || outcome.Result.IsError || len(outcome.Result.Content) == 0 {
		return nil
	}
	value := json.RawMessage("null")
	if i := slices.IndexFunc(outcome.Result.Content, func(c tool.Content) bool { return c.Kind == tool.ContentJSON }); i >= 0 {
		value = outcome.Result.Content[i].JSON
	}
	return schema.ValidateResult(value)
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
	return cost
}
