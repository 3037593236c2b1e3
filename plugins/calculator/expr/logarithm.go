package expr

import (
	"math"
	"math/big"
)

// logarithm computes the logarithm of x to a base. The result is exact if x is an integer power of
// the base.
func (m *machine) logarithm(position int, x, base Number) (Number, error) {
	if x.sign() <= 0 || base.sign() <= 0 {
		return Number{}, errorAt(position, "a logarithm needs numbers above 0, and got %s", smaller(x, base).short())
	}
	if err := m.spend(position, 1); err != nil {
		return Number{}, err
	}
	divisor := base.ln()
	if divisor == 0 {
		return Number{}, errorAt(position, "there is no logarithm to base 1")
	}
	quotient := x.ln() / divisor
	candidate := math.Round(quotient)
	if x.rat != nil && base.rat != nil && math.Abs(quotient-candidate) < 1e-6 && math.Abs(candidate) <= maxBits {
		// The candidate is close to the logarithm, so the power is about as large as x.
		power, err := m.wholePower(position, base.rat, big.NewInt(int64(candidate)))
		if err == nil && power.rat.Cmp(x.rat) == 0 {
			return exact(new(big.Rat).SetFloat64(candidate)), nil
		}
	}
	return finite(position, "the logarithm", quotient)
}

// ln returns the natural logarithm of a number above 0.
func (n Number) ln() float64 {
	if n.rat == nil {
		return math.Log(n.rounded)
	}
	return naturalLog(n.rat)
}

// naturalLog returns the natural logarithm of r. r must be positive and may exceed the range of a
// float64.
func naturalLog(r *big.Rat) float64 {
	// Near 1, the difference from 1 determines all digits of the result.
	difference, _ := new(big.Rat).Sub(r, big.NewRat(1, 1)).Float64()
	if math.Abs(difference) < 0.25 {
		return math.Log1p(difference)
	}
	if f, _ := r.Float64(); f > 0 && !math.IsInf(f, 1) {
		return math.Log(f)
	}
	var mantissa big.Float
	exponent := new(big.Float).SetPrec(64).SetRat(r).MantExp(&mantissa)
	f, _ := mantissa.Float64()
	return math.Log(f) + float64(exponent)*math.Ln2
}

func smaller(a, b Number) Number {
	if b.exactly().Cmp(a.exactly()) < 0 {
		return b
	}
	return a
}
