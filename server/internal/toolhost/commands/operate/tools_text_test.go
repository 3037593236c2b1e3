package operate

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// People see the display name beside the name, the context keys that a tool reads and writes, and
// its cost.
func TestPeopleSeeWhatAToolDeclares(t *testing.T) {
	info := tool.Info{Plugin: "bank", Spec: tool.Spec{
		Name: "pay", DisplayName: "Wire transfer kd83", Description: "Pays.", ContextKeys: []string{"tenant"}, EffectKeys: []string{"ledger"}, CostPerUse: 2.5,
	}}
	if got := oneLineOf(info); got != "Wire transfer kd83: Pays." {
		t.Errorf("a list says %q", got)
	}
	for _, want := range []string{"title        Wire transfer kd83", "reads        tenant", "writes       ledger", "cost per use 2.5"} {
		if got := describe(info); !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}
