//go:build !race

package expr_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/plugins/calculator/expr"
)

func TestEval(t *testing.T) {
	tests := []struct{ expression, want string }{
		// numbers
		{"42", "42"},
		{"007", "7"},
		{"1_000_000", "1000000"},
		{".5", "0.5"},
		{"5.", "5"},
		{"1.50", "1.5"},
		{"2e3", "2000"},
		{"2E-3", "0.002"},
		{"1_0e1_0", ""},
		{"0xff", "255"},
		{"0XFF_FF", "65535"},
		{"0b1010", "10"},
		{"0o17", "15"},
		{"-0.0", "0"},
		// exact arithmetic
		{"0.1+0.2", "0.3"},
		{"1/3+1/6", "0.5"},
		{"1/3*3", "1"},
		{"10/4", "2.5"},
		{"99999999999999999999*99999999999999999999", "9999999999999999999800000000000000000001"},
		{"1/3", "0.333333333333333333333333333333"},
		{"2/3", "0.666666666666666666666666666667"},
		{"-1/3", "-0.333333333333333333333333333333"},
		{"10^40/3", "3.33333333333333333333333333333e+39"},
		{"1/(3*10^10)", "3.33333333333333333333333333333e-11"},
		{"1e400*1.5/1e400", "1.5"},
		// quotient and remainder go down and with the divisor
		{"7//2", "3"},
		{"-7//2", "-4"},
		{"7//-2", "-4"},
		{"-7%3", "2"},
		{"7%(-3)", "-2"},
		{"7.5%2", "1.5"},
		{"mod(-1, 5)", "4"},
		{"5.5//0.5", "11"},
		// precedence and grouping
		{"2+3*4", "14"},
		{"(2+3)*4", "20"},
		{"2-3-4", "-5"},
		{"24/4/2", "3"},
		{"2*3%4", "2"},
		{"2^3^2", "512"},
		{"2**3**2", "512"},
		{"-2^2", "-4"},
		{"(-2)^2", "4"},
		{"2^-1", "0.5"},
		{"2^-3!", "0.015625"},
		{"-3!", "-6"},
		{"2^3!", "64"},
		{"3!^2", "36"},
		{"(3!)!", "720"},
		{"--+-1", "-1"},
		{" 1 +\t2\n", "3"},
		{"3 × 4 − 6 ÷ 2", "9"},
		// factorials
		{"0!", "1"},
		{"13!", "6227020800"},
		{"100!", "93326215443944152681699238856266700490715968264381621468592963895217599993229915608941463976156518286253697920827223758251185210916864000000000000000000000000"},
		{"100!/98!", "9900"},
		{"10000!/9999!", "10000"},
		{"sqrt(16)!", "24"},
		// powers and roots
		{"2^100", "1267650600228229401496703205376"},
		{"(2/3)^3*27", "8"},
		{"0^0", "1"},
		{"1^(10^30)", "1"},
		{"(-1)^(10^30+1)", "-1"},
		{"0^(10^30)", "0"},
		{"sqrt(144)", "12"},
		{"sqrt(2.25)", "1.5"},
		{"sqrt(10^4000)/10^2000", "1"},
		{"sqrt(2)", "1.4142135623731"},
		{"cbrt(-27)", "-3"},
		{"cbrt(2)", "1.25992104989487"},
		{"8^(1/3)", "2"},
		{"8^(2/3)", "4"},
		{"4^-0.5", "0.5"},
		{"2^0.5", "1.4142135623731"},
		{"2^(1/1000)", "1.00069338746258"},
		{"pow(2, 10)", "1024"},
		{"pow(3, 200, 1000007)", "959082"},
		{"pow(2, 10^20, 1)", "0"},
		{"2^pi", "8.82497782707629"},
		// logarithms
		{"ln(1)", "0"},
		{"ln(e)", "1"},
		{"log(e)", "1"},
		{"log10(1000)", "3"},
		{"log10(1/1000)", "-3"},
		{"log10(10^5000)", "5000"},
		{"log2(2^5000)", "5000"},
		{"log(81, 3)", "4"},
		{"log(2, 4)", "0.5"},
		{"log10(2)", "0.301029995663981"},
		{"ln(1+1e-30)", "1e-30"},
		{"ln(100!)", "363.739375555563"},
		// rounding
		{"floor(-2.5)", "-3"},
		{"ceil(-2.5)", "-2"},
		{"ceil(2.1)", "3"},
		{"round(2.5)", "3"},
		{"round(-2.5)", "-3"},
		{"round(2.675, 2)", "2.68"},
		{"round(pi, 4)", "3.1416"},
		{"round(1250, -2)", "1300"},
		{"floor(log(125)/log(5))", "3"},
		{"abs(-1/4)", "0.25"},
		{"abs(sin(-1))", "0.841470984807897"},
		// several arguments
		{"min(3, 1, 2)", "1"},
		{"max(1, pi, 3)", "3.14159265358979"},
		{"gcd(12, -18, 30)", "6"},
		{"gcd(0, 5)", "5"},
		{"lcm(4, 6, 10)", "60"},
		{"lcm(0, 5)", "0"},
		// rounded functions
		{"pi", "3.14159265358979"},
		{"PI", "3.14159265358979"},
		{"π/2", "1.5707963267949"},
		{"tau", "6.28318530717959"},
		{"exp(1)", "2.71828182845905"},
		{"sin(0)", "0"},
		{"sin(pi)", "0"},
		{"cos(pi/2)", "0"},
		{"tan(pi)", "0"},
		{"sin(rad(30))", "0.5"},
		{"tan(rad(45))", "1"},
		{"deg(pi)", "180"},
		{"asin(1)", "1.5707963267949"},
		{"acos(0)", "1.5707963267949"},
		{"atan(1)*4", "3.14159265358979"},
		{"atan2(1, -1)", "2.35619449019234"},
		{"pi-pi", "0"},
		{"-7.5*1.0*cos(0)%2", "0.5"},
		{"-pi//1", "-4"},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			n, err := expr.Eval(t.Context(), test.expression)
			if test.want == "" {
				if err == nil {
					t.Fatalf("got %s, want an error", n)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n.String() != test.want {
				t.Errorf("got %s, want %s", n, test.want)
			}
		})
	}
}

