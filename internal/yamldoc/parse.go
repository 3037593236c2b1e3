package yamldoc

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxDepth bounds how deep values may be nested. The parser's time grows with the square of the
// depth, so that a few kilobytes of brackets would occupy it for minutes.
const maxDepth = 100

// Parse returns the one value of a file, or the zero Node if the file has none. name stands for the
// file in errors. The error is an *Error.
func Parse(name string, data []byte) (Node, error) {
	if !utf8.Valid(data) {
		return Node{}, newError(name, firstInvalid(data), "", "this is not UTF-8")
	}
	if depth(data) > maxDepth {
		return Node{}, newError(name, Place{}, "", "values are nested more than %d deep", maxDepth)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // editors on Windows write it
	// Entries reports repeated keys, with both places.
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return Node{}, newError(name, tokenPlace(syntax.GetToken()), "", "this is not YAML: %s", syntax.GetMessage())
	} else if err != nil {
		return Node{}, newError(name, Place{}, "", "this is not YAML: %w", err)
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

// depth returns an upper bound of how deep punctuation nests values. It ignores nesting by
// indentation, which needs so much white space that the size of the file bounds it. It also counts
// punctuation inside texts: real files do not leave a hundred brackets open there.
func depth(data []byte) int {
	open, deepest, run := 0, 0, 0
	lineStart := true
	for _, c := range data {
		switch {
		case c == '[' || c == '{':
			open++
			deepest = max(deepest, open)
		case (c == ']' || c == '}') && open > 0:
			open--
		}
		switch {
		case c == '\n':
			lineStart, run = true, 0
		case lineStart && strings.IndexByte("-?:", c) >= 0:
			run++
			deepest = max(deepest, run)
		case c != ' ' && c != '\t':
			lineStart = false
		}
	}
	return deepest
}
