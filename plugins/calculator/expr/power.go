package expr

import (
	"math"
	"math/big"
)

// maxRoot is the largest root for which an exact result is tried.
const maxRoot = 64

// power computes a^b. The result is exact if both are exact and the result is rational.
func (m *machine) power(position int, a, b Number) (Number, error) {
	if a.sign() == 0 && b.sign() < 0 {
		return Number{}, errorAt(position, "0 to a negative power is a division by zero")
	}
	if a.rat != nil && b.isWhole() {
		return m.wholePower(position, a.rat, b.rat.Num())
	}
	if a.sign() < 0 && !b.exactly().IsInt() {
		return Number{}, errorAt(position, "a negative number to a power that is not whole is no real number; for a cube root use cbrt")
	}
	if a.rat != nil && b.rat != nil && b.rat.Denom().IsInt64() && b.rat.Denom().Int64() <= maxRoot {
		root, ok, err := m.root(position, a.rat, int(b.rat.Denom().Int64()))
		if err != nil {
			return Number{}, err
		}
		if ok {
			return m.wholePower(position, root, b.rat.Num())
		}
	}
	x, err := a.float(position)
	if err != nil {
		return Number{}, err
	}
	y, err := b.float(position)
	if err != nil {
		return Number{}, err
	}
	if err := m.spend(position, 1); err != nil {
		return Number{}, err
	}
	return finite(position, "the power", math.Pow(x, y))
}

// wholePower computes base^n. base must not be 0 if n is negative. It refuses a result that would
// be too large before it computes anything.
func (m *machine) wholePower(position int, base *big.Rat, n *big.Int) (Number, error) {
	switch {
	case n.Sign() == 0:
		return exact(big.NewRat(1, 1)), nil
	case base.Sign() == 0, isPlusMinusOne(base) && n.Bit(0) == 1:
		return exact(base), nil
	case isPlusMinusOne(base):
		return exact(big.NewRat(1, 1)), nil
	}
	magnitude := new(big.Int).Abs(n)
	// A factor of b bits is at least 2^(b-1), so a result that passes this test has at most twice
	// maxBits.
	bits := max(base.Num().BitLen(), base.Denom().BitLen())
	if !magnitude.IsInt64() || magnitude.Int64() > int64(maxBits/(bits-1)) {
		return Number{}, errorAt(position, "the power would have %s digits, and at most %d are computed; use log10 for its size or pow(base, exponent, modulus) for its remainder", estimate(base, magnitude), maxDigits)
	}
	words := bits * int(magnitude.Int64()) / 64
	if err := m.spend(position, words*words); err != nil {
		return Number{}, err
	}
	numerator := new(big.Int).Exp(base.Num(), magnitude, nil)
	denominator := new(big.Int).Exp(base.Denom(), magnitude, nil)
	if n.Sign() < 0 {
		numerator, denominator = denominator, numerator
	}
	return m.result(position, new(big.Rat).SetFrac(numerator, denominator))
}

// estimate returns the number of digits of the numerator or denominator of base^n, whichever is
// longer.
func estimate(base *big.Rat, n *big.Int) string {
	longer := new(big.Int).Abs(base.Num())
	if longer.Cmp(base.Denom()) < 0 {
		longer = base.Denom()
	}
	digits := new(big.Float).SetInt(n)
	digits.Mul(digits, big.NewFloat(naturalLog(new(big.Rat).SetInt(longer))/math.Ln10))
	return "about " + digits.Text('g', 6)
}

// root returns the exact k-th root of x if there is one. x must not be negative.
func (m *machine) root(position int, x *big.Rat, k int) (*big.Rat, bool, error) {
	// Newton's method starts within a factor of two and doubles the number of correct digits in
	// each step.
	if err := m.spend(position, 32*size(x)*size(x)); err != nil {
		return nil, false, err
	}
	denominator, ok := wholeRoot(x.Denom(), k)
	if !ok {
		return nil, false, nil
	}
	numerator, ok := wholeRoot(x.Num(), k)
	if !ok {
		return nil, false, nil
	}
	return new(big.Rat).SetFrac(numerator, denominator), true, nil
}

// wholeRoot returns the k-th root of n rounded down, for n ≥ 0 and k ≥ 1, and whether it is exact.
func wholeRoot(n *big.Int, k int) (*big.Int, bool) {
	if n.Sign() == 0 || k == 1 {
		return n, true
	}
	power := func(x *big.Int, e int) *big.Int { return new(big.Int).Exp(x, big.NewInt(int64(e)), nil) }
	// If the start is above the root, each step decreases x until it reaches the root.
	x := new(big.Int).Lsh(big.NewInt(1), uint((n.BitLen()+k-1)/k))
	for {
		next := new(big.Int).Quo(n, power(x, k-1))
		next.Add(next, new(big.Int).Mul(x, big.NewInt(int64(k-1))))
		next.Quo(next, big.NewInt(int64(k)))
		if next.Cmp(x) >= 0 {
			return x, power(x, k).Cmp(n) == 0
		}
		x = next
	}
}

// modularPower computes the remainder of base^exponent divided by a modulus.
func (m *machine) modularPower(position int, arguments []Number) (Number, error) {
	values := make([]*big.Int, len(arguments))
	for i, argument := range arguments {
		var err error
		if values[i], err = argument.whole(position, "pow with a modulus"); err != nil {
			return Number{}, err
		}
	}
	base, exponent, modulus := values[0], values[1], values[2]
	if exponent.Sign() < 0 || modulus.Sign() <= 0 {
		return Number{}, errorAt(position, "pow with a modulus needs an exponent of at least 0 and a modulus of at least 1")
	}
	words := modulus.BitLen()/64 + 1
	// No number has more than maxBits bits, so no operand of these products is larger than
	// maxBits+1, and the sum of the products does not overflow 64 bits.
	if err := m.spend(position, words*words*(exponent.BitLen()+1)+base.BitLen()/64*words); err != nil {
		return Number{}, err
	}
	return exactInt(new(big.Int).Exp(base, exponent, modulus)), nil
}
