package hostpb

import (
	"math"
	"strings"
	"unicode/utf8"
)

// valid returns s as UTF-8, which a proto string must be.
func valid(s string) string {
	if utf8.ValidString(s) { // ten times as fast as ToValidUTF8 is where there is nothing to do
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func valids(in []string) []string {
	if len(in) == 0 {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = valid(s)
	}
	return out
}

func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func uint32Of(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }
