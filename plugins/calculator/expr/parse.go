package expr

import "strings"

// parser is a recursive descent over this grammar, in which a sign binds weaker than a power and a
// factorial stronger: -2^2 is -4, 2^-1 is 0.5, 2^3^2 is 2^9 and -3! is -6.
//
//	sum     = product { ("+" | "-") product }
//	product = signed { ("*" | "/" | "//" | "%") signed }
//	signed  = ("+" | "-") signed | power
//	power   = operand [ "!" ] [ ("^" | "**") signed ]
//	operand = number | constant | function "(" [ sum { "," sum } ] ")" | "(" sum ")"
type parser struct {
	scanner scanner
	before  token // the last consumed token
	token   token // the next token
	depth   int
}

func parse(expression string) (node, error) {
	if len(expression) > maxLength {
		return nil, errorAt(1, "the expression has %d bytes; at most %d are read, so compute it in parts", len(expression), maxLength)
	}
	p := &parser{scanner: scanner{rest: expression, position: 1}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind == tokenEnd {
		return nil, errorAt(1, `the expression is empty; write one such as "2*(3+4)"`)
	}
	tree, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.token.kind != tokenEnd {
		return nil, p.unexpectedAfterOperand()
	}
	return tree, nil
}

func (p *parser) advance() (err error) {
	p.before = p.token
	p.token, err = p.scanner.next()
	return err
}

// accept consumes the next token if it is one of the symbols.
func (p *parser) accept(symbols ...string) (taken token, ok bool, err error) {
	if p.token.kind != tokenSymbol {
		return token{}, false, nil
	}
	for _, symbol := range symbols {
		if p.token.text == symbol {
			taken = p.token
			return taken, true, p.advance()
		}
	}
	return token{}, false, nil
}

func (p *parser) sum() (node, error) { return p.chain(p.product, "+", "-") }

func (p *parser) product() (node, error) { return p.chain(p.signed, "*", "/", "//", "%") }

// chain parses operands joined by left-associative operators of one precedence.
func (p *parser) chain(operand func() (node, error), operators ...string) (node, error) {
	left, err := operand()
	for err == nil {
		operator, ok, acceptErr := p.accept(operators...)
		if acceptErr != nil || !ok {
			return left, acceptErr
		}
		var right node
		right, err = operand()
		left = &binary{operator: operator, left: left, right: right}
	}
	return nil, err
}

// signed is part of all nesting, so it checks the depth.
func (p *parser) signed() (node, error) {
	if p.depth == maxDepth {
		return nil, errorAt(p.token.position, "more than %d parentheses, calls, signs and exponents inside each other; compute the expression in parts", maxDepth)
	}
	p.depth++
	defer func() { p.depth-- }()

	afterRemainder := p.afterRemainder()
	sign, ok, err := p.accept("+", "-")
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		return p.power()
	case afterRemainder: // probably 100+10%+5, whose value would be wrong without an error
		return nil, errorAt(sign.position, `found "%s" after "%%"; %s, and a signed number behind it has parentheses`, sign.text, percentWords)
	}
	operand, err := p.signed()
	if err != nil || sign.text == "+" {
		return operand, err
	}
	return &negation{operand: operand}, nil
}

func (p *parser) power() (node, error) {
	base, err := p.operand()
	if err != nil {
		return nil, err
	}
	mark, ok, err := p.accept("!")
	if err != nil {
		return nil, err
	}
	if ok {
		if p.token.kind == tokenSymbol && p.token.text == "!" {
			return nil, errorAt(p.token.position, `found "!!"; write (n!)! for the factorial of a factorial`)
		}
		base = &factorial{position: mark.position, operand: base}
	}
	operator, ok, err := p.accept("^", "**")
	if err != nil || !ok {
		return base, err
	}
	exponent, err := p.signed()
	if err != nil {
		return nil, err
	}
	return &binary{operator: operator, left: base, right: exponent}, nil
}

// percentWords explains % to authors who mean percent.
const percentWords = `"%" is the remainder of a division, not percent: 15 percent of 80 is 15/100*80`

// afterRemainder reports whether the last token was the operator "%".
func (p *parser) afterRemainder() bool { return p.before.kind == tokenSymbol && p.before.text == "%" }

// isKnown reports whether a name is a constant or function.
func isKnown(name string) bool {
	key := strings.ToLower(name)
	_, constant := constants[key]
	_, function := functions[key]
	return constant || function
}

func (p *parser) operand() (node, error) {
	first := p.token
	switch {
	case p.afterRemainder() && (first.kind == tokenEnd || first.kind == tokenSymbol && first.text != "(" || first.kind == tokenName && !isKnown(first.text)):
		return nil, errorAt(first.position, "found %s after \"%%\"; %s", first, percentWords)
	case first.kind == tokenNumber:
		return &literal{position: first.position, value: exact(first.number)}, p.advance()
	case first.kind == tokenName:
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.named(first)
	case first.kind == tokenSymbol && first.text == "(":
		if err := p.advance(); err != nil {
			return nil, err
		}
		inner, err := p.sum()
		if err != nil {
			return nil, err
		}
		return inner, p.close(first)
	}
	return nil, errorAt(first.position, "found %s where a number, a function, a constant or an opening parenthesis is needed", first)
}

// named parses what follows the name of a constant or function.
func (p *parser) named(name token) (node, error) {
	key := strings.ToLower(name.text)
	if value, ok := constants[key]; ok {
		return &literal{position: name.position, value: value}, nil
	}
	f, ok := functions[key]
	if !ok {
		return nil, errorAt(name.position, "%s is unknown; the functions are %s, the constants %s", name, functionNames(), constantNames())
	}
	open, ok, err := p.accept("(")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errorAt(p.token.position, "found %s after the function %s; write its arguments in parentheses, as in %s", p.token, key, f.usage)
	}
	arguments, err := p.arguments()
	if err != nil {
		return nil, err
	}
	if err := p.close(open); err != nil {
		return nil, err
	}
	if len(arguments) < f.min || len(arguments) > f.max {
		return nil, errorAt(name.position, "%s was given %d arguments; write it as %s", key, len(arguments), f.usage)
	}
	return &call{position: name.position, name: key, function: f, arguments: arguments}, nil
}

// arguments parses arguments up to the closing parenthesis, which it does not consume.
func (p *parser) arguments() ([]node, error) {
	if p.token.kind == tokenSymbol && p.token.text == ")" {
		return nil, nil
	}
	var arguments []node
	for {
		argument, err := p.sum()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
		_, more, err := p.accept(",")
		if err != nil || !more {
			return arguments, err
		}
	}
}

func (p *parser) close(open token) error {
	_, ok, err := p.accept(")")
	if err != nil || ok {
		return err
	}
	if p.token.kind == tokenEnd {
		return errorAt(p.token.position, `a ")" is missing for the "(" at character %d`, open.position)
	}
	return p.unexpectedAfterOperand()
}

// unexpectedAfterOperand explains common mistakes at a place where an operator is required.
func (p *parser) unexpectedAfterOperand() error {
	t := p.token
	switch {
	case t.kind == tokenSymbol && t.text == ")":
		return errorAt(t.position, `found a ")" without its "("`)
	case t.kind == tokenSymbol && t.text == ",":
		return errorAt(t.position, `found a comma outside of a function's arguments; write 1000 or 1_000, not 1,000, and one expression per call`)
	case t.kind == tokenSymbol && t.text != "(":
		return errorAt(t.position, "found %s where an operator or the end is needed", t)
	}
	return errorAt(t.position, "an operator is missing before %s; write * to multiply", t)
}
