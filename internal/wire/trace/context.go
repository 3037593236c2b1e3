// Package trace defines the terms of distributed traces as plain types: the W3C trace context of a
// call, and the finished spans that a plugin returns.
//
// It does not know the contracts and exports nothing. internal/wire/pluginwire carries the types
// between toolhost and plugins, and server/internal/telemetry translates them to OpenTelemetry.
package trace

import (
	"crypto/rand"
	"encoding/hex"
)

// TraceID names a trace, and SpanID a span in it. A zero id is invalid.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// Valid reports whether the id is not zero.
func (id TraceID) Valid() bool { return id != TraceID{} }

// String returns the id in hexadecimal.
func (id TraceID) String() string { return hex.EncodeToString(id[:]) }

// Valid reports whether the id is not zero.
func (id SpanID) Valid() bool { return id != SpanID{} }

// NewSpanID returns a random id.
func NewSpanID() (id SpanID) {
	for !id.Valid() {
		rand.Read(id[:]) // never fails
	}
	return id
}

// Context is a W3C trace context: a span, and whether its process records it. The zero Context is
// invalid.
type Context struct {
	Trace   TraceID
	Span    SpanID
	Sampled bool
}

// length is the length of a traceparent of version 00.
const length = len("00-") + 32 + len("-") + 16 + len("-") + 2

// Parse reads a traceparent of version 00. ok is false if the text is anything else; the W3C
// standard then requires that the receiver starts a new trace.
func Parse(text string) (c Context, ok bool) {
	if len(text) != length || text[:3] != "00-" || text[35] != '-' || text[52] != '-' {
		return Context{}, false
	}
	var flags [1]byte
	if !parseHex(c.Trace[:], text[3:35]) || !parseHex(c.Span[:], text[36:52]) || !parseHex(flags[:], text[53:]) {
		return Context{}, false
	}
	c.Sampled = flags[0]&1 != 0
	return c, c.Valid()
}

// ParseSpanID reads an id in hexadecimal.
func ParseSpanID(text string) (id SpanID, ok bool) {
	ok = len(text) == 2*len(id) && parseHex(id[:], text)
	return id, ok && id.Valid()
}

// String returns the id in hexadecimal.
func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// parseHex reads lower-case hexadecimal digits, the only ones that the standard allows.
func parseHex(to []byte, text string) bool {
	for i := range to {
		high, low := digit(text[2*i]), digit(text[2*i+1])
		if high < 0 || low < 0 {
			return false
		}
		to[i] = byte(high<<4 | low)
	}
	return true
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// Valid reports whether both ids are valid.
func (c Context) Valid() bool { return c.Trace.Valid() && c.Span.Valid() }

// String returns the traceparent, or "" for an invalid Context.
func (c Context) String() string {
	if !c.Valid() {
		return ""
	}
	var text [length]byte
	copy(text[:], "00-")
	hex.Encode(text[3:], c.Trace[:])
	text[35] = '-'
	hex.Encode(text[36:], c.Span[:])
	copy(text[52:], "-00")
	if c.Sampled {
		text[length-1] = '1'
	}
	return string(text[:])
}
