package host_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// costOf returns the cost that an outcome reports.
func costOf(o tool.Outcome) float64 {
	if o.Err != nil {
		return o.Err.Cost
	}
	return o.Result.Cost
}

// Each attempt that a plugin executes costs what the tool reports or declares, also if it fails. A
// call that is not executed costs nothing, and a replay costs nothing again.
func TestCost(t *testing.T) {
	retry := tool.RetryPolicy{MaxAttempts: 3, InitialBackoff: time.Millisecond}
	unavailable := tool.Errorf(tool.KindUnavailable, "not now")
	for name, tc := range map[string]struct {
		spec      tool.Spec
		reported  float64
		fails     int64 // how many attempts fail
		arguments string
		want      float64
	}{
		"declared":                  {tool.Spec{CostPerUse: 2}, 0, 0, `{}`, 2},
		"reported":                  {tool.Spec{CostPerUse: 2}, 7, 0, `{}`, 7},
		"reported, not declared":    {tool.Spec{}, .25, 0, `{}`, .25},
		"less than nothing":         {tool.Spec{CostPerUse: 2}, -9, 0, `{}`, 2},
		"more than anything":        {tool.Spec{CostPerUse: 2}, math.Inf(1), 0, `{}`, 2},
		"free":                      {tool.Spec{}, 0, 0, `{}`, 0},
		"a failure":                 {tool.Spec{CostPerUse: 2}, 0, 9, `{}`, 2},
		"tries that fail count":     {tool.Spec{CostPerUse: 2, ReadOnly: true, Retry: retry}, 0, 2, `{}`, 6},
		"the last one says its own": {tool.Spec{CostPerUse: 2, ReadOnly: true, Retry: retry}, .5, 1, `{}`, 2.5},
		"all tries fail":            {tool.Spec{CostPerUse: 2, ReadOnly: true, Retry: retry}, 0, 9, `{}`, 6},
		"bad arguments":             {tool.Spec{CostPerUse: 2}, 0, 0, `{"n":`, 0},
		"not approved":              {tool.Spec{CostPerUse: 2, Dangerous: true}, 0, 0, `{}`, 0},
		"too long":                  {tool.Spec{CostPerUse: 2, Timeout: time.Second}, 0, -1, `{}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.spec.Name, tc.spec.Description, tc.spec.InputSchema = "paid", "Costs.", []byte(`{"type":"object"}`)
				var tries atomic.Int64
				r := newRig(t, []hosttest.Tool{{Spec: tc.spec, Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
					if tc.fails < 0 {
						<-ctx.Done()
						return tool.Result{}, context.Cause(ctx)
					}
					if tries.Add(1) <= tc.fails {
						return tool.Result{}, unavailable
					}
					return tool.Result{Cost: tc.reported}, nil
				}}}, nil)
				c := tool.Call{ID: "once", Tool: "paid", Arguments: []byte(tc.arguments)}
				first := outcome(t, r, c)
				if got := costOf(first); got != tc.want {
					t.Errorf("it costs %v, want %v: %+v", got, tc.want, first)
				}
				again := outcome(t, r, c)
				total := tc.want
				if !again.Replayed {
					total += costOf(again)
				} else if costOf(again) != tc.want {
					t.Errorf("the replay says %v", costOf(again))
				}
				stats, err := r.Stats(t.Context(), tool.StatsQuery{})
				if err != nil || len(stats) != 1 || stats[0].TotalCost != total {
					t.Errorf("the statistics say %+v, %v; want the cost %v", stats, err, total)
				}
			})
		})
	}
}
