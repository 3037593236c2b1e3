package agentserver

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// A refusal counts for its caller, and for a while.
func TestRefusalsOfToolhost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r refusals
		r.add("ada", "no right")
		if r.of("ada") != "no right" || r.of("bob") != "" {
			t.Error("a refusal counts for another caller, or not at all")
		}
		time.Sleep(refusalLife)
		if r.of("ada") != "" {
			t.Error("a refusal counts for ever")
		}
		for i := range maxRefusals + 1 {
			r.add(strconv.Itoa(i), "no")
		}
		if len(r.why) > maxRefusals {
			t.Error("refusals have no bound")
		}
	})
}
