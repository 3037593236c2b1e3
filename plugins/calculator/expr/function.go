package expr

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
)

// function is a function with min to max arguments.
type function struct {
	usage    string
	min, max int
	apply    func(m *machine, position int, arguments []Number) (Number, error)
}

// many is the argument limit of variadic functions. maxLength is a stricter limit in practice.
const many = maxLength

// functions is read-only.
var functions = map[string]function{
	"abs":   {"abs(x)", 1, 1, absolute},
	"floor": {"floor(x)", 1, 1, roundBy(floor)},
	"ceil":  {"ceil(x)", 1, 1, roundBy(func(r *big.Rat) *big.Int { i := floor(new(big.Rat).Neg(r)); return i.Neg(i) })},
	"round": {"round(x) or round(x, decimals)", 1, 2, round},
	"min":   {"min(a, b, ...)", 1, many, extreme(-1)},
	"max":   {"max(a, b, ...)", 1, many, extreme(1)},
	"gcd":   {"gcd(a, b, ...)", 1, many, fold("gcd", gcd)},
	"lcm":   {"lcm(a, b, ...)", 1, many, fold("lcm", lcm)},
	"mod":   {"mod(a, b)", 2, 2, func(m *machine, at int, a []Number) (Number, error) { return m.arithmetic(at, "%", a[0], a[1]) }},
	"pow":   {"pow(base, exponent) or pow(base, exponent, modulus)", 2, 3, pow},
	"sqrt":  {"sqrt(x)", 1, 1, rootOf(2, math.Sqrt)},
	"cbrt":  {"cbrt(x)", 1, 1, rootOf(3, math.Cbrt)},
	"exp":   {"exp(x)", 1, 1, real1("exp", math.Exp)},
	"ln":    {"ln(x)", 1, 1, logTo(constants["e"])},
	"log":   {"log(x) for the natural logarithm or log(x, base)", 1, 2, log},
	"log2":  {"log2(x)", 1, 1, logTo(exact(big.NewRat(2, 1)))},
	"log10": {"log10(x)", 1, 1, logTo(exact(big.NewRat(10, 1)))},
	"sin":   {"sin(radians)", 1, 1, real1("sin", sin)},
	"cos":   {"cos(radians)", 1, 1, real1("cos", cos)},
	"tan":   {"tan(radians)", 1, 1, real1("tan", tan)},
	"asin":  {"asin(x)", 1, 1, real1("asin", math.Asin)},
	"acos":  {"acos(x)", 1, 1, real1("acos", math.Acos)},
	"atan":  {"atan(x)", 1, 1, real1("atan", math.Atan)},
	"atan2": {"atan2(y, x)", 2, 2, arcTangent},
	"deg":   {"deg(radians)", 1, 1, real1("deg", func(x float64) float64 { return x / math.Pi * 180 })},
	"rad":   {"rad(degrees)", 1, 1, real1("rad", func(x float64) float64 { return x / 180 * math.Pi })},
}

// constants is read-only.
var constants = map[string]Number{
	"pi":  roundedTo(math.Pi),
	"tau": roundedTo(2 * math.Pi),
	"e":   roundedTo(math.E),
}

func functionNames() string { return strings.Join(slices.Sorted(maps.Keys(functions)), " ") }
func constantNames() string { return strings.Join(slices.Sorted(maps.Keys(constants)), " ") }

func absolute(m *machine, position int, a []Number) (Number, error) {
	if a[0].rat == nil {
		return roundedTo(math.Abs(a[0].rounded)), nil
	}
	return exact(new(big.Rat).Abs(a[0].rat)), nil
}

func extreme(sign int) func(*machine, int, []Number) (Number, error) {
	return func(m *machine, position int, a []Number) (Number, error) {
		best := a[0]
		for _, n := range a[1:] {
			x, y := n.exactly(), best.exactly()
			if err := m.spend(position, size(x)*size(y)); err != nil {
				return Number{}, err
			}
			if x.Cmp(y) == sign {
				best = n
			}
		}
		return best, nil
	}
}

func pow(m *machine, position int, a []Number) (Number, error) {
	if len(a) == 3 {
		return m.modularPower(position, a)
	}
	return m.power(position, a[0], a[1])
}

func logTo(base Number) func(*machine, int, []Number) (Number, error) {
	return func(m *machine, position int, a []Number) (Number, error) { return m.logarithm(position, a[0], base) }
}

func log(m *machine, position int, a []Number) (Number, error) {
	if len(a) == 1 {
		return m.logarithm(position, a[0], constants["e"])
	}
	return m.logarithm(position, a[0], a[1])
}
