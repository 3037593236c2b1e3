package yamldoc

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// JSON returns the value as JSON. It keeps the order of keys and the digits of numbers. It converts
// numbers that only YAML has, such as 0x10 and .5. An absent value becomes null. A value that JSON
// cannot express is an error in which what names it: .inf and .nan, keys that are not plain text,
// anchors and tags.
func (n Node) JSON(what string) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := n.writeJSON(&b, what); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (n Node) writeJSON(b *bytes.Buffer, what string) error {
	switch n.Kind() {
	case Null:
		b.WriteString("null")
		return nil
	case Mapping:
		entries, err := n.Entries(what)
		if err != nil {
			return err
		}
		return writeSequence(b, '{', '}', entries, func(e Entry) error {
			b.WriteString(quote(e.Key) + ":")
			return e.Value.writeJSON(b, what)
		})
	case List:
		return writeSequence(b, '[', ']', n.items(), func(item Node) error { return item.writeJSON(b, what) })
	case Bool:
		node, _ := n.node.(*ast.BoolNode)
		b.WriteString(strconv.FormatBool(node.Value))
		return nil
	case Text:
		s, _ := n.scalar()
		b.WriteString(quote(s.text))
		return nil
	case Number:
		if number, ok := n.jsonNumber(); ok {
			b.WriteString(number)
			return nil
		}
	}
	return n.Errorf("%s has to be a value that JSON can express, and %s is none", what, n)
}

// jsonNumber returns a Number as JSON writes it. ok is false for infinities and NaN.
func (n Node) jsonNumber() (number string, ok bool) {
	s, _ := n.scalar()
	if json.Valid([]byte(s.text)) {
		return s.text, true
	}
	switch node := n.node.(type) {
	case *ast.IntegerNode:
		text, err := json.Marshal(node.Value)
		return string(text), err == nil
	case *ast.FloatNode:
		return strconv.FormatFloat(node.Value, 'g', -1, 64), true
	}
	return "", false
}

func writeSequence[T any](b *bytes.Buffer, begin, end byte, items []T, write func(T) error) error {
	b.WriteByte(begin)
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(item); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}
