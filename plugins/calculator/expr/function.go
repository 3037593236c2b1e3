package expr

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// function is a function with min to max arguments.
type function struct {
	usage    string
	min, max int
	apply    func(p *parser, at int, arguments []Number) Number
}

// many is the argument limit of variadic functions. maxLength is a stricter limit in practice.
const many = maxLength

// functions is read-only.
var functions = map[string]function{
	"abs":   {"abs(x)", 1, 1, func(_ *parser, _ int, a []Number) Number { return Number{new(big.Rat).Abs(a[0].rat), a[0].rounded} }},
	"floor": {"floor(x)", 1, 1, func(p *parser, at int, a []Number) Number { return p.arithmetic(at, "//", a[0], one) }},
	"ceil":  {"ceil(x)", 1, 1, func(p *parser, at int, a []Number) Number { return negate(p.arithmetic(at, "//", negate(a[0]), one)) }},
	"round": {"round(x) or round(x, decimals)", 1, 2, round},
	"min":   {"min(a, b, ...)", 1, many, extreme(-1)},
	"max":   {"max(a, b, ...)", 1, many, extreme(1)},
	"gcd":   {"gcd(a, b, ...)", 1, many, fold("gcd", gcd)},
	"lcm":   {"lcm(a, b, ...)", 1, many, fold("lcm", lcm)},
	"mod":   {"mod(a, b)", 2, 2, func(p *parser, at int, a []Number) Number { return p.arithmetic(at, "%", a[0], a[1]) }},
	"pow":   {"pow(base, exponent) or pow(base, exponent, modulus)", 2, 3, pow},
	"sqrt":  {"sqrt(x)", 1, 1, func(p *parser, at int, a []Number) Number { return p.power(at, a[0], ratio(1, 2)) }},
	"cbrt":  {"cbrt(x)", 1, 1, cubeRoot},
	"exp":   {"exp(x)", 1, 1, exponential},
	"ln":    {"ln(x)", 1, 1, func(p *parser, at int, a []Number) Number { return p.ln(at, a[0]) }},
	"log":   {"log(x) for the natural logarithm or log(x, base)", 1, 2, logarithm},
	"log2":  {"log2(x)", 1, 1, func(p *parser, at int, a []Number) Number { return logarithm(p, at, []Number{a[0], ratio(2, 1)}) }},
	"log10": {"log10(x)", 1, 1, func(p *parser, at int, a []Number) Number { return logarithm(p, at, []Number{a[0], ratio(10, 1)}) }},
	"sin":   {"sin(radians)", 1, 1, float("sin", sin)},
	"cos":   {"cos(radians)", 1, 1, float("cos", cos)},
	"tan":   {"tan(radians)", 1, 1, float("tan", func(x float64) float64 { return sin(x) / cos(x) })},
	"asin":  {"asin(x)", 1, 1, float("asin", math.Asin)},
	"acos":  {"acos(x)", 1, 1, float("acos", math.Acos)},
	"atan":  {"atan(x)", 1, 1, float("atan", math.Atan)},
	"atan2": {"atan2(y, x)", 2, 2, arcTangent},
	"deg": {"deg(radians)", 1, 1, func(p *parser, at int, a []Number) Number {
		return p.arithmetic(at, "*", a[0], p.arithmetic(at, "/", ratio(180, 1), constants["pi"]))
	}},
	"rad": {"rad(degrees)", 1, 1, func(p *parser, at int, a []Number) Number {
		return p.arithmetic(at, "*", a[0], p.arithmetic(at, "/", constants["pi"], ratio(180, 1)))
	}},
}

// constants is read-only.
var constants = map[string]Number{
	"pi": constant("3.1415926535897932384626433832795028841971693993751"), "π": constant("3.1415926535897932384626433832795028841971693993751"),
	"tau": constant("6.2831853071795864769252867665590057683943387987502"), "τ": constant("6.2831853071795864769252867665590057683943387987502"),
	"e": constant("2.7182818284590452353602874713526624977572470937000"),
}

var one = ratio(1, 1)

