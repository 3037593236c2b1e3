// Package yamldoc reads YAML files strictly: every key is asked for by name, and whatever is wrong is reported with the
// file's name, line and column, and with what is allowed there.
//
// It reads into nodes, not into structs, because a struct says neither where a value stood nor which values a key may
// have. It knows no particular file: internal/plugin/manifest says what is in plugin.yaml and toolhost.lock.
package yamldoc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Document is a file as its errors name it. It has no state: it may be used for many files, concurrently.
type Document struct{ Name string }

// Node is a value in a file. The zero Node is the absence of one.
type Node struct {
	doc  Document
	node ast.Node
}

// Field is one key of a mapping and its value.
type Field struct {
	Key   string
	Value Node
	at    *token.Token
	doc   Document
}

// Errorf returns an error that begins with the place of the key.
func (f Field) Errorf(format string, args ...any) error { return f.doc.errorAt(f.at, format, args...) }

// Parse returns the file's one value; a zero Node if the file is empty. Keys that stand twice in a mapping are errors.
func (d Document) Parse(data []byte) (Node, error) {
	if depth(data) > maxDepth {
		return Node{}, d.errorAt(nil, "values are nested more than %d deep", maxDepth)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Node{}, d.syntaxError(err)
	}
	root := Node{doc: d}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root.node != nil:
			return Node{}, d.errorAt(start(doc.Body), "a second document begins here; the file must hold one")
		default:
			root.node = doc.Body
		}
	}
	if root.node != nil && root.node.Type() == ast.CommentType {
		root.node = nil
	}
	return root, nil
}

func (d Document) syntaxError(err error) error {
	at, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return d.errorAt(at.GetToken(), "%s", at.GetMessage())
}

func (d Document) errorAt(at *token.Token, format string, args ...any) error {
	place := d.Name
	if at != nil && at.Position != nil {
		place = fmt.Sprintf("%s:%d:%d", d.Name, at.Position.Line, at.Position.Column)
	}
	return fmt.Errorf("%s: %w", place, fmt.Errorf(format, args...))
}

// IsZero reports whether there is no value.
func (n Node) IsZero() bool { return n.node == nil }

// Place returns where the value begins: line and column from 1, or zeros if that is nowhere in particular.
func (n Node) Place() (line, column int) {
	if n.node == nil {
		return 0, 0
	}
	if at := start(n.node); at != nil && at.Position != nil {
		return at.Position.Line, at.Position.Column
	}
	return 0, 0
}

// Errorf returns an error that begins with the place of the value.
func (n Node) Errorf(format string, args ...any) error {
	var at *token.Token
	if n.node != nil {
		at = start(n.node)
	}
	return n.doc.errorAt(at, format, args...)
}

// Fields returns a mapping's fields in their order. What names the mapping in errors. A key that is not among those
// allowed is an error that lists them; with none given, all are allowed.
func (n Node) Fields(what string, allowed ...string) ([]Field, error) {
	var values []*ast.MappingValueNode
	switch mapping := n.node.(type) {
	case *ast.MappingNode:
		values = mapping.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{mapping}
	default:
		return nil, n.Errorf("%s has to be a mapping, not %s", what, kind(n.node))
	}
	found := make([]Field, 0, len(values))
	for _, value := range values {
		at := value.Key.GetToken()
		key, ok := scalar(value.Key)
		if !ok {
			return nil, n.doc.errorAt(at, "a key of %s has to be plain text", what)
		}
		if len(allowed) > 0 && !slices.Contains(allowed, key) {
			return nil, n.doc.errorAt(at, "unknown key %q in %s; allowed are %s", key, what, strings.Join(allowed, ", "))
		}
		found = append(found, Field{Key: key, Value: Node{doc: n.doc, node: value.Value}, at: at, doc: n.doc})
	}
	return found, nil
}

// Items returns the values of a list.
func (n Node) Items(what string) ([]Node, error) {
	list, ok := n.node.(*ast.SequenceNode)
	if !ok {
		return nil, n.Errorf("%s has to be a list, not %s", what, kind(n.node))
	}
	items := make([]Node, len(list.Values))
	for i, value := range list.Values {
		items[i] = Node{doc: n.doc, node: value}
	}
	return items, nil
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
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor or alias, which this file may not have"
	case *ast.TagNode:
		return "a tagged value, which this file may not have"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	}
	return "text"
}
