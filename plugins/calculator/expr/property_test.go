package expr_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/plugins/calculator/expr"
)

// rounds is the number of random cases per law.
const rounds = 300

func eval(t *testing.T, format string, args ...any) string {
	t.Helper()
	expression := fmt.Sprintf(format, args...)
	n, err := expr.Eval(t.Context(), expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	if !n.Exact() {
		t.Fatalf("%s is rounded", expression)
	}
	return n.String()
}

// Laws of arithmetic hold for random numbers of very different sizes. A failure prints the numbers.
func TestLaws(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	number := func() string {
		digits := make([]byte, 1+random.IntN(60))
		for i := range digits {
			digits[i] = byte('0' + random.IntN(10))
		}
		s := string(digits)
		if random.IntN(3) == 0 {
			s += "." + s
		}
		if random.IntN(2) == 0 {
			s = "-" + s
		}
		return "(" + s + ")"
	}
	nonzero := func() string { return fmt.Sprintf("(%s^2+1/7)", number()) }
	laws := []struct {
		name, law string // what must be 0
	}{
		{"sums commute", "(%[1]s+%[2]s)-(%[2]s+%[1]s)"},
		{"products distribute", "%[1]s*(%[2]s+%[3]s)-(%[1]s*%[2]s+%[1]s*%[3]s)"},
		{"a quotient undoes a product", "%[1]s*%[3]s/%[3]s-%[1]s"},
		{"quotient and remainder make the whole", "%[3]s*(%[1]s//%[3]s)+%[1]s%%%[3]s-%[1]s"},
		{"a root undoes a power", "sqrt((floor(%[1]s)%%10^25/7)^2)-floor(%[1]s)%%10^25/7"},
		{"a cube root undoes a cube", "cbrt((-7/(floor(%[1]s)%%10^25+1))^3)+7/(floor(%[1]s)%%10^25+1)"},
		{"a root is a power", "((floor(%[1]s)%%10^25)^5)^(1/5)-floor(%[1]s)%%10^25"},
		{"powers add", "%[3]s^7*%[3]s^-9-%[3]s^-2"},
		{"floor and ceil mirror", "floor(%[1]s)+ceil(-%[1]s)"},
		{"the remainder is smaller than the divisor", "floor((%[1]s%%%[3]s)/%[3]s)"},
		{"extremes add up", "min(%[1]s,%[2]s)+max(%[1]s,%[2]s)-%[1]s-%[2]s"},
		{"gcd and lcm make the product", "gcd(floor(%[1]s),floor(%[2]s))*lcm(floor(%[1]s),floor(%[2]s))-abs(floor(%[1]s)*floor(%[2]s))"},
		{"a modular power is a remainder", "pow(floor(%[1]s),5,997)-floor(%[1]s)^5%%997"},
	}
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			for range rounds {
				a, b, c := number(), number(), nonzero()
				if got := eval(t, law.law, a, b, c); got != "0" {
					t.Fatalf("with %s, %s, %s: off by %s", a, b, c, got)
				}
			}
		})
	}
}

// Random expressions are built together with their value.
func TestAgainstMathBig(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for range rounds {
		text, value := randomTree(random, 6)
		want := value.Num().String() + "/" + value.Denom().String()
		if got := eval(t, "(%s)-(%s)", text, want); got != "0" {
			t.Fatalf("%s is off by %s", text, got)
		}
	}
}

func randomTree(random *rand.Rand, depth int) (string, *big.Rat) {
	if depth == 0 || random.IntN(4) == 0 {
		n := random.Int64N(2000) - 1000
		return fmt.Sprintf("(%d)", n), big.NewRat(n, 1)
	}
	left, x := randomTree(random, depth-1)
	right, y := randomTree(random, depth-1)
	value := new(big.Rat)
	operator := "+-*/"[random.IntN(4)]
	switch operator {
	case '+':
		value.Add(x, y)
	case '-':
		value.Sub(x, y)
	case '*':
		value.Mul(x, y)
	case '/':
		if y.Sign() == 0 {
			return left, x
		}
		value.Quo(x, y)
	}
	return fmt.Sprintf("(%s%c%s)", left, operator, right), value
}

func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"13!", "1/3+1/6", "2^10^9", "sin(rad(30))", "pow(3,200,7)", "log(8,2)", "1_0.5e-3", "0xFF", "((((", "π×τ−1",
		"max(1,2", "1e5000", "-2^-2!", "round(pi, 2)", "9999!//9998!%7", "cbrt(-27)", "\xff\xfe", "1,000", "lcm(4,6)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		n, err := expr.Eval(t.Context(), expression)
		if err != nil {
			e, ok := errors.AsType[*expr.Error](err)
			if !ok || e.Position < 1 || e.Position > len(expression)+1 || len(e.Problem) > 2000 {
				t.Fatalf("unhelpful error %v", err)
			}
			return
		}
		text := n.String()
		if text == "" || len(text) > 40_000 || strings.ContainsAny(text, "NI") {
			t.Fatalf("odd value %.100s", text)
		}
		fraction, rounded := n.Fraction()
		if rounded {
			text = fraction
		}
		// The text of an exact number evaluates to the same number.
		if !n.Exact() || len(text) > 4000 || strings.Contains(text, "e") {
			return
		}
		again, err := expr.Eval(t.Context(), text)
		if err != nil || again.String() != n.String() {
			t.Fatalf("%s is shown as %s, which is read as %s, %v", expression, text, again, err)
		}
	})
}
