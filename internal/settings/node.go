package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Place is where something stands in the file. The zero value is nowhere in particular.
type Place struct{ Line, Column int }

// Entry is one key of a mapping and its value.
type Entry struct {
	Key   string
	At    Place // of the key
	Value ast.Node
}

// Document decodes the whole file into v, a struct.
func (d *Decoder) Document(data []byte, v reflect.Value) {
	d.root = v.Type()
	if len(data) > MaxBytes {
		d.Fail(Place{}, "", "the file is larger than %d bytes", MaxBytes)
		return
	}
	if !utf8.Valid(data) {
		d.Fail(firstInvalid(data), "", "this is not UTF-8")
		return
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as editors of Windows write it
	d.source = []rune(string(data))
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey()) // entries reports them all, with both places
	if err != nil {
		at := Place{}
		message := err.Error()
		if syntax, ok := errors.AsType[yaml.Error](err); ok {
			at, message = placeAt(syntax.GetToken()), syntax.GetMessage()
		}
		d.Fail(at, "", "this is not YAML: %s", message)
		return
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case root != nil:
			d.Fail(PlaceOf(doc.Body), "", "a second document begins here; the file must hold one")
			return
		default:
			root = doc.Body
		}
	}
	d.Structure(v, "", root)
}

// firstInvalid returns the place of the first byte that is not UTF-8.
func firstInvalid(data []byte) Place {
	at := Place{1, 1}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			return at
		case r == '\n':
			at = Place{at.Line + 1, 1}
		default:
			at.Column++
		}
		data = data[size:]
	}
	return at
}

// Entries returns the entries of a mapping. Keys that are no text or stand there twice are reported, and left out.
func (d *Decoder) Entries(parent string, node ast.Node) (entries []Entry, ok bool) {
	values, ok := MappingOf(node)
	if !ok {
		return nil, false
	}
	first := map[string]Place{}
	for _, value := range values {
		at := PlaceOf(value.Key)
		s, text := ScalarOf(value.Key)
		if !text {
			d.Fail(at, parent, "%s is not a key; keys are plain text", Kind(value.Key))
			continue
		}
		if before, twice := first[s.Text]; twice {
			d.Fail(at, Join(parent, ShownKey(s.Text)), "this key stands in line %d already", before.Line)
			continue
		}
		first[s.Text] = at
		entries = append(entries, Entry{Key: s.Text, At: at, Value: value.Value})
	}
	return entries, true
}

// MappingOf returns the keys and values of a mapping; ok is false if the node is none.
func MappingOf(node ast.Node) (values []*ast.MappingValueNode, ok bool) {
	switch mapping := node.(type) {
	case *ast.MappingNode:
		return mapping.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{mapping}, true
	}
	return nil, false
}

// ScalarOf returns a single value as it is meant: a text without its quotes, all else as it is written.
func ScalarOf(node ast.Node) (s Scalar, ok bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		quote := node.GetToken().Type
		return Scalar{node.Value, quote == token.SingleQuoteType || quote == token.DoubleQuoteType}, true
	case *ast.LiteralNode:
		return Scalar{node.Value.Value, true}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return Scalar{Text: node.GetToken().Value}, true
	}
	return Scalar{}, false
}

// IsNull reports whether a node is absent, or null.
func IsNull(node ast.Node) bool {
	if node == nil {
		return true
	}
	_, null := node.(*ast.NullNode)
	return null
}

// Given says what stands there: a single value as it is, or what it is instead.
func Given(node ast.Node) string {
	if s, ok := ScalarOf(node); ok {
		return shown(s)
	}
	return Kind(node)
}

// Kind says what a node is: a mapping, a list, or the value itself.
func Kind(node ast.Node) string {
	switch node := node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor, alias or merge key, which this file cannot have,"
	case *ast.TagNode:
		return fmt.Sprintf("a value with the tag %s, which this file cannot have,", shown(Scalar{Text: node.Start.Value}))
	}
	if s, ok := ScalarOf(node); ok {
		return shown(s)
	}
	return "this"
}

// PlaceOf returns where a node begins; the token of a mapping itself is its first colon.
func PlaceOf(node ast.Node) Place {
	switch node := node.(type) {
	case nil:
		return Place{}
	case *ast.MappingNode:
		if len(node.Values) > 0 && !node.IsFlowStyle {
			return PlaceOf(node.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return PlaceOf(node.Key)
	case *ast.SequenceNode:
		if len(node.Values) > 0 && !node.IsFlowStyle {
			return placeAt(node.Start)
		}
	}
	return placeAt(node.GetToken())
}

func placeAt(at *token.Token) Place {
	if at == nil || at.Position == nil {
		return Place{}
	}
	return Place{at.Position.Line, at.Position.Column}
}
