package loop

import (
	"testing"

	"github.com/toolhost/toolhost/tool"
)

func TestSettlementsAreCounted(t *testing.T) {
	var s Settlements
	for _, said := range []*tool.Settlement{
		nil, {Verdict: tool.VerdictHappened}, {Verdict: tool.VerdictDidNotHappen}, {Verdict: tool.VerdictHappened}, {Verdict: tool.VerdictUnknown}, {},
	} {
		s.add(said)
	}
	if s != (Settlements{Happened: 2, Repeated: 1, Unknown: 2}) || s.Settled() != 3 {
		t.Errorf("counted %+v, %d settled", s, s.Settled())
	}
}
