package agent

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/toolhost/toolhost/internal/agent/loop"
)

// traceOf returns the trace context of a run that is started in another one, which may be none. One that is ill-formed
// counts as none, as the standard wants it.
func traceOf(parent string) string {
	trace, flags, ok := loop.ParseTraceparent(parent)
	if !ok {
		trace, flags = randomHex(16), sampled
	}
	return "00-" + trace + "-" + randomHex(8) + "-" + flags
}

// sampled are the flags of a trace that begins with a run.
const sampled = "01"

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails; it is all zeroes, which would be no id, about never
	return hex.EncodeToString(b)
}