func TestFraction(t *testing.T) {
	tests := []struct {
		expression, fraction string
		exact                bool
	}{
		{"1/3", "1/3", true},
		{"-22/7", "-22/7", true},
		{"1/4", "", true},
		{"5", "", true},
		{"pi/3", "", false},
		{"1/2^399", "", true},
		{"1/3^2000", "", true},
	}
	for _, test := range tests {
		n, err := expr.Eval(t.Context(), test.expression)
		if err != nil {
			t.Fatal(err)
		}
		fraction, ok := n.Fraction()
		if fraction != test.fraction || ok != (test.fraction != "") || n.Exact() != test.exact {
			t.Errorf("%s: got fraction %q %v, exact %v; want %q, exact %v", test.expression, fraction, ok, n.Exact(), test.fraction, test.exact)
		}
	}
	n, err := expr.Eval(t.Context(), "1/2^401")
	if err != nil {
		t.Fatal(err)
	}
	if fraction, ok := n.Fraction(); !ok || !strings.HasPrefix(fraction, "1/5164") {
		t.Errorf("a decimal form that is too long to show: got fraction %q, %v", fraction, ok)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		expression string
		position   int
		problem    string // a part of it
	}{
		// syntax
		{"", 1, "the end of the expression where a number"},
		{"  ", 3, "the end of the expression where a number"},
		{strings.Repeat("n", 4000), 1, `"` + strings.Repeat("n", 40) + `" is unknown`},
		{"2+", 3, "the end of the expression where a number"},
		{"*2", 1, `found "*" where a number`},
		{"(2+3", 5, `")" is missing for the "(" at character 1`},
		{"2+3)", 4, `")" without its "("`},
		{"()", 2, `found ")" where a number`},
		{"1,000", 2, "write 1000 or 1_000"},
		{"2pi", 2, "write * to multiply"},
		{"2 3", 3, "write * to multiply"},
		{"2(3)", 2, "write * to multiply"},
		{"(2)(3)", 4, "write * to multiply"},
		{"max(1 2)", 7, "write * to multiply"},
		{"50%", 4, "not percent"},
		{"(50%)*3", 5, "not percent"},
		{"50% * 3", 5, "not percent"},
		{"15% of 80", 5, `"of" is unknown`},
		{"100 + 10% + 5", 11, "not percent"},
		{"7 % -3", 5, "has parentheses"},
		{"3!!", 3, "write (n!)!"},
		{"1.5.2", 4, `operator is missing before ".2"`},
		{"1__0", 1, "underscore"},
		{"_1", 1, `"_1" is unknown`},
		{"0x", 1, "is no number"},
		{"0b12", 1, "is no number"},
		{"0o8", 1, "is no number"},
		{"1e", 2, `missing before "e"`},
		{"1e6000", 1, "exponent beyond"},
		{"1e99999999999999999999", 1, "exponent beyond"},
		{"a=1", 2, `found '='`},
		{"1=1", 2, `found '='`},
		{"2 < 3", 3, `found '<'`},
		{"1;2", 2, `found ';'`},
		{"é+1", 1, `found 'é'`},
		{"ππ", 2, "write * to multiply"},
		{"1\xff", 2, "means nothing here"},
		{"__import__('os')", 1, "is unknown; the functions are abs"},
		{"os.Exit(1)", 3, `found '.'`},
		{"foo(1)", 1, "the constants e pi tau"},
		// functions
		{"sqrt 4", 6, "as in sqrt(x)"},
		{"sqrt", 5, "as in sqrt(x)"},
		{"min()", 1, "given 0 arguments"},
		{"1+sin(1,2)", 3, "write it as sin(radians)"},
		{"pow(1,2,3,4)", 1, "given 4 arguments"},
		{"pi(2)", 3, "write * to multiply"},
		// domains
		{"1/0", 2, "division by zero"},
		{"1//0", 2, "division by zero"},
		{"5%(1-1)", 2, "division by zero"},
		{"pi/sin(0)", 3, "division by zero"},
		{"0^-1", 2, "division by zero"},
		{"2.5!", 4, "a whole number from 0 to 10000, and got 2.5"},
		{"(-1)!", 5, "got -1"},
		{"sqrt(-4)", 1, "-4 to the power of 0.5 is no real number"},
		{"(-8)^(1/3)", 5, "use cbrt"},
		{"(-pi)^0.5", 6, "no real number"},
		{"ln(0)", 1, "above 0, and got 0"},
		{"log(8, -2)", 1, "above 0, and got -2"},
		{"log(8, 1)", 1, "no logarithm to base 1"},
		{"asin(2)", 1, "asin(2) is infinite or no real number"},
		{"tan(pi/2)", 1, "infinite"},
		{"gcd(1.5, 3)", 1, "gcd needs whole numbers, and 1.5 is none"},
		{"round(1, 0.5)", 1, "a whole number from -1000 to 1000, and got 0.5"},
		{"round(1, 5000)", 1, "a whole number from -1000 to 1000, and got 5000"},
		{"pow(2, -1, 5)", 1, "an exponent of at least 0"},
		{"pow(2, 5, 0)", 1, "a modulus of at least 1"},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) { checkError(t, test.expression, test.position, test.problem) })
	}
}

