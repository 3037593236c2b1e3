package yamldoc

import (
	"bytes"
	"errors"
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
