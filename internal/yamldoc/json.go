package yamldoc

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// JSON returns a value as JSON, keys in their order and numbers as they are written. Nothing at all is null. What JSON
// does not have is an error: keys that are no text, numbers such as 0x10, .5 or .inf.
func (n Node) JSON(what string) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := n.writeJSON(&b, what); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (n Node) writeJSON(b *bytes.Buffer, what string) error {
	switch node := n.node.(type) {
	case nil, *ast.NullNode:
		b.WriteString("null")
		return nil
	case *ast.MappingNode, *ast.MappingValueNode:
		return n.writeObject(b, what)
	case *ast.SequenceNode:
		return n.writeArray(b, what)
	case *ast.BoolNode:
		return writeValue(b, node.Value)
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := scalar(node)
		if node.GetToken().Type == token.StringType && strings.Trim(text[:min(1, len(text))], "-0123456789") == "" && json.Valid([]byte(text)) {
			b.WriteString(text) // a number that the parser takes for a text, because no Go integer has room for it
			return nil
		}
		return writeValue(b, text)
	}
	number := n.node.GetToken().Value
	switch n.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		if json.Valid([]byte(number)) {
			b.WriteString(number)
			return nil
		}
	}
	return n.Errorf("%s has to be a value that JSON has, and %q is none", what, number)
}

func (n Node) writeObject(b *bytes.Buffer, what string) error {
	fields, err := n.Fields(what)
	if err != nil {
		return err
	}
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeValue(b, f.Key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := f.Value.writeJSON(b, what); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func (n Node) writeArray(b *bytes.Buffer, what string) error {
	items, err := n.Items(what)
	if err != nil {
		return err
	}
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := item.writeJSON(b, what); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeValue(b *bytes.Buffer, value any) error {
	text, err := json.Marshal(value)
	b.Write(text)
	return err
}
