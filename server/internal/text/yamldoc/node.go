package yamldoc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Place is a position in a file. Lines and columns count from 1, columns in characters. The zero
// Place means the file as a whole.
type Place struct{ Line, Column int }

// Node is a value in a file. The zero Node is an absent value.
type Node struct {
	file string
	node ast.Node
}

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   string
	At    Place // of the key
	Value Node
}

// Kind is the form of a value.
type Kind int

// The forms of a value. A number that no Go type can hold is a Number too. Other is a form that
// these files cannot have: an anchor, an alias, a merge key or a tag.
const (
	Null Kind = iota
	Text
	Number
	Bool
	List
	Mapping
	Other
)

// Kind returns the form of the value. An absent value is Null.
func (n Node) Kind() Kind {
	switch node := n.node.(type) {
	case nil, *ast.NullNode:
		return Null
	case *ast.MappingNode:
		return Mapping
	case *ast.SequenceNode:
		return List
	case *ast.BoolNode:
		return Bool
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return Number
	case *ast.LiteralNode:
		return Text
	case *ast.StringNode:
		// The parser takes 1e3 and integers above 64 bits for texts.
		plain := node.GetToken().Type == token.StringType
		if plain && node.Value != "" && strings.IndexByte("-0123456789", node.Value[0]) >= 0 && json.Valid([]byte(node.Value)) {
			return Number
		}
		return Text
	}
	return Other
}

// String describes the value for an error: the value itself if it is a scalar, else its form.
func (n Node) String() string {
	if s, ok := n.scalar(); ok {
		return s.String()
	}
	switch node := n.node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.TagNode:
		return fmt.Sprintf("a value with the tag %s, which this file cannot have,", scalar{text: node.Start.Value})
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor, alias or merge key, which this file cannot have,"
	}
	return "this"
}

// other returns the text of String in the form for the end of a sentence.
func (n Node) other() string { return strings.TrimSuffix(n.String(), ",") }

// Place returns where the value begins.
func (n Node) Place() Place { return placeOf(n.node) }

// Errorf returns an *Error at the place of the value.
func (n Node) Errorf(format string, args ...any) error {
	return newError(n.file, n.Place(), "", format, args...)
}

// Errorf returns an *Error at the place of the key.
func (e Entry) Errorf(format string, args ...any) error {
	return newError(e.Value.file, e.At, "", format, args...)
}

// Text returns the text of a scalar: a string without its quotes, a number or a Boolean as the file
// writes it. what names the value in the error.
func (n Node) Text(what string) (string, error) {
	s, ok := n.scalar()
	if !ok {
		return "", n.Errorf("%s has to be a text, not %s", what, n.other())
	}
	return s.text, nil
}

// Items returns the values of a list. what names the list in the error.
func (n Node) Items(what string) ([]Node, error) {
	if n.Kind() != List {
		return nil, n.Errorf("%s has to be a list, not %s", what, n.other())
	}
	list, _ := n.node.(*ast.SequenceNode)
	items := make([]Node, len(list.Values))
	for i, value := range list.Values {
		items[i] = Node{n.file, value}
	}
	return items, nil
}

// Entries returns the entries of a mapping in the order of the file. A key outside allowed is an
// error that lists the allowed keys. Without allowed keys, every key is allowed. what names the
// mapping in errors.
func (n Node) Entries(what string, allowed ...string) ([]Entry, error) {
	if n.Kind() != Mapping {
		return nil, n.Errorf("%s has to be a mapping, not %s", what, n.other())
	}
	entries, wrong := n.entries()
	if len(wrong) > 0 {
		wrong[0].Key = ""
		return nil, wrong[0]
	}
	for _, e := range entries {
		if len(allowed) > 0 && !slices.Contains(allowed, e.Key) {
			meant := ""
			if near := suggest(e.Key, allowed); near != "" {
				meant = "; did you mean " + near + "?"
			}
			return nil, e.Errorf("unknown key %q in %s; allowed are %s%s", e.Key, what, strings.Join(allowed, ", "), meant)
		}
	}
	return entries, nil
}

// entries returns the entries of a mapping, without keys that are not plain text and keys that the
// mapping has already, which are errors.
func (n Node) entries() (entries []Entry, wrong Errors) {
	mapping, ok := n.node.(*ast.MappingNode)
	if !ok {
		return nil, nil
	}
	first := make(map[string]Place, len(mapping.Values))
	for _, value := range mapping.Values {
		key := Node{n.file, value.Key}
		s, ok := key.scalar()
		before, twice := first[s.text]
		switch {
		case !ok:
			wrong = append(wrong, newError(n.file, key.Place(), "", "%s is not a key; keys are plain text", key))
		case twice:
			wrong = append(wrong, newError(n.file, key.Place(), ShownKey(s.text), "this key is already in line %d", before.Line))
		default:
			first[s.text] = key.Place()
			entries = append(entries, Entry{Key: s.text, At: key.Place(), Value: Node{n.file, value.Value}})
		}
	}
	return entries, wrong
}

// scalar returns the value as the file means it: a string without its quotes, anything else as it
// is written. ok is false if the value is not a scalar.
func (n Node) scalar() (s scalar, ok bool) {
	switch node := n.node.(type) {
	case *ast.StringNode:
		quote := node.GetToken().Type
		return scalar{node.Value, quote == token.SingleQuoteType || quote == token.DoubleQuoteType}, true
	case *ast.LiteralNode:
		return scalar{node.Value.Value, true}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return scalar{text: node.GetToken().Value}, true
	}
	return scalar{}, false
}

// placeOf returns where a node begins. The parser's own token of a block mapping is its first
// colon.
func placeOf(node ast.Node) Place {
	if node == nil {
		return Place{}
	}
	if mapping, ok := node.(*ast.MappingNode); ok && len(mapping.Values) > 0 && !mapping.IsFlowStyle {
		return placeOf(mapping.Values[0].Key)
	}
	return tokenPlace(node.GetToken())
}

func tokenPlace(at *token.Token) Place {
	if at == nil || at.Position == nil {
		return Place{}
	}
	return Place{at.Position.Line, at.Position.Column}
}
