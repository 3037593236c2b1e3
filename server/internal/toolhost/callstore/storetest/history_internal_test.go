package storetest

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// told is an operation with its answer, and when it was called and answered.
type told struct {
	step
	result
	called, answered int64
}

// The checker accepts what a ledger answers whose own answers from its database are lost now and
// then, and finds what no ledger may answer.
func TestExplain(t *testing.T) {
	known := func(err error) result { return result{known: true, err: err} }
	sees := func(seen sight) result { return result{known: true, found: seen} }
	var done, none = known(nil), result{}
	for name, c := range map[string]struct {
		ops  []told
		want porcupine.CheckResult
	}{
		"one Begin": {[]told{
			{step{act: beginning, tag: "a"}, done, 1, 2}, {step{act: beginning, node: 1, tag: "b"}, known(callstore.ErrTaken), 3, 4},
		}, porcupine.Ok},
		"two Begins": {[]told{
			{step{act: beginning, tag: "a"}, done, 1, 2}, {step{act: beginning, node: 1, tag: "b"}, done, 3, 4},
		}, porcupine.Illegal},
		"a Begin of what was not settled": {[]told{
			{step{act: beginning, tag: "a"}, done, 1, 2}, {step{act: losing, says: "lost"}, done, 3, 4},
			{step{act: beginning, node: 2, tag: "b"}, done, 6, 7},
		}, porcupine.Illegal},
		"a Begin before the one that settles is answered": {[]told{
			{step{act: beginning, tag: "a"}, done, 1, 2}, {step{act: losing, says: "lost"}, done, 3, 4},
			{step{act: freeing, node: 1, tag: "a"}, known(callstore.ErrNotUnknown), 5, 8}, // at the second attempt
			{step{act: beginning, node: 2, tag: "b"}, done, 6, 7}, {step{act: finding, node: 1}, sees(sight{phase: begun, elsewhere: true, tag: "b"}), 9, 10},
		}, porcupine.Ok},
		"the number of the first attempt of a Begin": {[]told{
			{step{act: beginning, tag: "a"}, done, 1, 4}, {step{act: leaving}, done, 5, 6},
			{step{act: freeing, node: 1, tag: "a"}, known(callstore.ErrNotUnknown), 7, 8}, {step{act: finding, node: 1}, sees(sight{phase: unknown, tag: "a"}), 9, 10},
		}, porcupine.Ok},
		"a call that its node has for a moment, and another one that it does not have": {[]told{
			{step{act: beginning, tag: "a"}, none, 1, 2}, {step{act: finding, node: 1}, sees(sight{phase: begun, elsewhere: true, tag: "a"}), 3, 4},
			{step{act: beginning, which: second, tag: "b"}, none, 5, 6}, {step{act: losing, which: second, says: "lost"}, done, 7, 8},
			{step{act: freeing, which: second, node: 1, tag: "b"}, done, 9, 10}, {step{act: replacing, which: second, tag: "c", says: "by"}, done, 11, 12},
			{step{act: finding, node: 1}, sees(sight{phase: failed, tag: "a", says: closing("by")}), 13, 14},
		}, porcupine.Ok},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history{}
			for _, o := range c.ops {
				h.record(0, &o.step, &o.result, o.called, o.answered)
			}
			if got := h.explain(0); got != c.want {
				t.Errorf("the history is %s, want %s", got, c.want)
			}
		})
	}
}
