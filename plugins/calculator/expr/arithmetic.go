package expr

import (
	"math"
	"math/big"
)

// arithmetic computes + - * / // %. // rounds down, and the result of % has the divisor's sign, so
// that a = b*(a//b) + a%b.
func (m *machine) arithmetic(position int, operator string, a, b Number) (Number, error) {
	divides := operator == "/" || operator == "//" || operator == "%"
	if divides && b.sign() == 0 {
		return Number{}, errorAt(position, "division by zero")
	}
	if a.rat == nil || b.rat == nil {
		return m.roundedArithmetic(position, operator, a, b)
	}
	// No operand has more than maxBits, so an unreduced result has at most twice that. It is
	// checked afterward.
	if err := m.spend(position, size(a.rat)*size(b.rat)); err != nil {
		return Number{}, err
	}
	r := new(big.Rat)
	switch operator {
	case "+":
		r.Add(a.rat, b.rat)
	case "-":
		r.Sub(a.rat, b.rat)
	case "*":
		r.Mul(a.rat, b.rat)
	case "/":
		r.Quo(a.rat, b.rat)
	case "//":
		r.SetInt(floor(r.Quo(a.rat, b.rat)))
	case "%":
		quotient := floor(r.Quo(a.rat, b.rat))
		r.SetInt(quotient)
		r.Sub(a.rat, r.Mul(r, b.rat))
	}
	return m.result(position, r)
}

func (m *machine) roundedArithmetic(position int, operator string, a, b Number) (Number, error) {
	if err := m.spend(position, 1); err != nil {
		return Number{}, err
	}
	x, err := a.float(position)
	if err != nil {
		return Number{}, err
	}
	y, err := b.float(position)
	if err != nil {
		return Number{}, err
	}
	switch operator {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		x /= y
	case "//":
		x = math.Floor(x / y)
	case "%":
		x = math.Mod(x, y)
		if x != 0 && (x < 0) != (y < 0) {
			x += y
		}
	}
	return finite(position, operator, x)
}

// finite converts a rounded result to a number, or returns an error if it is not finite.
func finite(position int, who string, f float64) (Number, error) {
	switch {
	case math.IsNaN(f):
		return Number{}, errorAt(position, "%s is not defined here: the result is no real number", who)
	case math.IsInf(f, 0):
		return Number{}, errorAt(position, "the result of %s is infinite or beyond ±1.8e308, the largest rounded number", who)
	}
	return roundedTo(f), nil
}
