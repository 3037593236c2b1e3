package expr

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser is a recursive descent over this grammar, in which a sign binds weaker than a power and a
// factorial stronger: -2^2 is -4, 2^-1 is 0.5, 2^3^2 is 2^9 and -3! is -6.
//
//	sum     = product { ("+" | "-") product }
//	product = signed { ("*" | "/" | "//" | "%") signed }
//	signed  = ("+" | "-") signed | operand [ "!" ] [ ("^" | "**") signed ]
//	operand = number | constant | function "(" [ sum { "," sum } ] ")" | "(" sum ")"
type parser struct {
	ctx         context.Context
	expression  string
	token       string // the next one; "" is the end
	at          int    // the byte at which token starts
	depth, work int
	err         error
}

var (
	tokens    = regexp.MustCompile(`^(0[xXbBoO][0-9a-fA-F_]*|([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9]+)?|π|τ|[A-Za-z_][A-Za-z_0-9]*|\*\*|//|[-+*/%^!(),])`)
	spellings = strings.NewReplacer("×", "*", "·", "*", "⋅", "*", "÷", "/", "−", "-", "–", "-")
)

func (p *parser) parse() Number {
	if len(p.expression) > maxLength {
		return p.fail(0, "the expression has %d bytes; at most %d are read, so compute it in parts", len(p.expression), maxLength)
	}
	p.expression = spellings.Replace(p.expression) // rune by rune, which keeps positions
	p.next()
	n := p.sum()
	if p.token != "" {
		return p.unexpected(0)
	}
	return n
}

// next consumes the token.
func (p *parser) next() {
	rest := strings.TrimLeftFunc(p.expression[p.at+len(p.token):], unicode.IsSpace)
	p.at, p.token = len(p.expression)-len(rest), tokens.FindString(rest)
	if p.token == "" && rest != "" {
		r, _ := utf8.DecodeRuneInString(rest)
		p.fail(p.at, "found %q, which means nothing here; use numbers, + - * / // %% ^ ! ( ) , and the names of functions and constants", r)
	}
}

// accept consumes the token if it is one of the symbols. It returns its position.
func (p *parser) accept(symbols ...string) (at int, ok bool) {
	at, ok = p.at, slices.Contains(symbols, p.token)
	if ok {
		p.next()
	}
	return at, ok
}

func (p *parser) sum() Number     { return p.chain(p.product, "+", "-") }
func (p *parser) product() Number { return p.chain(p.signed, "*", "/", "//", "%") }

// chain computes operands joined by left-associative operators of one precedence.
func (p *parser) chain(operand func() Number, operators ...string) Number {
	left := operand()
	for {
		operator := p.token
		at, ok := p.accept(operators...)
		if !ok {
			return left
		}
		// 100+10%+5 probably means percent, and its value would be wrong without an error.
		if operator == "%" && strings.Contains("+-*/%^!),", p.token) {
			return p.fail(p.at, `found %s after "%%", which is the remainder of a division, not percent: 15 percent of 80 is 15/100*80; a signed number behind it has parentheses`, quoted(p.token))
		}
		left = p.arithmetic(at, operator, left, operand())
	}
}

// signed is part of all nesting, so it checks the depth.
func (p *parser) signed() Number {
	if p.depth == maxDepth {
		return p.fail(p.at, "more than %d parentheses, calls, signs and exponents inside each other; compute the expression in parts", maxDepth)
	}
	p.depth++
	defer func() { p.depth-- }()
	if _, ok := p.accept("-"); ok {
		return negate(p.signed())
	}
	if _, ok := p.accept("+"); ok {
		return p.signed()
	}
	base := p.operand()
	if at, ok := p.accept("!"); ok {
		base = p.factorial(at, base)
	}
	if at, ok := p.accept("^", "**"); ok {
		base = p.power(at, base, p.signed())
	}
	return base
}

func (p *parser) operand() Number {
	token, at := p.token, p.at
	key := strings.ToLower(token)
	p.next()
	if token == "(" {
		n := p.sum()
		p.close(at)
		return n
	}
	if n, ok := constants[key]; ok {
		return n
	}
	if f, ok := functions[key]; ok {
		return p.call(at, key, f)
	}
	switch first, _ := utf8.DecodeRuneInString(token); {
	case first == '.' || unicode.IsDigit(first):
		return p.number(at, token)
	case first == '_' || unicode.IsLetter(first):
		return p.fail(at, "%s is unknown; the functions are %s, the constants %s", quoted(token), names(functions), names(constants))
	}
	return p.fail(at, "found %s where a number, a function, a constant or an opening parenthesis is needed", quoted(token))
}

// number converts a literal: 12, 1_000, 1.5, .5, 2e10, 0xff, 0o17, 0b101.
func (p *parser) number(at int, literal string) Number {
	r, ok := new(big.Rat), false
	if strings.ContainsAny(literal, "xXbBoO") {
		var i big.Int
		_, ok = i.SetString(literal, 0)
		r.SetInt(&i)
	} else {
		_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
		if e, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || max(e, -e) > maxExponent {
			return p.fail(at, "the number %s has an exponent beyond ±%d; write it as a power of 10", quoted(literal), maxExponent)
		}
		_, ok = r.SetString(literal)
	}
	if !ok {
		return p.fail(at, "%s is no number: a digit is beyond its base or missing, or an underscore is not between two digits", quoted(literal))
	}
	p.spend(at, 1)
	return p.result(at, Number{rat: r})
}

// call computes the arguments of a function and the function.
func (p *parser) call(at int, name string, f function) Number {
	open, ok := p.accept("(")
	if !ok {
		return p.fail(p.at, "found %s after the function %s; write its arguments in parentheses, as in %s", quoted(p.token), name, f.usage)
	}
	var arguments []Number
	for more := p.token != ")"; more; _, more = p.accept(",") {
		arguments = append(arguments, p.sum())
	}
	p.close(open)
	if len(arguments) < f.min || len(arguments) > f.max {
		return p.fail(at, "%s was given %d arguments; write it as %s", name, len(arguments), f.usage)
	}
	return f.apply(p, at, arguments)
}

func (p *parser) close(open int) {
	if _, ok := p.accept(")"); !ok {
		p.unexpected(open)
	}
}

// unexpected explains common mistakes at a place where an operator or the end of what starts at
// open is required.
func (p *parser) unexpected(open int) Number {
	switch p.token {
	case "":
		return p.fail(p.at, `a ")" is missing for the "(" at character %d`, p.position(open))
	case ")":
		return p.fail(p.at, `found a ")" without its "("`)
	case ",":
		return p.fail(p.at, `found a comma outside of a function's arguments; write 1000 or 1_000, not 1,000, and one expression per call`)
	case "!":
		return p.fail(p.at, `found "!!"; write (n!)! for the factorial of a factorial`)
	}
	return p.fail(p.at, "an operator is missing before %s; write * to multiply", quoted(p.token))
}

// quoted returns a token for an error message.
func quoted(token string) string {
	if token == "" {
		return "the end of the expression"
	}
	return fmt.Sprintf("%.40q", token)
}
