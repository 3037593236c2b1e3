package host

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// If the deadline of a call passes during the evaluation of the policy, the call ends with a
// timeout and not with a denial. A call that is canceled meanwhile ends as canceled.
func TestCallThatEndedIsNotDenied(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "fine", When: `true`, Then: policy.Allow}})
	if err != nil {
		t.Fatal(err)
	}
	for kind, cause := range map[tool.Kind]error{tool.KindTimeout: deadline.ErrPassed, tool.KindCancelled: cancelledBy("enough")} {
		logger := slog.New(slog.DiscardHandler)
		h := &Host{ctx: t.Context(), cfg: &Config{Logger: logger}}
		settings := h.newGeneration(Settings{Policy: rules}, 0)
		c, err := h.newCall(&tool.Call{ID: "late", Tool: "echo"}, toolView{&catalog.Tool{Plugin: &catalog.Plugin{}}, settings}, ToolCall, "late", false)
		if err != nil {
			t.Fatal(err)
		}
		c.Cancel(cause)
		if got := (&preparation{call: c}).authorize(); got == nil || got.Kind != kind || got.Rule != "" || !errors.Is(got, cause) {
			t.Errorf("the call ended with %+v, not %s", got, kind)
		}
	}
}
