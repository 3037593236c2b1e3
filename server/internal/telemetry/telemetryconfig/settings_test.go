package telemetryconfig_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
)

// The operator decides which callers choose whether a trace is recorded.
func TestTrustsCallers(t *testing.T) {
	for trust, want := range map[string]struct{ sameUser, others bool }{
		"": {true, false}, "same_user": {true, false}, "all": {true, true}, "none": {false, false},
	} {
		traces := telemetryconfig.Traces{TrustCallers: trust}
		if traces.Trusts(true) != want.sameUser || traces.Trusts(false) != want.others {
			t.Errorf("%q trusts this user: %v, others: %v", trust, traces.Trusts(true), traces.Trusts(false))
		}
	}
}