func names[V any](m map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }
func ratio(a, b int64) Number            { return Number{rat: big.NewRat(a, b)} }
func integer(i *big.Int) Number          { return Number{rat: new(big.Rat).SetInt(i)} }
func negate(n Number) Number             { return Number{new(big.Rat).Neg(n.rat), n.rounded} }
func constant(digits string) Number {
	r, _ := new(big.Rat).SetString(digits)
	return Number{r, true}
}

// arithmetic computes + - * / // %. // rounds down, and the result of % has the divisor's sign, so
// that a = b*(a//b) + a%b.
func (p *parser) arithmetic(at int, operator string, a, b Number) Number {
	x, y, r := a.rat, b.rat, new(big.Rat)
	if operator == "//" || operator == "%" {
		x, y = a.exactly(), b.exactly()
	}
	if y.Sign() == 0 && strings.Contains("//%", operator) {
		return p.fail(at, "division by zero")
	}
	// An unreduced result has at most twice maxBits. It is checked afterward.
	if !p.spend(at, size(x)*size(y)) {
		return a
	}
	switch operator {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	case "/":
		r.Quo(x, y)
	case "//", "%":
		r.Quo(x, y)
		r.SetInt(new(big.Int).Div(r.Num(), r.Denom()))
	}
	if operator == "%" {
		r.Sub(x, r.Mul(r, y))
	}
	n := p.result(at, Number{r, (a.rounded || b.rounded) && operator != "//"})
	if !n.rounded || !p.spend(at, size(r)*size(r)) {
		return n
	}
	sum, _ := r.Float64()
	if part, _ := x.Float64(); (operator == "+" || operator == "-") && quiet(sum, part) == 0 {
		return Number{new(big.Rat), true}
	}
	return Number{rational(decimal(r, workDigits)), true}
}

func (p *parser) factorial(at int, operand Number) Number {
	n := operand.exactly()
	if !n.IsInt() || n.Sign() < 0 || n.Num().Cmp(big.NewInt(maxFactorial)) > 0 {
		return p.fail(at, "the factorial needs a whole number from 0 to %d, and got %s", maxFactorial, operand.short())
	}
	// n! has fewer than n*log2(n) bits. The product is computed in halves, which costs about the
	// square of its number of words.
	words := int(n.Num().Int64()) * n.Num().BitLen() / 64
	if !p.spend(at, words*words) {
		return operand
	}
	return integer(new(big.Int).MulRange(1, n.Num().Int64()))
}

// round rounds to a number of decimals, which may be negative. Halves round away from zero.
func round(p *parser, at int, a []Number) Number {
	decimals := new(big.Rat)
	if len(a) == 2 {
		decimals = a[1].exactly()
	}
	if !decimals.IsInt() || decimals.Num().CmpAbs(big.NewInt(maxRounding)) > 0 {
		return p.fail(at, "the decimals of round are a whole number from %d to %d, and got %s", -maxRounding, maxRounding, a[1].short())
	}
	x, scale := a[0].exactly(), p.wholePower(at, big.NewRat(10, 1), decimals.Num())
	scaled := p.arithmetic(at, "*", Number{rat: new(big.Rat).Abs(x)}, scale)
	n := p.arithmetic(at, "/", p.arithmetic(at, "//", p.arithmetic(at, "+", scaled, ratio(1, 2)), one), scale)
	if x.Sign() < 0 {
		return negate(n)
	}
	return n
}

// extreme returns the function that selects the least (-1) or the greatest (1) argument.
func extreme(sign int) func(*parser, int, []Number) Number {
	return func(p *parser, at int, a []Number) Number {
		best := a[0]
		for _, n := range a[1:] {
			if x, y := n.exactly(), best.exactly(); p.spend(at, size(x)*size(y)) && x.Cmp(y) == sign {
				best = n
			}
		}
		return best
	}
}

// whole returns a number as an integer for the function who.
func (p *parser) whole(at int, who string, n Number) *big.Int {
	r := n.exactly()
	if !r.IsInt() {
		p.fail(at, "%s needs whole numbers, and %s is none", who, n.short())
	}
	return r.Num()
}

