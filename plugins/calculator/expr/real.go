package expr

import (
	"math"
	"math/big"
)

// real1 returns a function with a rounded result.
func real1(who string, f func(float64) float64) func(*machine, int, []Number) (Number, error) {
	return func(m *machine, position int, a []Number) (Number, error) {
		if err := m.spend(position, 1); err != nil {
			return Number{}, err
		}
		x, err := a[0].float(position)
		if err != nil {
			return Number{}, err
		}
		return finite(position, who+"("+a[0].short()+")", f(x))
	}
}

func arcTangent(m *machine, position int, a []Number) (Number, error) {
	x, err := a[1].float(position)
	if err != nil {
		return Number{}, err
	}
	return real1("atan2", func(y float64) float64 { return math.Atan2(y, x) })(m, position, a[:1])
}

// rootOf returns a square or cube root function. Its result is exact if the root is rational.
func rootOf(k int, f func(float64) float64) func(*machine, int, []Number) (Number, error) {
	return func(m *machine, position int, a []Number) (Number, error) {
		x := a[0]
		if x.sign() < 0 && k%2 == 0 {
			return Number{}, errorAt(position, "the square root of a negative number, %s, is no real number", x.short())
		}
		if x.rat != nil {
			root, ok, err := m.root(position, new(big.Rat).Abs(x.rat), k)
			if err != nil {
				return Number{}, err
			}
			if ok && x.sign() < 0 {
				root.Neg(root)
			}
			if ok {
				return exact(root), nil
			}
		}
		v, err := x.float(position)
		if err != nil {
			return Number{}, err
		}
		return finite(position, "the root", f(v))
	}
}

// noise is the relative error of a float64. Multiples of π have this error, and so have their sine
// and cosine. Smaller results become 0, so that sin(pi) is 0.
const noise = 1.0 / (1 << 52)

func sin(x float64) float64 { return quiet(math.Sin(x), x) }
func cos(x float64) float64 { return quiet(math.Cos(x), x) }

func tan(x float64) float64 {
	switch {
	case cos(x) == 0:
		return math.Inf(1)
	case sin(x) == 0:
		return 0
	}
	return math.Tan(x)
}

func quiet(result, x float64) float64 {
	if math.Abs(result) < noise*math.Abs(x) {
		return 0
	}
	return result
}
