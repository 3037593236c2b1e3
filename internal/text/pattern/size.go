// Package pattern estimates the work of regular expressions: the number of states of a pattern with
// its repetitions written out, which bounds the steps for each character of a text. Callers decide
// how much work is too much.
package pattern

import (
	"math/bits"
	"regexp/syntax"
)

// Size returns the number of states of a pattern with its repetitions written out, at least 1.
// Matching a text takes at most about Size steps for each byte. The Size of an invalid pattern is
// its length.
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
		n = 1 + bits.Len(uint(len(re.Rune))) // matching searches the class by bisection
	}
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1) // syntax.Parse bounds the product
	}
	return n
}
