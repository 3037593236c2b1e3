package expr

import (
	"math"
	"math/big"
	"strconv"
)

// Numbers of digits that are shown if not all can be.
const (
	roundedDigits = 15  // of a rounded number: the precision of a float64
	quotientDigit = 30  // of a fraction without a finite decimal form
	maxDecimals   = 400 // after the point, of a fraction with a finite decimal form
	maxFraction   = 1000
)

// Number is an immutable value: exact, or rounded like a float64. The zero value is not a number.
type Number struct {
	rat     *big.Rat // nil if the number is rounded
	rounded float64
}

func exact(r *big.Rat) Number        { return Number{rat: r} }
func exactInt(i *big.Int) Number     { return Number{rat: new(big.Rat).SetInt(i)} }
func roundedTo(f float64) Number     { return Number{rounded: f} }
func (n Number) isWhole() bool       { return n.rat != nil && n.rat.IsInt() }
func size(r *big.Rat) (words int)    { return (r.Num().BitLen()+r.Denom().BitLen())/64 + 1 }
func fits(r *big.Rat) bool           { return max(r.Num().BitLen(), r.Denom().BitLen()) <= maxBits }
func floor(r *big.Rat) *big.Int      { return new(big.Int).Div(r.Num(), r.Denom()) }
func isPlusMinusOne(r *big.Rat) bool { return r.IsInt() && r.Num().BitLen() == 1 }

// Exact reports whether the number is exact, even if String rounds it.
func (n Number) Exact() bool { return n.rat != nil }

// String returns the number in decimal: all digits of an integer and of a fraction with a short
// decimal form, 30 significant digits of another fraction, 15 of a rounded number.
func (n Number) String() string {
	switch {
	case n.rat == nil:
		return strconv.FormatFloat(n.rounded+0, 'g', roundedDigits, 64) // adding 0 turns -0 into 0
	case n.rat.IsInt():
		return n.rat.Num().String()
	}
	if decimals, finite := n.rat.FloatPrec(); finite && decimals <= maxDecimals {
		return n.rat.FloatString(decimals)
	}
	return new(big.Float).SetPrec(4*quotientDigit).SetRat(n.rat).Text('g', quotientDigit)
}

// Fraction returns an exact number as numerator/denominator if String rounds it. It returns false
// if String is exact, if the number is rounded, and if the fraction is too long to be useful.
func (n Number) Fraction() (string, bool) {
	if n.rat == nil || n.rat.IsInt() {
		return "", false
	}
	if decimals, finite := n.rat.FloatPrec(); finite && decimals <= maxDecimals {
		return "", false
	}
	if max(n.rat.Num().BitLen(), n.rat.Denom().BitLen()) > 3*maxFraction {
		return "", false
	}
	return n.rat.String(), true
}

// exactly returns the number that String shows for a rounded number, or the exact number itself. A
// number that is shown as 3 thus also counts, compares and rounds as 3.
func (n Number) exactly() *big.Rat {
	if n.rat != nil {
		return n.rat
	}
	shown, _ := new(big.Rat).SetString(n.String())
	return shown
}

// sign returns -1, 0 or 1.
func (n Number) sign() int {
	if n.rat != nil {
		return n.rat.Sign()
	}
	switch {
	case n.rounded < 0:
		return -1
	case n.rounded > 0:
		return 1
	}
	return 0
}

// float returns the number as a float64, or an error if it is too large for one.
func (n Number) float(position int) (float64, error) {
	if n.rat == nil {
		return n.rounded, nil
	}
	f, _ := n.rat.Float64()
	if math.IsInf(f, 0) {
		return 0, errorAt(position, "a number beyond ±1.8e308 meets an operation that rounds; such numbers take part in exact operations alone: + - * / // %% !, powers of whole exponent, gcd, lcm, and ln, log2, log10 and log")
	}
	return f, nil
}

// whole returns the number as an integer. Otherwise it returns an error that says that who, such as
// a function, needs an integer.
func (n Number) whole(position int, who string) (*big.Int, error) {
	r := n.exactly()
	if !r.IsInt() {
		return nil, errorAt(position, "%s needs whole numbers, and %s is none", who, n.short())
	}
	return r.Num(), nil
}

// short returns the number for use in a message.
func (n Number) short() string {
	if n.rat == nil || size(n.rat) < 4 {
		return n.String()
	}
	return new(big.Float).SetPrec(64).SetRat(n.rat).Text('g', 6)
}
