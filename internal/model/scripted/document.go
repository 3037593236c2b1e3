package scripted

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// document is a YAML file as its errors name it.
type document struct{ name string }

func (d document) errorAt(at *token.Token, format string, args ...any) error {
	place := d.name
	if at != nil && at.Position != nil {
		place = fmt.Sprintf("%s:%d:%d", d.name, at.Position.Line, at.Position.Column)
	}
	return fmt.Errorf("%s: %w", place, fmt.Errorf(format, args...))
}

// root returns the file's one value, or nil if the file is empty.
func (d document) root(data []byte) (ast.Node, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			return nil, d.errorAt(start(doc.Body), "the file holds several documents; a script is one")
		default:
			root = doc.Body
		}
	}
	return root, nil
}

func (d document) syntaxError(err error) error {
	at, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	message := at.GetMessage()
	if strings.Contains(message, "flow map") {
		message += "; a value that begins with {{ has to be quoted"
	}
	return d.errorAt(at.GetToken(), "%s", message)
}

// field is one key of a mapping and its value.
type field struct {
	key   string
	at    *token.Token
	value ast.Node
}

// fields returns a mapping's fields in their order. Keys that are not allowed are errors; with none given, all are.
func (d document) fields(what string, node ast.Node, allowed ...string) ([]field, error) {
	var values []*ast.MappingValueNode
	switch mapping := node.(type) {
	case *ast.MappingNode:
		values = mapping.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{mapping}
	default:
		return nil, d.errorAt(start(node), "%s has to be a mapping, not %s", what, kind(node))
	}
	found := make([]field, 0, len(values))
	for _, value := range values {
		at := value.Key.GetToken()
		key, ok := scalar(value.Key)
		if !ok {
			return nil, d.errorAt(at, "a key of %s has to be plain text", what)
		}
		if len(allowed) > 0 && !slices.Contains(allowed, key) {
			return nil, d.errorAt(at, "unknown key %q in %s; allowed are %s", key, what, strings.Join(allowed, ", "))
		}
		found = append(found, field{key: key, at: at, value: value.Value})
	}
	return found, nil
}

func (d document) items(what string, node ast.Node) ([]ast.Node, error) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, d.errorAt(start(node), "%s has to be a list, not %s", what, kind(node))
	}
	return list.Values, nil
}

func (d document) text(what string, node ast.Node) (string, error) {
	text, ok := scalar(node)
	if !ok {
		return "", d.errorAt(start(node), "%s has to be text, not %s", what, kind(node))
	}
	return text, nil
}

func (d document) number(what string, node ast.Node) (int, error) {
	text, _ := scalar(node)
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return 0, d.errorAt(start(node), "%s has to be a whole number, 0 or more", what)
	}
	return number, nil
}

func (d document) duration(what string, node ast.Node) (time.Duration, error) {
	text, _ := scalar(node)
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < 0 {
		return 0, d.errorAt(start(node), "%s has to be a duration such as 250ms, or a number of seconds, 0 or more", what)
	}
	return length, nil
}

// scalar returns the text of a scalar as it is meant: that of a string without its quotes, that of null as empty.
func scalar(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return node.Value.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// start returns the token where a node begins; that of a mapping node itself is its first colon.
func start(node ast.Node) *token.Token {
	switch node := node.(type) {
	case *ast.MappingNode:
		if len(node.Values) > 0 {
			return node.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return node.Key.GetToken()
	}
	return node.GetToken()
}

func kind(node ast.Node) string {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor or alias, which scripts do not have"
	case *ast.TagNode:
		return "a tagged value, which scripts do not have"
	}
	return "a single value"
}