// The work is refused before it is done. Most of these expressions would otherwise not end, or not
// fit into memory.
func TestBounds(t *testing.T) {
	heavy := func(term string) string { return "0" + strings.Repeat(term, (4096-1)/len(term)) }
	tests := []struct {
		name, expression string
		position         int // 0: any
		problem          string
	}{
		{"length", strings.Repeat("1", 4097), 1, "has 4097 bytes; at most 4096"},
		{"parentheses", strings.Repeat("(", 2000), 129, "inside each other"},
		{"signs", strings.Repeat("-", 2000) + "1", 129, "inside each other"},
		{"exponents", strings.Repeat("1^", 2000) + "1", 257, "inside each other"},
		{"power", "2^10^9", 2, "at least 3.01e+8 digits"},
		{"power of a fraction", "(1/2)^(10^9)", 6, "at least 3.01e+8 digits"},
		{"negative power", "2^-(10^9)", 2, "at least 3.01e+8 digits"},
		{"power tower", "9^9^9^9", 0, "digits, and at most 39456"},
		{"exponent beyond a machine word", "3^(10^30)", 2, "at least 3.01e+29 digits"},
		{"power just above", "2^131072", 2, "the result has more than 39456 digits"},
		{"product", "2^100000*2^100000", 9, "more than 39456 digits"},
		{"sum of fractions", "1/9000!+1/(9000!+1)", 8, "more than 39456 digits"},
		{"least common multiple", "lcm(9000!, 9001^9000+1)", 1, "more than 39456 digits"},
		{"factorial", "10001!", 6, "from 0 to 10000"},
		{"factorial of a factorial", "(100!)!", 7, "got 9.33262154439442e+157"},
		{"exponential", "exp(10^6)", 1, "no number of at most 39456 digits"},
		{"rounded number", "pi*10^39455*100", 12, "more than 39456 digits"},
		{"rounded power", "pi^(10^30)", 3, "no number of at most 39456 digits"},
		{"rounded power of one", "cos(0)^(10^39000)", 7, "too many operations on large numbers"},
		{"sine of a large number", "sin(1e400)", 1, "is infinite or no real number"},
		{"modular power", "pow(3, 2^100000, 2^100000-1)", 1, "too many operations on large numbers"},
		{"many factorials", heavy("+9999!"), 0, "too many operations on large numbers"},
		{"many fractions", heavy("+1/9999!"), 0, "too many operations on large numbers"},
		{"many roots", heavy("+sqrt(10^39000+1)"), 0, "too many operations on large numbers"},
		{"many exponentials", heavy("+exp(2e4)"), 0, "too many operations on large numbers"},
		{"many rounded powers", heavy("+2^.7"), 0, "too many operations on large numbers"},
		{"many powers of large numbers", heavy("+(10^9900)^.9"), 0, "too many operations on large numbers"},
		{"many divisors", "0" + "+gcd(9999!" + strings.Repeat(",9998!", 500) + ")", 0, "too many operations on large numbers"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkError(t, test.expression, test.position, test.problem) })
	}
}

