package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/conformance"
)

// lies are the ways of the liar, each with the check that has to find it.
var lies = map[string][]string{
	"honest":          nil,
	"silent_by_hand":  {"start.by_hand"},
	"content_by_hand": {"start.by_hand"},
	"any_version":     {"start.unknown_version"},
	"long_name":       {"start.socket"},
	"mute":            {"describe.answer"},
	"restless":        {"describe.same"},
	"everything":      {"describe.selection"},
	"scribbles":       {"describe.side_effects"},
	"bad_name":        {"describe.plugin"},
	"twice":           {"describe.tools"},
	"bad_schema":      {"describe.schemas"},
	"no_object":       {"describe.schemas"},
	"bad_example":     {"describe.examples"},
	"bad_metadata":    {"describe.declarations"},
	"no_stream":       {"stream.open"},
	"knows_all":       {"stream.unknown_tool"},
	"hasty":           {"stream.incomplete"},
	"deaf_early":      {"stream.cancel_incomplete", "calls.previews"},
	"picky":           {"stream.ended"},
	"strict":          {"stream.unknown_frames"},
	"ends_twice":      {"calls.end"},
	"last_word":       {"calls.end"},
	"no_outcome":      {"calls.end"},
	"backwards":       {"calls.statuses"},
	"after_success":   {"calls.statuses"},
	"sinking":         {"calls.statuses"},
	"bad_level":       {"calls.logs"},
	"chops":           {"calls.pieces"},
	"sticks":          {"calls.replaced"},
	"eager":           {"calls.previews", "?calls.pieces", "?calls.side_by_side", "?calls.replaced"},
	"in_line":         {"calls.side_by_side"},
	"fragile":         {"calls.garbage"},
	"small":           {"calls.large_arguments"},
	"bad_json":        {"results.content"},
	"empty_block":     {"results.content"},
	"off_schema":      {"results.schema"},
	"big_chunk":       {"results.chunks"},
	"big_end":         {"results.chunks"},
	"spends":          {"flow.credit"},
	"waits":           {"flow.waiting"},
	"clings":          {"end.shutdown", "end.stream"},
	"angry":           {"end.shutdown"},
	"lonely":          {"end.no_stream"},
}

// Each lie is found by the check that is for it, and by no other.
func TestLies(t *testing.T) {
	t.Parallel()
	var all []examination
	for lie, want := range lies {
		waits := []string{"deaf_early", "waits", "in_line"}
		all = append(all, examination{name: lie, args: []string{"liar", lie}, want: want, hangs: slices.Contains(waits, lie)})
	}
	examineAll(t, all)
}

// Each check of the contract is shown to find something.
func TestEveryCheckFinds(t *testing.T) {
	found := map[string]bool{"output.stdout": true, "end.connection_lost": true} // the one only tells, the other is bareGoPlugin's
	for _, want := range lies {
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
