package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// A run is a span of a trace, in the sense of W3C's trace context, and each of its calls is a span below it. What the
// agent sends with a call is in the journal, so that whoever has a line of a plugin's log finds the run, and the reverse.

// traceparentPattern is version 00 of the header: trace id, the parent's span id, flags.
var traceparentPattern = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$`)

// trace returns the trace context of a call by the id that is sent: always the same one, also in another process. Empty
// for a run of a version that had none.
func (r *RunStarted) Trace(sentID string) string {
	m := traceparentPattern.FindStringSubmatch(r.Traceparent)
	if m == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(r.Traceparent + " " + sentID))
	return "00-" + m[1] + "-" + hex.EncodeToString(sum[:8]) + "-" + m[3]
}

// ParseTraceparent returns the trace id and the flags of a W3C trace context; ok is false if it is ill-formed.
func ParseTraceparent(text string) (trace, flags string, ok bool) {
	m := traceparentPattern.FindStringSubmatch(text)
	if m == nil || strings.Trim(m[1], "0") == "" || strings.Trim(m[2], "0") == "" {
		return "", "", false
	}
	return m[1], m[3], true
}
