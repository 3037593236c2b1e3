package host

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/tool"
)

// TestCallThatEndedIsNotDenied: a call whose time is up, or that was cancelled, just as the rules are asked, ends with that:
// no rule is blamed.
func TestCallThatEndedIsNotDenied(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "fine", When: `true`, Then: policy.Allow}})
	if err != nil {
		t.Fatal(err)
	}
	for kind, cause := range map[tool.Kind]error{tool.KindTimeout: errDeadline, tool.KindCancelled: cancelledBy("enough")} {
		h := &Host{ctx: t.Context(), cfg: Config{Policy: rules, Logger: slog.New(slog.DiscardHandler)}}
		r, err := h.newRun(tool.Call{ID: "late", Tool: "echo"}, &catalog.Tool{Plugin: &catalog.Plugin{}})
		if err != nil {
			t.Fatal(err)
		}
		r.cancel(cause)
		if got, _ := r.permit(submission{}, arguments.Parsed{}, false); got == nil || got.Kind != kind || got.Rule != "" || !errors.Is(got, cause) {
			t.Errorf("the call ended with %+v, not %s", got, kind)
		}
	}
}
