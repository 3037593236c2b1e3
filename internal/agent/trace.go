package agent

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/toolhost/toolhost/internal/agent/loop"
)

// traceOf returns the trace context of a run that starts within another trace context. An empty or
// ill-formed one starts a new trace, as the standard requires.
func traceOf(parent string) string {
	trace, flags, ok := loop.ParseTraceparent(parent)
	if !ok {
		trace, flags = randomHex(16), sampled
	}
	return "00-" + trace + "-" + randomHex(8) + "-" + flags
}

// sampled is the flags of a trace that begins with a run.
const sampled = "01"

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails; an all-zero id, which is invalid, is too unlikely to check
	return hex.EncodeToString(b)
}
