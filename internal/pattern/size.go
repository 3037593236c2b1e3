// Package pattern bounds the work of regular expressions: it says how large a pattern is when its repetitions are written
// out, which is how many steps each character of a text may take. It does not know where patterns and texts come from, nor
// how much work is too much.
package pattern

import (
	"math/bits"
	"regexp/syntax"
)

// Size returns how many states a pattern has when its repetitions are written out, at least 1. Matching a text takes at
// most about Size steps for each of its bytes. A text that is no pattern has its own length.
func Size(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return max(1, len(text))
	}
	return size(parsed)
}

func size(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1 + bits.Len(uint(len(re.Rune))) // the class is searched by halves
	}
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1) // syntax.Parse bounds the product
	}
	return n
}
