package toolpb

import (
	"encoding/json"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/toolhost/toolhost/tool"
)

// validText returns s with each run of invalid UTF-8 replaced by U+FFFD, because protobuf strings
// must be valid UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) { // ten times as fast as ToValidUTF8 if s is valid
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func validTexts(in []string) []string {
	if len(in) == 0 {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = validText(s)
	}
	return out
}

func toTexts(in []string) []string {
	if len(in) == 0 {
		return nil
	}
	return in
}

// finite returns f, or 0 for values that JSON cannot represent.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// cost returns a cost as a number from 0 to tool.MaxCost. Values that JSON cannot represent, and
// negative ones, become 0.
func cost(f float64) float64 { return min(max(finite(f), 0), tool.MaxCost) }

// FromDuration returns nil for a duration that is not positive.
func FromDuration(d time.Duration) *durationpb.Duration {
	if d <= 0 {
		return nil
	}
	return durationpb.New(d)
}

// ToDuration returns 0 for nil and for a duration that is not positive. A duration that exceeds
// time.Duration becomes the longest one.
func ToDuration(d *durationpb.Duration) time.Duration { return max(d.AsDuration(), 0) }

// FromTime returns nil for the zero time.
func FromTime(t time.Time) *timestamppb.Timestamp {
	ts := timestamppb.New(t)
	if t.IsZero() || ts.CheckValid() != nil {
		return nil
	}
	return ts
}

// ToTime returns the time in UTC. nil and times outside the years 1 to 9999 become the zero time.
func ToTime(ts *timestamppb.Timestamp) time.Time {
	if ts == nil || ts.CheckValid() != nil {
		return time.Time{}
	}
	return ts.AsTime()
}

// FromValues converts JSON values by key.
func FromValues(in map[string]json.RawMessage) map[string][]byte {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string][]byte, len(in))
	for k, v := range in {
		out[validText(k)] = v
	}
	return out
}

// ToValues converts JSON values by key.
func ToValues(in map[string][]byte) map[string]json.RawMessage {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]json.RawMessage, len(in))
	for k, v := range in {
		out[k] = v
	}
	return out
}

// rawJSON returns nil for an empty value, so that both forms of empty compare equal after a round
// trip.
func rawJSON(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return b
}

func bytesOf(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// words maps the values of package tool to the values of a protobuf enumeration and back. It is
// immutable.
type words[W ~string, E ~int32] struct {
	byWord  map[W]E
	byValue map[E]W
}

func pairs[W ~string, E ~int32](byWord map[W]E) words[W, E] {
	byValue := make(map[E]W, len(byWord))
	for w, e := range byWord {
		byValue[e] = w
	}
	return words[W, E]{byWord: byWord, byValue: byValue}
}

// from returns 0, which is UNSPECIFIED in every enumeration, for an unknown value.
func (p words[W, E]) from(w W) E { return p.byWord[w] }

// to returns unknown for a value that is not in the map.
func (p words[W, E]) to(e E, unknown W) W {
	if w, ok := p.byValue[e]; ok {
		return w
	}
	return unknown
}
