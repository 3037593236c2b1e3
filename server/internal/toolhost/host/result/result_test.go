package result_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// The report removes metadata that a plugin sends under toolhost's own keys. It does not change the
// plugin's map.
func TestReportReplacesForgedMetadata(t *testing.T) {
	sent := map[string]json.RawMessage{"own": []byte(`1`), "toolhost.filters": []byte(`["forged"]`), "toolhost.x": []byte(`2`)}
	outcome := tool.Outcome{Result: tool.Result{Metadata: sent}}
	var r result.Report
	r.AddChange("mask")
	r.AddChange("mask")
	r.SetAnsweredBy("cache")
	if err := r.SetRepairs([]arguments.Repair{}); err != nil {
		t.Fatal(err)
	}
	r.AddTo(&outcome)
	want := map[string]json.RawMessage{
		"own": []byte(`1`), "toolhost.filters": []byte(`["mask"]`), "toolhost.answered_by": []byte(`"cache"`), "toolhost.repairs": []byte(`[]`),
	}
	if diff := cmp.Diff(want, outcome.Result.Metadata); diff != "" || len(sent) != 3 {
		t.Errorf("(-want +got):\n%s\nthe plugin's map has %d keys", diff, len(sent))
	}
}

// The cost of a call includes every attempt: the cost that the tool reports, or else the tool's
// cost per use.
func TestReportAddsCosts(t *testing.T) {
	var r result.Report
	failed := tool.Outcome{Err: tool.Errorf(tool.KindCrashed, "crashed")}
	r.Charge(&failed, 2)
	answered := tool.Outcome{Result: tool.Result{Cost: 0.5}}
	r.Charge(&answered, 2)
	if answered.Result.Cost != 2.5 || r.Cost() != 2.5 || result.CostOf(&answered) != 2.5 {
		t.Errorf("the result costs %v, the call %v; want 2.5", answered.Result.Cost, r.Cost())
	}
}

// The sum of the costs that tools report has a JSON form, whatever they report.
func TestAReportedCostIsBounded(t *testing.T) {
	for _, cost := range []float64{math.MaxFloat64, math.Inf(1), math.NaN(), -1} {
		var r result.Report
		for range 2 {
			r.Charge(&tool.Outcome{Result: tool.Result{Cost: cost}}, math.MaxFloat64)
		}
		if r.Cost() != 2*tool.MaxCost {
			t.Errorf("two calls of %v cost %v", cost, r.Cost())
		}
		if got := result.CostOf(&tool.Outcome{Result: tool.Result{Cost: cost}}); got != 0 && got != tool.MaxCost {
			t.Errorf("the cost %v counts as %v", cost, got)
		}
	}
}

// A tool changes only keys that it declares, and keys that rules read only with permission.
func TestEffectRules(t *testing.T) {
	rules := result.EffectRules{
		Declared: []string{"cwd", "role", "budget", "user"}, Granted: []string{"budget"}, Tool: "cd",
		Read: func(key string) bool { return key == "role" || key == "budget" },
	}
	outcome := tool.Outcome{Result: tool.Result{Effects: []tool.Effect{
		{Key: "cwd"}, {Key: "role"}, {Key: "budget"}, {Key: "user"}, {Key: "undeclared"},
	}}}
	count, first, _ := rules.Apply(&outcome)
	var kept []string
	for _, e := range outcome.Result.Effects {
		kept = append(kept, e.Key)
	}
	if diff := cmp.Diff([]string{"cwd", "budget"}, kept); diff != "" || count != 3 || first != "role" {
		t.Errorf("%d refused, first %q; kept (-want +got):\n%s", count, first, diff)
	}
	if outcome.Result.Metadata["toolhost.refused_effects"] == nil {
		t.Error("the metadata does not name the refused effects")
	}
}
