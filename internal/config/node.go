package config

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

// place is where something stands in the file. The zero value is nowhere in particular.
type place struct{ line, column int }

// entry is one key of a mapping and its value.
type entry struct {
	key   string
	at    place // of the key
	value ast.Node
}

// document decodes the whole file.
func (d *decoder) document(data []byte) {
	if len(data) > maxBytes {
		d.fail(place{}, "", "the file is larger than %d bytes", maxBytes)
		return
	}
	if !utf8.Valid(data) {
		d.fail(firstInvalid(data), "", "this is not UTF-8")
		return
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as editors of Windows write it
	d.source = []rune(string(data))
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey()) // entries reports them all, with both places
	if err != nil {
		at := place{}
		message := err.Error()
		if syntax, ok := errors.AsType[yaml.Error](err); ok {
			at, message = placeAt(syntax.GetToken()), syntax.GetMessage()
		}
		d.fail(at, "", "this is not YAML: %s", message)
		return
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case root != nil:
			d.fail(placeOf(doc.Body), "", "a second document begins here; the file must hold one")
			return
		default:
			root = doc.Body
		}
	}
	d.structure(reflect.ValueOf(d.config).Elem(), "", root)
}

// firstInvalid returns the place of the first byte that is not UTF-8.
func firstInvalid(data []byte) place {
	at := place{1, 1}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			return at
		case r == '\n':
			at = place{at.line + 1, 1}
		default:
			at.column++
		}
		data = data[size:]
	}
	return at
}

// entries returns the entries of a mapping. Keys that are no text or stand there twice are reported, and left out.
func (d *decoder) entries(parent string, node ast.Node) (entries []entry, ok bool) {
	values, ok := mappingOf(node)
	if !ok {
		return nil, false
	}
	first := map[string]place{}
	for _, value := range values {
		at := placeOf(value.Key)
		s, text := scalarOf(value.Key)
		if !text {
			d.fail(at, parent, "%s is not a key; keys are plain text", kind(value.Key))
			continue
		}
		if before, twice := first[s.text]; twice {
			d.fail(at, join(parent, shownKey(s.text)), "this key stands in line %d already", before.line)
			continue
		}
		first[s.text] = at
		entries = append(entries, entry{key: s.text, at: at, value: value.Value})
	}
	return entries, true
}

func mappingOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch mapping := node.(type) {
	case *ast.MappingNode:
		return mapping.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{mapping}, true
	}
	return nil, false
}

// scalarOf returns a single value as it is meant: a text without its quotes, all else as it is written.
func scalarOf(node ast.Node) (s scalar, ok bool) {
	switch node := node.(type) {
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

func isNull(node ast.Node) bool {
	if node == nil {
		return true
	}
	_, null := node.(*ast.NullNode)
	return null
}

// given says what stands there: a single value as it is, or what it is instead.
func given(node ast.Node) string {
	if s, ok := scalarOf(node); ok {
		return shown(s)
	}
	return kind(node)
}

func kind(node ast.Node) string {
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
		return fmt.Sprintf("a value with the tag %s, which this file cannot have,", shown(scalar{text: node.Start.Value}))
	}
	if s, ok := scalarOf(node); ok {
		return shown(s)
	}
	return "this"
}

// placeOf returns where a node begins; the token of a mapping itself is its first colon.
func placeOf(node ast.Node) place {
	switch node := node.(type) {
	case nil:
		return place{}
	case *ast.MappingNode:
		if len(node.Values) > 0 && !node.IsFlowStyle {
			return placeOf(node.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return placeOf(node.Key)
	case *ast.SequenceNode:
		if len(node.Values) > 0 && !node.IsFlowStyle {
			return placeAt(node.Start)
		}
	}
	return placeAt(node.GetToken())
}

func placeAt(at *token.Token) place {
	if at == nil || at.Position == nil {
		return place{}
	}
	return place{at.Position.Line, at.Position.Column}
}
