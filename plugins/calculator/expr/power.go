package expr

import (
	"math/big"

	"github.com/cockroachdb/apd/v3"
)

// What a function of apd costs on numbers of workDigits, and more for each word of a larger number.
const (
	decimalWork     = 1 << 20
	decimalWordWork = 45_000
)

// decimal computes a function of apd.
func (p *parser) decimal(at int, who string, n Number, f func(ctx *apd.Context, d, x *apd.Decimal) (apd.Condition, error)) Number {
	if !p.spend(at, decimalWork+size(n.rat)*(size(n.rat)+decimalWordWork)) {
		return n
	}
	d := new(apd.Decimal)
	if _, err := f(apd.BaseContext.WithPrecision(workDigits), d, decimal(n.rat, workDigits)); err != nil || max(d.Exponent, -d.Exponent) > maxDigits {
		return p.fail(at, "%s of %s has no number of at most %d digits", who, n.short(), maxDigits)
	}
	return p.result(at, Number{rational(d), true})
}

// power computes a^b. The result of exact numbers is exact if it is a whole power of a fraction of
// at most quotientDigits.
func (p *parser) power(at int, a, b Number) Number {
	y := b.rat
	if shown := b.exactly(); shown.IsInt() {
		y = shown
	}
	switch {
	case y.Sign() == 0:
		return Number{rat: big.NewRat(1, 1)}
	case a.rat.Sign() == 0 && y.Sign() < 0:
		return p.fail(at, "0 to a negative power is a division by zero")
	case a.rat.Sign() < 0 && !y.IsInt():
		return p.fail(at, "%s to the power of %s is no real number; for a cube root use cbrt", a.short(), b.short())
	}
	k := y.Denom()
	if exact := !a.rounded && !b.rounded; exact && y.IsInt() {
		return p.wholePower(at, a.rat, y.Num())
	} else if exact && k.BitLen() < 8 {
		root := p.arithmetic(at, "/", p.root(at, a.rat.Num(), k), p.root(at, a.rat.Denom(), k))
		if p.wholePower(at, root.rat, k).rat.Cmp(a.rat) == 0 {
			return p.wholePower(at, root.rat, y.Num())
		}
	}
	return p.roundedPower(at, a, y)
}

func (p *parser) roundedPower(at int, a Number, y *big.Rat) Number {
	// apd raises to the whole part of y bit by bit.
	if !p.spend(at, y.Num().BitLen()*y.Num().BitLen()) {
		return a
	}
	return p.decimal(at, "the power", a, func(ctx *apd.Context, d, x *apd.Decimal) (apd.Condition, error) {
		switch y.String() {
		case "1/2":
			return ctx.Sqrt(d, x)
		case "1/3":
			return ctx.Cbrt(d, x)
		}
		return ctx.Pow(d, x, decimal(y, workDigits))
	})
}

// root returns the k-th root of n, rounded to quotientDigits so that the error of its computation
// cannot show.
func (p *parser) root(at int, n, k *big.Int) Number {
	root := p.roundedPower(at, Number{rat: new(big.Rat).SetInt(n)}, new(big.Rat).SetFrac(big.NewInt(1), k))
	return Number{rat: rational(decimal(root.rat, quotientDigits))}
}

// wholePower computes base^n. base must not be 0 if n is negative. It refuses a result that would
// be too large before it computes anything.
func (p *parser) wholePower(at int, base *big.Rat, n *big.Int) Number {
	bits := max(base.Num().BitLen(), base.Denom().BitLen())
	if bits == 1 { // 0, 1 or -1
		n = new(big.Int).And(n, big.NewInt(1))
		n.Add(n, big.NewInt(2)) // of the same parity, and not 0
	}
	magnitude := new(big.Int).Abs(n)
	// A factor of b bits is at least 2^(b-1), so a result that passes this test has at most twice
	// maxBits.
	if !magnitude.IsInt64() || magnitude.Int64() > int64(maxBits/max(1, bits-1)) {
		digits := new(big.Rat).SetFrac(new(big.Int).Mul(magnitude, big.NewInt(int64(max(1, bits-1)))), big.NewInt(1))
		digits.Mul(digits, big.NewRat(30103, 100000))
		return p.fail(at, "the power would have at least %s digits, and at most %d are computed; use log10 for its size or pow(base, exponent, modulus) for its remainder", show(digits, 3), maxDigits)
	}
	words := bits * int(magnitude.Int64()) / 64
	if !p.spend(at, words*words) {
		return Number{rat: base}
	}
	numerator, denominator := new(big.Int).Exp(base.Num(), magnitude, nil), new(big.Int).Exp(base.Denom(), magnitude, nil)
	if n.Sign() < 0 {
		numerator, denominator = denominator, numerator
	}
	return p.result(at, Number{rat: new(big.Rat).SetFrac(numerator, denominator)})
}
