package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
)

// violations are the ways in which badplugin breaks the contract, each with the checks that must
// fail. An examination takes about ten launches, so that one run of badplugin combines several:
// those with a plus between them.
var violations = map[string][]string{
	"honest": nil,
	"silent_by_hand+any_version+restless+everything+scribbles+bad_name+bad_metadata+bad_example": {
		"start.by_hand", "start.unknown_version", "describe.same", "describe.selection", "describe.side_effects",
		"describe.plugin", "describe.declarations", "describe.examples",
	},
	"content_by_hand+twice+bad_schema": {"start.by_hand", "describe.tools", "describe.schemas"},
	"long_name":                        {"start.socket"},
	"mute":                             {"describe.answer"},
	"no_object+no_stream":              {"describe.schemas", "stream.open"},
	"knows_all+angry":                  {"stream.unknown_tool", "end.shutdown"},
	"picky+lonely+claims":              {"stream.ended", "end.no_stream", "settle.unused"},
	"strict+clings+forgets":            {"stream.unknown_frames", "end.shutdown", "end.stream", "settle.executed"},
	"vague":                            {"results.schema"},
	"hasty":                            {"stream.incomplete"},
	"deaf_early":                       {"stream.cancel_incomplete", "calls.previews"},
	"ends_twice+backwards+bad_level+bad_json+big_chunk": {
		"calls.end", "calls.statuses", "calls.logs", "results.content", "results.chunks",
	},
	"last_word+after_success+empty_block+off_schema+big_end+spends": {
		"calls.end", "calls.statuses", "results.content", "results.schema", "results.chunks", "flow.credit",
	},
	"no_outcome+sinking": {"calls.end", "calls.statuses"},
	"chops+sticks+stray_filter+mixes_up+obedient": {
		"calls.pieces", "calls.replaced", "describe.tools", "settle.answer", "settle.undeclared",
	},
	"eager":         {"calls.previews", "?calls.pieces", "?calls.side_by_side", "?calls.replaced"},
	"in_line":       {"calls.side_by_side"},
	"fragile+small": {"calls.garbage", "calls.large_arguments"},
	"waits":         {"flow.waiting"},
}

// TestViolations checks that each violation fails the check for it, and no other.
func TestViolations(t *testing.T) {
	t.Parallel()
	var all []examination
	for violation, want := range violations {
		waits := []string{"deaf_early", "waits", "in_line"}
		all = append(all, examination{name: violation, args: []string{"badplugin", violation}, want: want, hangs: slices.Contains(waits, violation)})
	}
	examineAll(t, all)
}

// TestEveryCheckFinds checks that a test shows a failure of each check of the contract.
func TestEveryCheckFinds(t *testing.T) {
	// The first never fails; TestFaults shows the second.
	found := map[string]bool{"output.stdout": true, "end.connection_lost": true}
	for _, want := range violations {
		for _, id := range want {
			found[id] = true
		}
	}
	for _, e := range slices.Concat(faultsBeforeTheHandshake(), faultsOfTheHandshake(), faultsAtTheEnd(), faultsOfCalls()) {
		for _, id := range e.want {
			found[id] = true
		}
	}
	for _, id := range conformance.CheckIDs() {
		if !found[id] && !strings.HasPrefix(id, "advice.") {
			t.Errorf("nothing shows that %s finds anything", id)
		}
	}
}
