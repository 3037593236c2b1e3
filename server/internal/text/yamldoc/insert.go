package yamldoc

import (
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Insert returns the text of a file with one more key. path has the keys that lead to the new one,
// the last of which is new, and value is the text of its value on one line. Mappings on the way
// that the file lacks are added. All other bytes, such as comments, stay as they are.
//
// The error says why the file has no place for the key: the key exists already, or a value on the
// way is no mapping. The caller decodes the result, and so checks the value.
func Insert(name string, data []byte, path []string, value string) ([]byte, error) {
	node, err := Parse(name, data)
	if err != nil {
		return nil, err
	}
	last, parent, entries := path[len(path)-1], Place{}, []Entry(nil)
	for len(path) > 0 && node.Kind() != Null {
		if entries, err = node.Entries("a mapping"); err != nil {
			return nil, err
		}
		next := slices.IndexFunc(entries, func(e Entry) bool { return e.Key == path[0] })
		if next < 0 {
			break
		}
		node, parent, path, entries = entries[next].Value, entries[next].At, path[1:], nil
	}
	if len(path) == 0 {
		return nil, node.Errorf("there is a %s already", last)
	}
	lines := strings.SplitAfter(string(data), "\n")
	line, indent := len(lines), ""
	if parent != (Place{}) {
		line, indent = parent.Line, strings.Repeat(" ", parent.Column+1)
	}
	switch mapping, _ := node.node.(*ast.MappingNode); {
	case mapping != nil && mapping.IsFlowStyle:
		text, at := keyText(path, value), node.Place()
		if len(entries) > 0 {
			text += ", "
		}
		braces := []rune(lines[at.Line-1])
		lines[at.Line-1] = string(braces[:at.Column]) + text + string(braces[at.Column:])
		return []byte(strings.Join(lines, "")), nil
	case len(entries) > 0:
		indent = strings.Repeat(" ", entries[0].At.Column-1)
	case parent != (Place{}) && !opensBlock.MatchString(lines[line-1]):
		return nil, newError(name, parent, "", "this is no mapping in lines of its own")
	}
	before := strings.Join(lines[:line], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	text := indent + keyText(path, value)
	if len(path) > 1 {
		text = indent + keyText(path[:1], "") + "\n" + indent + "  " + keyText(path[1:], value)
	}
	return []byte(before + text + "\n" + strings.Join(lines[line:], "")), nil
}

// opensBlock matches a line with a key whose value begins on the next line.
var opensBlock = regexp.MustCompile(`:\s*(#.*)?\r?\n?$`)

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// keyText returns keys with a value on one line: a: {b: {c: value}}. Without a value, it ends with
// the colon.
func keyText(path []string, value string) string {
	key := path[0]
	if token.IsNeedQuoted(key) || !plainKey.MatchString(key) {
		key = quote(key)
	}
	switch {
	case len(path) > 1:
		return key + ": {" + keyText(path[1:], value) + "}"
	case value == "":
		return key + ":"
	}
	return key + ": " + value
}
