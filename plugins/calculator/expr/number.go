package expr

import (
	"math/big"

	"github.com/cockroachdb/apd/v3"
)

// Numbers of digits. Rounded numbers are computed with more digits than they show, so that errors
// of several operations do not show.
const (
	workDigits     = 50
	roundedDigits  = 15   // shown of a rounded number
	quotientDigits = 30   // shown of a fraction without a finite decimal form
	maxDecimals    = 400  // shown after the point, of a fraction with a finite decimal form
	maxFraction    = 3000 // bits of the numerator or denominator of a fraction
)

// Number is an immutable value: exact, or rounded to workDigits. The zero value is not a number.
type Number struct {
	rat     *big.Rat
	rounded bool
}

// Exact reports whether the number is exact, even if String rounds it.
func (n Number) Exact() bool { return !n.rounded }

// String returns the number in decimal: all digits of an integer and of a fraction with a short
// decimal form, 30 significant digits of another fraction, 15 of a rounded number.
func (n Number) String() string {
	if n.rounded {
		return show(n.rat, roundedDigits)
	}
	if decimals, ok := n.decimals(); ok {
		return n.rat.FloatString(decimals)
	}
	return show(n.rat, quotientDigits)
}

// Fraction returns an exact number as numerator/denominator if String rounds it. It returns false
// if String is exact, if the number is rounded, and if the fraction is too long to be useful.
func (n Number) Fraction() (string, bool) {
	if _, short := n.decimals(); short || n.rounded || max(n.rat.Num().BitLen(), n.rat.Denom().BitLen()) > maxFraction {
		return "", false
	}
	return n.rat.String(), true
}

// decimals returns the number of digits after the point and whether all of them are shown.
func (n Number) decimals() (int, bool) {
	decimals, finite := n.rat.FloatPrec()
	return decimals, finite && decimals <= maxDecimals
}

// exactly returns the number that String shows for a rounded number, or the exact number itself. A
// number that is shown as 3 thus also counts, compares and rounds as 3.
func (n Number) exactly() *big.Rat {
	if !n.rounded {
		return n.rat
	}
	return rational(decimal(n.rat, roundedDigits))
}

// short returns the number for use in a message.
func (n Number) short() string { return show(n.rat, roundedDigits) }

// size returns the number of machine words of a number.
func size(r *big.Rat) int { return (r.Num().BitLen()+r.Denom().BitLen())/64 + 1 }

// decimal rounds a number. The bounds of exponents are beyond all numbers of maxBits.
func decimal(r *big.Rat, digits uint32) *apd.Decimal {
	whole := func(i *big.Int) *apd.Decimal { return apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(i), 0) }
	d := new(apd.Decimal)
	_, _ = apd.BaseContext.WithPrecision(digits).Quo(d, whole(r.Num()), whole(r.Denom()))
	return d
}

func rational(d *apd.Decimal) *big.Rat {
	r, _ := new(big.Rat).SetString(d.Text('e'))
	return r
}

// show returns a number with a number of significant digits, in scientific notation if zeros would
// have to stand for digits that were rounded away.
func show(r *big.Rat, digits uint32) string {
	d := decimal(r, digits)
	d.Reduce(d)
	if d.Exponent > 0 && d.NumDigits()+int64(d.Exponent) <= int64(digits) {
		return d.Text('f')
	}
	return d.Text('g')
}
