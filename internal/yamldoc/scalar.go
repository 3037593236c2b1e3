package yamldoc

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Text returns a text; numbers and truth values count as text, written as they are. Nothing at all does not.
func (n Node) Text(what string) (string, error) {
	text, ok := scalar(n.node)
	if !ok {
		return "", n.Errorf("%s has to be text, not %s", what, kind(n.node))
	}
	return text, nil
}

// Texts returns a list of texts.
func (n Node) Texts(what string) ([]string, error) {
	items, err := n.Items(what)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if texts[i], err = item.Text("an element of " + what); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Choice returns a text that is one of those allowed.
func (n Node) Choice(what string, allowed ...string) (string, error) {
	text, ok := scalar(n.node)
	if !ok || !slices.Contains(allowed, text) {
		return "", n.Errorf("%s has to be %s", what, strings.Join(allowed, " or "))
	}
	return text, nil
}

// Bool returns true or false.
func (n Node) Bool(what string) (bool, error) {
	value, ok := n.node.(*ast.BoolNode)
	if !ok {
		return false, n.Errorf("%s has to be true or false", what)
	}
	return value.Value, nil
}

// Whole returns a whole number from least to most.
func (n Node) Whole(what string, least, most int) (int, error) {
	if _, ok := n.node.(*ast.IntegerNode); ok {
		text, _ := scalar(n.node)
		if value, err := strconv.Atoi(text); err == nil && value >= least && value <= most {
			return value, nil
		}
	}
	return 0, n.Errorf("%s has to be a whole number from %d to %d", what, least, most)
}

// Number returns a number above 0 and at most most.
func (n Node) Number(what string, most float64) (float64, error) {
	switch n.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		text, _ := scalar(n.node)
		if value, err := strconv.ParseFloat(text, 64); err == nil && value > 0 && value <= most {
			return value, nil
		}
	}
	return 0, n.Errorf("%s has to be a number above 0, at most %v", what, most)
}

// Bytes returns a size in bytes, which may be written with a unit, such as 512MiB. It is above 0.
func (n Node) Bytes(what string) (int64, error) {
	text, _ := scalar(n.node)
	digits := strings.TrimRight(text, "BKMGTi ")
	shift, known := map[string]uint{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}[strings.TrimSpace(text[len(digits):])]
	value, err := strconv.ParseInt(digits, 10, 64)
	if !known || err != nil || value <= 0 || value > math.MaxInt64>>shift {
		return 0, n.Errorf("%s has to be a size such as 512MiB, in bytes, KiB, MiB, GiB or TiB", what)
	}
	return value << shift, nil
}

// scalar returns the text of a scalar as it is meant: that of a string without its quotes.
func scalar(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return node.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value, true
	}
	return "", false
}
