package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// A run is a span of a trace, in the sense of W3C's trace context, and each of its calls is a span below it. What the
// agent sends with a call is in the journal, so that whoever has a line of a plugin's log finds the run, and the reverse.

// traceparentPattern is version 00 of the header: trace id, the parent's span id, flags.
var traceparentPattern = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$`)

const sampled = "01"

// traceOf returns the trace context of a run that is started in another one, which may be none. One that is ill-formed
// counts as none, as the standard wants it.
func traceOf(parent string) string {
	trace, flags := "", sampled
	if m := traceparentPattern.FindStringSubmatch(parent); m != nil && strings.Trim(m[1], "0") != "" && strings.Trim(m[2], "0") != "" {
		trace, flags = m[1], m[3]
	} else {
		trace = randomHex(16)
	}
	return "00-" + trace + "-" + randomHex(8) + "-" + flags
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails; it is all zeroes, which would be no id, about never
	return hex.EncodeToString(b)
}

// trace returns the trace context of a call by the id that is sent: always the same one, also in another process. Empty
// for a run of a version that had none.
func (r *RunStarted) trace(sentID string) string {
	m := traceparentPattern.FindStringSubmatch(r.Traceparent)
	if m == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(r.Traceparent + " " + sentID))
	return "00-" + m[1] + "-" + hex.EncodeToString(sum[:8]) + "-" + m[3]
}