// fold applies a function of two integers to any number of integers.
func fold(who string, f func(a, b *big.Int) *big.Int) func(*parser, int, []Number) Number {
	return func(p *parser, at int, a []Number) Number {
		result := new(big.Int).Abs(p.whole(at, who, a[0]))
		for _, argument := range a[1:] {
			n := new(big.Int).Abs(p.whole(at, who, argument))
			if !p.spend(at, (result.BitLen()/64+1)*(n.BitLen()/64+1)) {
				break
			}
			result = p.result(at, integer(f(result, n))).rat.Num()
		}
		return integer(result)
	}
}

func gcd(a, b *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, a, b) }

func lcm(a, b *big.Int) *big.Int {
	g := gcd(a, b)
	if g.Sign() == 0 {
		return g
	}
	return g.Mul(g.Quo(a, g), b)
}

// pow is a power or, with a modulus, its remainder.
func pow(p *parser, at int, a []Number) Number {
	if len(a) == 2 {
		return p.power(at, a[0], a[1])
	}
	const who = "pow with a modulus"
	base, exponent, modulus := p.whole(at, who, a[0]), p.whole(at, who, a[1]), p.whole(at, who, a[2])
	if exponent.Sign() < 0 || modulus.Sign() <= 0 {
		return p.fail(at, "pow with a modulus needs an exponent of at least 0 and a modulus of at least 1")
	}
	// The operands have about maxBits at most, so the work does not overflow 64 bits.
	words := modulus.BitLen()/64 + 1
	if !p.spend(at, words*words*(exponent.BitLen()+1)+base.BitLen()/64*words) {
		return a[0]
	}
	return integer(new(big.Int).Exp(base, exponent, modulus))
}

func cubeRoot(p *parser, at int, a []Number) Number {
	if a[0].rat.Sign() < 0 {
		return negate(p.power(at, negate(a[0]), ratio(1, 3)))
	}
	return p.power(at, a[0], ratio(1, 3))
}

func exponential(p *parser, at int, a []Number) Number {
	// apd needs as many digits as the exponent is large, up to 23,000.
	x, _ := a[0].rat.Float64()
	if !p.spend(at, 1000*int(min(math.Abs(x), 23_000))) {
		return a[0]
	}
	return p.decimal(at, "exp", a[0], (*apd.Context).Exp)
}

func (p *parser) ln(at int, x Number) Number {
	if x.rat.Sign() <= 0 {
		return p.fail(at, "a logarithm needs numbers above 0, and got %s", x.short())
	}
	return p.decimal(at, "the logarithm", x, (*apd.Context).Ln)
}

func logarithm(p *parser, at int, a []Number) Number {
	n := p.ln(at, a[0])
	if len(a) == 1 {
		return n
	}
	base := p.ln(at, a[1])
	if base.rat.Sign() == 0 {
		return p.fail(at, "there is no logarithm to base 1")
	}
	return p.arithmetic(at, "/", n, base)
}

// float returns a function that is computed as a float64: apd has no trigonometry.
func float(who string, f func(float64) float64) func(*parser, int, []Number) Number {
	return func(p *parser, at int, a []Number) Number {
		x, _ := a[0].rat.Float64()
		if y := f(x); p.spend(at, size(a[0].rat)) && !math.IsNaN(y) && !math.IsInf(y, 0) {
			return Number{new(big.Rat).SetFloat64(y), true}
		}
		return p.fail(at, "%s(%s) is infinite or no real number", who, a[0].short())
	}
}

func arcTangent(p *parser, at int, a []Number) Number {
	x, _ := a[1].rat.Float64()
	return float("atan2", func(y float64) float64 { return math.Atan2(y, x) })(p, at, a)
}

// noise is the relative error of a float64. Multiples of π have this error, and so have their sine
// and cosine. Smaller results become 0, so that sin(pi) is 0.
const noise = 1.0 / (1 << 52)

func sin(x float64) float64 { return quiet(math.Sin(x), x) }
func cos(x float64) float64 { return quiet(math.Cos(x), x) }

func quiet(result, x float64) float64 {
	if math.Abs(result) < noise*math.Abs(x) {
		return 0
	}
	return result
}
