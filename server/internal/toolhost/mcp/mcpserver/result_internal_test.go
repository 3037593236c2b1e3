package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// A client learns that the outcome of its call was settled, and how.
func TestAResultSaysHowItWasSettled(t *testing.T) {
	outcome := tool.Outcome{CallID: "order-17", Result: tool.TextResult("paid")}
	for want, said := range map[string]*tool.Settlement{
		`"toolhost/settled":{"verdict":"happened","reason":"the book says so"}`: {Verdict: tool.VerdictHappened, Reason: "the book says so"},
		`"toolhost/settled":{"verdict":"did_not_happen"}`:                       {Verdict: tool.VerdictDidNotHappen},
	} {
		outcome.Settled = said
		if text, err := json.Marshal(resultOf(&outcome, false, "s")); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the result is %s, %v, want %s", text, err, want)
		}
	}
	outcome.Settled = nil
	if r := resultOf(&outcome, false, "s"); r.Meta[metaSettled] != nil {
		t.Errorf("a call that was not settled has %v", r.Meta)
	}
}
