package trace

import (
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// The bounds of the spans that one call of a plugin may return. Spans beyond MaxSpans or MaxBytes
// are dropped. The other bounds clip the content of a span.
const (
	// MaxSpans is enough for a tool that asks a database in a loop, and too little to fill a
	// collector.
	MaxSpans = 128
	// MaxBytes bounds the frames with the spans of one call. MaxSpans spans with ten short
	// attributes each fit.
	MaxBytes = 128 << 10

	MaxName            = 128  // bytes of a name of a span, an event or an attribute
	MaxText            = 1024 // bytes of a text value, and of a status message
	MaxAttributes      = 32   // of a span
	MaxEvents          = 32   // of a span
	MaxEventAttributes = 8    // of an event
)

// Reserved is the prefix of the attribute keys that only toolhost sets.
const Reserved = "toolhost."

// Kind says how the operation of a span relates to other processes. The zero Kind is internal. The
// values are those of the contract.
type Kind uint8

// The kinds of spans.
const (
	Internal Kind = iota + 1
	Server
	Client
	Producer
	Consumer
)

// Status says whether the operation of a span succeeded. The zero Status says nothing. The values
// are those of the contract.
type Status uint8

// The statuses of spans.
const (
	OK Status = iota + 1
	Failed
)

// Span is an operation that has ended. The values of its attributes are of the kinds string, bool,
// int64 and float64.
type Span struct {
	ID         SpanID
	Parent     SpanID // zero: the span of the call
	Name       string
	Kind       Kind
	Start, End time.Time
	Attributes []slog.Attr
	Events     []Event
	Status     Status
	Message    string // why the operation failed
}

// Event is something that happened during a span.
type Event struct {
	Name       string
	Time       time.Time
	Attributes []slog.Attr
}

// Clip returns the span within the bounds of this package, with valid UTF-8 and without reserved
// attributes. The result shares no slice with the span.
func (s Span) Clip() Span {
	s.Name, s.Message = Cut(s.Name, MaxName), Cut(s.Message, MaxText)
	s.Attributes = clipAttributes(s.Attributes, MaxAttributes)
	events := s.Events[:min(len(s.Events), MaxEvents)]
	s.Events = make([]Event, 0, len(events))
	for _, e := range events {
		s.Events = append(s.Events, Event{Name: Cut(e.Name, MaxName), Time: e.Time, Attributes: clipAttributes(e.Attributes, MaxEventAttributes)})
	}
	return s
}

func clipAttributes(all []slog.Attr, most int) []slog.Attr {
	clipped := make([]slog.Attr, 0, min(len(all), most))
	for _, a := range all {
		if a.Key == "" || strings.HasPrefix(a.Key, Reserved) {
			continue
		}
		if len(clipped) == most {
			break
		}
		a.Key = Cut(a.Key, MaxName)
		switch a.Value.Kind() {
		case slog.KindString:
			a.Value = slog.StringValue(Cut(a.Value.String(), MaxText))
		case slog.KindBool, slog.KindInt64, slog.KindFloat64:
		default:
			continue
		}
		clipped = append(clipped, a)
	}
	return clipped
}

// Cut returns the beginning of a text as valid UTF-8, at most size bytes. It does not cut inside a
// character.
func Cut(text string, size int) string {
	if len(text) > size {
		for size > 0 && !utf8.RuneStart(text[size]) {
			size--
		}
		text = text[:size]
	}
	return strings.ToValidUTF8(text, "?")
}