func checkError(t *testing.T, expression string, position int, problem string) {
	t.Helper()
	n, err := expr.Eval(t.Context(), expression)
	e, ok := errors.AsType[*expr.Error](err)
	if !ok {
		t.Fatalf("got %s and error %v, want an *Error", n, err)
	}
	if position != 0 && e.Position != position || !strings.Contains(e.Problem, problem) {
		t.Errorf("got %q\nwant position %d and %q", e, position, problem)
	}
}

func TestLargestNumbers(t *testing.T) {
	for _, expression := range []string{"2^131071", "10000!", "1/10000!", "1e5000", "10^39000"} {
		if _, err := expr.Eval(t.Context(), expression); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// countdown is a context that ends after a number of calls of its methods.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left == 0 {
		return context.Canceled
	}
	c.left--
	return nil
}

func TestEvalStopsWithItsContext(t *testing.T) {
	ctx := &countdown{Context: t.Context(), left: 10}
	_, err := expr.Eval(ctx, "1"+strings.Repeat("+1", 1000))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
}

func TestExactNumbersOfAnySize(t *testing.T) {
	got, err := expr.Eval(t.Context(), "1000!")
	if err != nil {
		t.Fatal(err)
	}
	want := big.NewInt(1)
	for i := int64(2); i <= 1000; i++ {
		want.Mul(want, big.NewInt(i))
	}
	if got.String() != want.String() {
		t.Errorf("1000! is %s, want %s", got, want)
	}
}
