package scripted

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// arguments yields a call's argument text.
type arguments interface {
	render(s scope) (string, error)
}

// jsonText is a template whose output has to be JSON.
type jsonText struct{ text }

func (t jsonText) render(s scope) (string, error) {
	out, err := t.text.render(s)
	if err == nil && !json.Valid([]byte(out)) {
		err = errors.New("the template did not yield JSON; use arguments_raw to send anything else")
	}
	return out, err
}

// quoted is a template whose output becomes a JSON string.
type quoted struct{ text }

func (q quoted) render(s scope) (string, error) {
	out, err := q.text.render(s)
	if err != nil {
		return "", err
	}
	return marshal(out)
}

// list and object are JSON values with templates somewhere inside.
type (
	list   []arguments
	object []member
	member struct {
		key   string // as JSON
		value arguments
	}
)

func (l list) render(s scope) (string, error) {
	parts := make([]string, 0, len(l))
	for _, value := range l {
		part, err := value.render(s)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func (o object) render(s scope) (string, error) {
	parts := make([]string, 0, len(o))
	for _, m := range o {
		part, err := m.value.render(s)
		if err != nil {
			return "", err
		}
		parts = append(parts, m.key+":"+part)
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

// arguments reads the value of the key arguments: a mapping, or a string that is a template of JSON.
func (d document) arguments(node ast.Node) (arguments, error) {
	switch node.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		source, _ := scalar(node)
		parsed, err := d.template("arguments", source, start(node))
		return jsonText{parsed}, err
	case *ast.NullNode:
		return object{}, nil
	case *ast.MappingNode, *ast.MappingValueNode:
		return d.value(node)
	}
	return nil, d.errorAt(start(node), "arguments have to be a mapping, not %s; use arguments_raw to send anything else", kind(node))
}

func (d document) value(node ast.Node) (arguments, error) {
	switch node := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return d.object(node)
	case *ast.SequenceNode:
		values := make(list, 0, len(node.Values))
		for _, item := range node.Values {
			value, err := d.value(item)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
		return values, nil
	case *ast.StringNode:
		if plainNumber(node) {
			return text{source: node.Value}, nil
		}
	case *ast.NullNode:
		return text{source: "null"}, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return d.literal(node)
	}
	source, err := d.text("a value of the arguments", node)
	if err != nil {
		return nil, err
	}
	parsed, err := d.template("arguments", source, start(node))
	return quoted{parsed}, err
}

func (d document) object(node ast.Node) (arguments, error) {
	fields, err := d.fields("arguments", node)
	if err != nil {
		return nil, err
	}
	members := make(object, 0, len(fields))
	for _, f := range fields {
		key, err := marshal(f.key)
		if err != nil {
			return nil, d.errorAt(f.at, "writing the key as JSON: %w", err)
		}
		value, err := d.value(f.value)
		if err != nil {
			return nil, err
		}
		members = append(members, member{key: key, value: value})
	}
	return members, nil
}

// literal keeps a number as it is written, so that 1.0 stays 1.0, unless only YAML reads it, as it does 0x10.
func (d document) literal(node ast.Node) (arguments, error) {
	written := node.GetToken().Value
	if json.Valid([]byte(written)) {
		return text{source: written}, nil
	}
	value, _ := node.(ast.ScalarNode)
	source, err := marshal(value.GetValue())
	if err != nil {
		return nil, d.errorAt(start(node), "writing %s as JSON: %w", written, err)
	}
	return text{source: source}, nil
}

// plainNumber finds the numbers that the YAML library takes for strings, since no Go number holds them or it does not
// know the form: 123456789012345678901234567890 and 1e3.
func plainNumber(node *ast.StringNode) bool {
	if node.Token.Type != token.StringType || node.Value == "" || !strings.ContainsRune("-0123456789", rune(node.Value[0])) {
		return false
	}
	return json.Valid([]byte(node.Value))
}
