package yamldoc

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxDepth bounds how deep values may be nested. The parser's time grows with the square of the
// depth, so that a few kilobytes of brackets would occupy it for minutes.
const maxDepth = 100

// maxKeys bounds the keys of one mapping in block style. The parser's time grows with their square
// (https://github.com/goccy/go-yaml/issues/889), so that 64 KiB of keys would occupy it for
// seconds.
const maxKeys = 5000

// Parse returns the one value of a file, or the zero Node if the file has none. name stands for the
// file in errors. The error is an *Error.
func Parse(name string, data []byte) (Node, error) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return Node{}, newError(name, placeAfter(data[:i]), "", "this is not UTF-8")
		}
		i += size
	}
	// Editors on Windows write a byte order mark.
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if depth(tokens) > maxDepth {
		return Node{}, newError(name, Place{}, "", "values are nested more than %d deep", maxDepth)
	}
	if at := excessiveKey(tokens); at != nil {
		return Node{}, newError(name, tokenPlace(at), "", "a mapping has more than %d keys; this is the next one", maxKeys)
	}
	if at := tabbed(tokens); at != nil {
		return Node{}, newError(name, tokenPlace(at), "", "a tab is in this value; write the value in double quotes, with \\t for the tab")
	}
	// Entries reports repeated keys, with both places.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return Node{}, newError(name, tokenPlace(syntax.GetToken()), "", "this is not YAML: %s", syntax.GetMessage())
	} else if err != nil {
		return Node{}, newError(name, Place{}, "", "this is not YAML: %v", err)
	}
	root := Node{file: name}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case root.node != nil:
			return Node{}, newError(name, placeOf(doc.Body), "", "a second document begins here; the file must hold one")
		default:
			root.node = doc.Body
		}
	}
	return root, nil
}

// placeAfter returns the place after a text.
func placeAfter(text []byte) Place {
	line := bytes.LastIndexByte(text, '\n') + 1
	return Place{bytes.Count(text, []byte("\n")) + 1, utf8.RuneCount(text[line:]) + 1}
}

// depth returns how deep punctuation nests values. It ignores nesting by indentation, which needs
// so much white space that the size of the file bounds it.
func depth(tokens token.Tokens) int {
	open, run, line, deepest := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, run = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open = max(0, open-1)
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType, token.AnchorType, token.TagType:
			run++ // such as the dashes of - - -
		default:
			run = 0
		}
		deepest = max(deepest, open, run)
	}
	return deepest
}

// excessiveKey returns the first key that a mapping in block style has beyond maxKeys, or nil.
func excessiveKey(tokens token.Tokens) *token.Token {
	type mapping struct{ column, keys int }
	var open []mapping // those around the token; deeper ones have larger columns
	leave := func(column int) {
		for len(open) > 0 && open[len(open)-1].column > column {
			open = open[:len(open)-1]
		}
	}
	flow := 0
	for i, t := range tokens {
		key := t
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
			continue
		case token.SequenceEndType, token.MappingEndType:
			flow = max(0, flow-1)
			continue
		case token.SequenceEntryType:
			leave(t.Position.Column)
			continue
		case token.MappingKeyType:
		case token.MappingValueType:
			key = tokens[max(0, i-1)]
		default:
			continue
		}
		if flow > 0 {
			continue
		}
		leave(key.Position.Column)
		if len(open) == 0 || open[len(open)-1].column < key.Position.Column {
			open = append(open, mapping{column: key.Position.Column})
		}
		last := &open[len(open)-1]
		if last.keys++; last.keys > maxKeys {
			return key
		}
	}
	return nil
}

// tabbed returns the first token without quotes that has a tab between other characters, or nil.
// The lexer drops such a tab.
func tabbed(tokens token.Tokens) *token.Token {
	block := false // the token before begins a text in block style
	for _, t := range tokens {
		switch t.Type {
		case token.LiteralType, token.FoldedType:
			block = true
			continue
		case token.CommentType:
			continue // it may stand between | and the text
		case token.SingleQuoteType, token.DoubleQuoteType:
		default:
			for line := range strings.SplitSeq(t.Origin, "\n") {
				if !block && strings.Contains(strings.TrimSpace(line), "\t") {
					return t
				}
			}
		}
		block = false
	}
	return nil
}
