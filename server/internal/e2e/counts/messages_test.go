package counts_test

import (
	"math"
	"testing"
)

// A small call is one message in each direction on each socket. Each end sends its message at once,
// in about one write.
func TestMessagesOfACall(t *testing.T) {
	const calls = 500
	outer, inner := &meter{}, &meter{}
	r := newRig(t, outer, inner)
	for range 50 { // warm-up: the launch, the headers of both streams, the first credit
		r.call(t, 1<<10)
	}
	for name, m := range map[string]*meter{"client and toolhost": outer, "toolhost and plugin": inner} {
		before := m.now()
		for range calls {
			r.call(t, 1<<10)
		}
		seen := m.now().minus(before)
		t.Logf("between %s: %+v in %d calls", name, seen, calls)
		if seen.Sent != calls || seen.Received != calls {
			t.Errorf("between %s %d calls are %d messages there and %d back, want one each", name, calls, seen.Received, seen.Sent)
		}
		if each := float64(seen.Writes) / calls; each > 1.5 {
			t.Errorf("between %s an answer takes %.2f writes, want at most 1.5", name, each)
		}
	}
}

// A large result is sent in no more messages than necessary, with at most 1 % overhead.
func TestMessagesOfALargeAnswer(t *testing.T) {
	const calls, size = 100, 256 << 10
	outer, inner := &meter{}, &meter{}
	r := newRig(t, outer, inner)
	r.call(t, size)
	for name, m := range map[string]*meter{"client and toolhost": outer, "toolhost and plugin": inner} {
		before := m.now()
		for range calls {
			r.call(t, size)
		}
		seen := m.now().minus(before)
		t.Logf("between %s: %+v in %d calls", name, seen, calls)
		if each := math.Round(float64(seen.Sent) / calls); each > 6 {
			t.Errorf("between %s an answer of 256 KiB is %.0f messages, want at most 6: pieces of 64 KiB, and the end", name, each)
		}
		if over := float64(seen.BytesSent)/calls/size - 1; over > 0.01 {
			t.Errorf("between %s an answer of 256 KiB is %.2f %% larger on its way, want at most 1 %%", name, 100*over)
		}
	}
}
