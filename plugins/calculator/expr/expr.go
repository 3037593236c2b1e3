// Package expr computes arithmetic expressions: it owns the notation, the numbers and the bounds on the work that one
// expression may cause. It has no variables, no assignment and no way to run anything, and it knows nothing of tools.
//
// Whole numbers, decimals and fractions are exact, whatever their size within the bounds; roots, powers and logarithms
// are exact where their result is rational. All else is rounded like a float64. Every bound is checked before the work
// that it bounds is done.
package expr

import "context"

// The bounds. The first two keep the parser's work and stack small. maxBits admits 10000! and 2^100000 and prints in
// milliseconds; maxWork stops an expression that fits many large numbers, which alone are fine, into its few characters.
const (
	maxLength    = 4096    // bytes of an expression
	maxDepth     = 128     // parentheses, calls, signs and exponents inside each other
	maxExponent  = 5000    // of a literal such as 1e5000; more can be written as a power
	maxBits      = 1 << 17 // of a numerator or denominator
	maxDigits    = 39_456  // decimal digits of the largest number of maxBits
	maxFactorial = 10_000
	maxWork      = 1 << 30 // products of machine words; about a second
)

// Eval computes an expression. Its errors are *Error, for whoever wrote the expression, or ctx's: it stops soon after
// ctx ends, between one operation and the next. It may be called from several goroutines.
func Eval(ctx context.Context, expression string) (Number, error) {
	tree, err := parse(expression)
	if err != nil {
		return Number{}, err
	}
	return tree.eval(&machine{ctx: ctx})
}
