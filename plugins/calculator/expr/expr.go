// Package expr evaluates arithmetic expressions. It owns the notation, the numbers, and the limits
// of the work for one expression. It has no variables, no assignment and no way to run code.
//
// Integers, decimals and fractions are exact within the size limits. Roots, powers and logarithms
// are exact if the result is rational. Other results are rounded like a float64. Every limit is
// checked before the work is done.
package expr

import "context"

// Limits. The first two keep the parser's work and stack small. maxBits allows 10000! and 2^100000,
// which print in milliseconds. maxWork stops an expression that combines many large numbers.
const (
	maxLength    = 4096    // bytes of an expression
	maxDepth     = 128     // nesting of parentheses, calls, signs and exponents
	maxExponent  = 5000    // of a literal such as 1e5000; more can be written as a power
	maxBits      = 1 << 17 // of a numerator or denominator
	maxDigits    = 39_456  // decimal digits of the largest number of maxBits
	maxFactorial = 10_000
	maxWork      = 1 << 30 // products of machine words; about a second
)

// Eval computes an expression. Its errors are *Error, for the author of the expression, or ctx's
// error. It stops soon after ctx ends, between two operations. It is safe for concurrent use.
func Eval(ctx context.Context, expression string) (Number, error) {
	tree, err := parse(expression)
	if err != nil {
		return Number{}, err
	}
	return tree.eval(&machine{ctx: ctx})
}
