package yamldoc

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Insert returns the text of a file with one more key. path has the keys that lead to the new one,
// the last of which is new, and value is the text of its value on one line. Mappings on the way that
// the file lacks are added. All other bytes, such as comments, stay as they are.
//
// The error says why the file has no place for the key: the key exists already, or a value on the way
// is no mapping. The caller decodes the result, and so checks the value.
func Insert(name string, data []byte, path []string, value string) ([]byte, error) {
	root, err := Parse(name, data)
	if err != nil {
		return nil, err
	}
	node, parent := root, Place{}
	for i, key := range path {
		if node.Kind() == Null {
			return insertBelow(name, data, parent, path[i:], value)
		}
		entries, err := node.Entries("a mapping")
		if err != nil {
			return nil, err
		}
		next := -1
		for at := range entries {
			if entries[at].Key == key {
				next = at
			}
		}
		if next < 0 {
			return insertInto(data, node, entries, parent, path[i:], value)
		}
		node, parent = entries[next].Value, entries[next].At
	}
	return nil, node.Errorf("there is a %s already", path[len(path)-1])
}

// insertBelow adds the first key of a mapping that has only its name, or nothing if parent is the
// zero Place.
func insertBelow(name string, data []byte, parent Place, path []string, value string) ([]byte, error) {
	if parent == (Place{}) {
		return appendLines(data, blockText("", path, value)), nil
	}
	lines := strings.SplitAfter(string(data), "\n")
	if line := lines[parent.Line-1]; !opensBlock.MatchString(line) {
		return nil, newError(name, parent, "", "this is no mapping in lines of its own")
	}
	return insertLine(lines, parent.Line, blockText(strings.Repeat(" ", parent.Column+1), path, value)), nil
}

// opensBlock matches a line with a key whose value begins on the next line.
var opensBlock = regexp.MustCompile(`:\s*(#.*)?\r?\n?$`)

// insertInto adds a key to a mapping that has keys, or to a mapping in braces.
func insertInto(data []byte, node Node, entries []Entry, parent Place, path []string, value string) ([]byte, error) {
	lines := strings.SplitAfter(string(data), "\n")
	at := node.Place()
	if runes := []rune(lines[at.Line-1]); at.Column <= len(runes) && runes[at.Column-1] == '{' {
		text := flowText(path, value)
		if len(entries) > 0 {
			text += ", "
		}
		lines[at.Line-1] = string(runes[:at.Column]) + text + string(runes[at.Column:])
		return []byte(strings.Join(lines, "")), nil
	}
	indent := strings.Repeat(" ", entries[0].At.Column-1)
	if parent == (Place{}) {
		return appendLines(data, blockText(indent, path, value)), nil
	}
	return insertLine(lines, parent.Line, blockText(indent, path, value)), nil
}

// insertLine inserts a text before the line with an index from 0.
func insertLine(lines []string, index int, text string) []byte {
	if before := lines[index-1]; !strings.HasSuffix(before, "\n") {
		text = "\n" + text
	}
	return []byte(strings.Join(lines[:index], "") + text + strings.Join(lines[index:], ""))
}

func appendLines(data []byte, text string) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		text = "\n" + text
	}
	return append(data[:len(data):len(data)], text...)
}

// blockText returns a key with its value as lines. A mapping that is added on the way is a line of
// its own if it is the first, and in braces below that.
func blockText(indent string, path []string, value string) string {
	if len(path) == 1 {
		return fmt.Sprintf("%s%s: %s\n", indent, keyText(path[0]), value)
	}
	return fmt.Sprintf("%s%s:\n%s  %s\n", indent, keyText(path[0]), indent, flowText(path[1:], value))
}

// flowText returns a key with its value for a mapping in braces.
func flowText(path []string, value string) string {
	if len(path) == 1 {
		return keyText(path[0]) + ": " + value
	}
	return fmt.Sprintf("%s: {%s}", keyText(path[0]), flowText(path[1:], value))
}

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// keyText returns a key as YAML. Words that YAML takes for values are quoted.
func keyText(key string) string {
	switch strings.ToLower(key) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
	default:
		if plainKey.MatchString(key) {
			return key
		}
	}
	quoted, _ := json.Marshal(key) // encoding a string cannot fail; a JSON string is a YAML string
	return string(quoted)
}
