package expr

import (
	"context"
	"fmt"
	"math/big"
)

// machine executes the operations of one expression and counts their cost.
type machine struct {
	ctx  context.Context
	work int
}

// spend counts work before it is done. It also stops the computation when ctx has ended.
func (m *machine) spend(position, work int) error {
	if err := m.ctx.Err(); err != nil {
		return fmt.Errorf("computing the expression: %w", err)
	}
	m.work += work
	if work > maxWork || m.work > maxWork {
		return errorAt(position, "the expression has too many operations on large numbers; compute it in parts, or with smaller numbers")
	}
	return nil
}

// result checks the size of an exact result.
func (m *machine) result(position int, r *big.Rat) (Number, error) {
	if !fits(r) {
		return Number{}, errorAt(position, "the result has more than %d digits, the most that are computed", maxDigits)
	}
	return exact(r), nil
}

// node is a node of the syntax tree.
type node interface {
	eval(m *machine) (Number, error)
}

type literal struct {
	position int
	value    Number
}

func (l *literal) eval(m *machine) (Number, error) {
	if err := m.spend(l.position, 1); err != nil {
		return Number{}, err
	}
	if l.value.rat == nil {
		return l.value, nil
	}
	return m.result(l.position, l.value.rat)
}

type negation struct{ operand node }

func (n *negation) eval(m *machine) (Number, error) {
	v, err := n.operand.eval(m)
	if err != nil || v.rat == nil {
		return roundedTo(-v.rounded), err
	}
	return exact(new(big.Rat).Neg(v.rat)), nil
}

type factorial struct {
	position int // of the "!"
	operand  node
}

func (f *factorial) eval(m *machine) (Number, error) {
	v, err := f.operand.eval(m)
	if err != nil {
		return Number{}, err
	}
	n := v.exactly()
	if !n.IsInt() || n.Sign() < 0 || n.Num().Cmp(big.NewInt(maxFactorial)) > 0 {
		return Number{}, errorAt(f.position, "the factorial needs a whole number from 0 to %d, and got %s", maxFactorial, v.short())
	}
	// n! has fewer than n*log2(n) bits. The product is computed in halves, which costs about the
	// square of its number of words.
	words := int(n.Num().Int64()) * n.Num().BitLen() / 64
	if err := m.spend(f.position, words*words); err != nil {
		return Number{}, err
	}
	return exactInt(new(big.Int).MulRange(1, n.Num().Int64())), nil
}

type binary struct {
	operator    token
	left, right node
}

func (b *binary) eval(m *machine) (Number, error) {
	left, err := b.left.eval(m)
	if err != nil {
		return Number{}, err
	}
	right, err := b.right.eval(m)
	if err != nil {
		return Number{}, err
	}
	switch b.operator.text {
	case "^", "**":
		return m.power(b.operator.position, left, right)
	default:
		return m.arithmetic(b.operator.position, b.operator.text, left, right)
	}
}

type call struct {
	position  int
	name      string
	function  function
	arguments []node
}

func (c *call) eval(m *machine) (Number, error) {
	values := make([]Number, len(c.arguments))
	for i, argument := range c.arguments {
		var err error
		if values[i], err = argument.eval(m); err != nil {
			return Number{}, err
		}
	}
	return c.function.apply(m, c.position, values)
}
