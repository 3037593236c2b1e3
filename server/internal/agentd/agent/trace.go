package agent

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// traceOf returns the trace context of a task's run, and the span of its caller in hexadecimal. It
// starts a new trace if the caller's context is empty or ill-formed, as the standard requires, or
// if the configuration does not trust callers. A sub-run always continues the trace of its parent.
func (config *configured) traceOf(task *loop.Task) (traceparent, parentSpan string) {
	observer := config.Observer
	trace, flags, ok := loop.ParseTraceparent(task.Traceparent)
	if ok && (task.Parent != nil || config.TrustCallers) {
		parentSpan = task.Traceparent[36:52]
	} else {
		trace, flags = randomHex(16), sampled
		if observer != nil && !observer.Sampled() {
			flags = notSampled
		}
	}
	return "00-" + trace + "-" + randomHex(8) + "-" + flags, parentSpan
}

// The flags of a trace that begins with a run. Without an observer the trace is marked as sampled,
// so that a toolhost that records traces also records the calls of the run.
const (
	sampled    = "01"
	notSampled = "00"
)

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails; an all-zero id, which is invalid, is too unlikely to check
	return hex.EncodeToString(b)
}
