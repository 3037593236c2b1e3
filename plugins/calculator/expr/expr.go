// Package expr evaluates arithmetic expressions. It owns the notation, the numbers, and the limits
// of the work for one expression. It has no variables, no assignment and no way to run code.
//
// Whole numbers, decimals and fractions are exact within the size limits. Roots with at most 30
// digits and powers are exact too; other results are rounded. The parser evaluates as it reads, so
// there is no syntax tree, and every limit is checked before the work is done.
package expr

import (
	"context"
	"fmt"
	"math/big"
	"unicode/utf8"
)

// Limits. The first two keep the parser's work and stack small. maxBits allows 10000! and 2^100000,
// which print in milliseconds. maxWork stops an expression that combines many large numbers.
const (
	maxLength    = 4096    // bytes of an expression
	maxDepth     = 128     // nesting of parentheses, calls, signs and exponents
	maxExponent  = 5000    // of a literal such as 1e5000; more can be written as a power
	maxBits      = 1 << 17 // of a numerator or denominator
	maxDigits    = 39_456  // decimal digits of the largest number of maxBits
	maxFactorial = 10_000
	maxRounding  = 1000    // the second argument of round
	maxWork      = 1 << 30 // products of machine words; about a second
)

// Error says what is wrong with an expression and what is allowed.
type Error struct {
	// Position is the character of the error, counted from 1.
	Position int
	// Problem says what was found and what is allowed.
	Problem string
}

// Error returns position and problem.
func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Problem) }

// Eval computes an expression. Its errors are *Error, for the author of the expression, or ctx's
// error. It stops soon after ctx ends, between two operations. It is safe for concurrent use.
func Eval(ctx context.Context, expression string) (Number, error) {
	p := &parser{ctx: ctx, expression: expression}
	n := p.parse()
	return n, p.err
}

// fail ends the expression with an error. Only the first error counts: after it, the parser sees
// the end of the expression, and operations return 0.
func (p *parser) fail(at int, format string, args ...any) Number {
	if p.err == nil {
		p.err = &Error{Position: p.position(at), Problem: fmt.Sprintf(format, args...)}
	}
	p.at, p.token = len(p.expression), ""
	return Number{rat: new(big.Rat)}
}

func (p *parser) position(at int) int { return utf8.RuneCountInString(p.expression[:at]) + 1 }

// spend counts work before it is done. It reports whether the work may be done.
func (p *parser) spend(at, work int) bool {
	if err := p.ctx.Err(); err != nil && p.err == nil {
		p.err = fmt.Errorf("computing the expression: %w", err)
	}
	if p.work += work; work > maxWork || p.work > maxWork {
		p.fail(at, "the expression has too many operations on large numbers; compute it in parts, or with smaller numbers")
	}
	return p.err == nil
}

// result checks the size of a result.
func (p *parser) result(at int, n Number) Number {
	if max(n.rat.Num().BitLen(), n.rat.Denom().BitLen()) > maxBits {
		return p.fail(at, "the result has more than %d digits, the most that are computed", maxDigits)
	}
	return n
}
