package clientfile

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// syntax edits a text of a configuration language. An edit keeps the bytes of everything else:
// comments, order, indentation, and the ends of lines.
type syntax interface {
	// decode returns the values of a text. An empty text has none.
	decode(text []byte) (map[string]any, error)
	// put returns the text with an entry at a path, instead of the one that is there.
	put(text []byte, path []string, entry object) ([]byte, error)
	// update returns the text with other values of members of the entry at a path.
	update(text []byte, path []string, members object) ([]byte, error)
	// remove returns the text without the entry at a path.
	remove(text []byte, path []string) ([]byte, error)
	// render returns an entry as put writes it.
	render(path []string, entry object) string
}

// object is an object or table whose members are in order. A value is a string, a []string, a bool
// or an object.
type object []member

type member struct {
	key   string
	value any
}

// tree returns the object as decode returns it.
func (o object) tree() map[string]any {
	tree := map[string]any{}
	for _, m := range o {
		switch value := m.value.(type) {
		case []string:
			words := make([]any, len(value))
			for i, word := range value {
				words[i] = word
			}
			tree[m.key] = words
		case object:
			tree[m.key] = value.tree()
		default:
			tree[m.key] = value
		}
	}
	return tree
}

// quote returns a text as JSON and TOML write it.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// literal returns a value that is no object as JSON and TOML write it.
func literal(value any) string {
	switch value := value.(type) {
	case bool:
		if value {
			return "true"
		}
		return "false"
	case []string:
		words := make([]string, len(value))
		for i, word := range value {
			words[i] = quote(word)
		}
		return "[" + strings.Join(words, ", ") + "]"
	default:
		return quote(value.(string))
	}
}

// at returns the value at a path, or nil.
func at(tree map[string]any, path []string) any {
	var value any = tree
	for _, key := range path {
		members, _ := value.(map[string]any)
		value = members[key]
	}
	return value
}

// with returns a tree with another value at a path; nil: without one. It does not change the
// original. Objects on the way that have no other members count as missing, because TOML does not
// distinguish them.
func with(tree map[string]any, path []string, value any) map[string]any {
	changed := maps.Clone(tree)
	if changed == nil {
		changed = map[string]any{}
	}
	if len(path) > 1 {
		below, ok := changed[path[0]].(map[string]any)
		if !ok && changed[path[0]] != nil {
			return changed
		}
		if inner := with(below, path[1:], value); len(inner) > 0 {
			value = inner
		} else {
			value = nil
		}
	}
	if value == nil {
		delete(changed, path[0])
	} else {
		changed[path[0]] = value
	}
	return changed
}

// changesOnly reports whether an edit that gave the entry at a path a value (nil: removed it)
// changed nothing else.
func changesOnly(before, after map[string]any, path []string, value any) bool {
	return same(with(before, path, value), with(after, path, at(after, path)))
}

// same is reflect.DeepEqual for the values of a text, but NaN, which TOML has, is the same as NaN.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	}
	return reflect.DeepEqual(a, b)
}

// splice replaces a part of a text.
type splice struct {
	from, to int
	text     string
}

// apply returns a text with all splices. They must not overlap. Those at one place keep their
// order.
func apply(text []byte, splices ...splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })
	var out []byte
	end := 0
	for _, s := range splices {
		out = append(append(out, text[end:s.from]...), s.text...)
		end = s.to
	}
	return append(out, text[end:]...)
}

// mark is the byte order mark, which may begin a file.
const mark = "\xef\xbb\xbf"

// cutMark returns the byte order mark of a text, or nothing, and the rest.
func cutMark(text []byte) (before string, rest []byte) {
	if rest, ok := bytes.CutPrefix(text, []byte(mark)); ok {
		return mark, rest
	}
	return "", text
}

// lineEnd returns what ends the lines of a text.
func lineEnd(text []byte) string {
	if at := bytes.IndexByte(text, '\n'); at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns where the line of an offset begins.
func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
