package yamldoc

import (
	"encoding/json"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// JSON returns the value as JSON. It keeps the order of keys and the digits of numbers. It converts
// numbers that only YAML has, such as 0x10 and .5. An absent value becomes null. A value that JSON
// cannot express is an error in which what names it: .inf and .nan, keys that are not plain text,
// anchors and tags.
func (n Node) JSON(what string) (json.RawMessage, error) {
	switch n.Kind() {
	case Null:
		return json.RawMessage("null"), nil
	case Mapping:
		entries, err := n.Entries(what)
		if err != nil {
			return nil, err
		}
		members := make([]string, len(entries))
		for i, e := range entries {
			value, err := e.Value.JSON(what)
			if err != nil {
				return nil, err
			}
			members[i] = quote(e.Key) + ":" + string(value)
		}
		return json.RawMessage("{" + strings.Join(members, ",") + "}"), nil
	case List:
		items, _ := n.Items(what)
		values := make([]string, len(items))
		for i, item := range items {
			value, err := item.JSON(what)
			if err != nil {
				return nil, err
			}
			values[i] = string(value)
		}
		return json.RawMessage("[" + strings.Join(values, ",") + "]"), nil
	case Text:
		s, _ := n.scalar()
		return json.RawMessage(quote(s.text)), nil
	case Number, Bool:
		if s, _ := n.scalar(); json.Valid([]byte(s.text)) {
			return json.RawMessage(s.text), nil
		}
		if scalar, ok := n.node.(ast.ScalarNode); ok {
			if value, err := json.Marshal(scalar.GetValue()); err == nil {
				return value, nil
			}
		}
	}
	return nil, n.Errorf("%s has to be a value that JSON can express, and %s is none", what, n)
}
