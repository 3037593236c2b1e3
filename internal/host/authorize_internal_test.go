package host

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/toolhost/toolhost/internal/host/deadline"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/tool"
)

// A call whose deadline passes, or that is cancelled, while the policy is evaluated ends for that
// reason. It does not look like a denial.
func TestCallThatEndedIsNotDenied(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "fine", When: `true`, Then: policy.Allow}})
	if err != nil {
		t.Fatal(err)
	}
	for kind, cause := range map[tool.Kind]error{tool.KindTimeout: deadline.ErrPassed, tool.KindCancelled: cancelledBy("enough")} {
		logger := slog.New(slog.DiscardHandler)
		h := &Host{ctx: t.Context(), cfg: &Config{Policy: rules, Logger: logger}, authorizer: authorizer{policy: rules, logger: logger}}
		c, err := h.newCall(&tool.Call{ID: "late", Tool: "echo"}, &catalog.Tool{Plugin: &catalog.Plugin{}}, "late", false, false)
		if err != nil {
			t.Fatal(err)
		}
		c.Cancel(cause)
		if got, _ := (&preparation{call: c}).authorize(false); got == nil || got.Kind != kind || got.Rule != "" || !errors.Is(got, cause) {
			t.Errorf("the call ended with %+v, not %s", got, kind)
		}
	}
}
