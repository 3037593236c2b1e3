package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// A run is a span of a W3C trace, and each of its calls is a span below it. The journal has the
// trace context of each call, so that a line in a plugin's log leads to the run, and the reverse.

// traceparentPattern matches version 00 of the header: trace id, span id of the parent, flags.
var traceparentPattern = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$`)

// Trace returns the trace context of a call by the id that is sent. The result is always the same,
// also in another process. It is empty for a run of a version without traces.
func (r *RunStarted) Trace(sentID string) string {
	m := traceparentPattern.FindStringSubmatch(r.Traceparent)
	if m == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(r.Traceparent + " " + sentID))
	return "00-" + m[1] + "-" + hex.EncodeToString(sum[:8]) + "-" + m[3]
}

// ParseTraceparent returns the trace id and the flags of a W3C trace context; ok is false if it is
// ill-formed.
func ParseTraceparent(text string) (trace, flags string, ok bool) {
	m := traceparentPattern.FindStringSubmatch(text)
	if m == nil || strings.Trim(m[1], "0") == "" || strings.Trim(m[2], "0") == "" {
		return "", "", false
	}
	return m[1], m[3], true
}
