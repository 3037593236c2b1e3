package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxDepth is how deep encoding/json lets objects and arrays be nested.
	maxDepth = 10_000
	// maxValues bounds how many values arguments hold: each takes some fifty bytes of memory, even if its text is {}, and
	// some steps of validation.
	maxValues = 1 << 18
	// maxName bounds the length of a property's name, which is matched with patterns and looked up in schemas again and again.
	maxName = 1 << 16
	// maxDigits bounds a number's text. A float64 has no more than 309 digits before its point, and takes no notice of the
	// digits far behind it.
	maxDigits = 2_000
	// maxPower bounds a number's exponent: somewhat beyond a float64's. Numbers are compared exactly, so that the nine
	// bytes of 1e9999999 would become four million.
	maxPower = 400
	// surelyFinite is how long the text of a number without an exponent can be and be no more than the largest float64.
	surelyFinite = 300
)

// sight is what a text shows without being read as JSON.
type sight struct {
	members       int // colons outside of strings
	halfCharacter int // where the first half of a surrogate pair stands alone; -1: nowhere
}

// survey goes through a text before it is read and refuses what would take too much memory or is no text. What it
// reports of a text that is no JSON means nothing.
func survey(text []byte) (sight, error) {
	if bytes.HasPrefix(text, []byte("\uFEFF")) {
		return sight{}, errors.New("the arguments are not valid JSON: they begin with a byte order mark; begin with {")
	}
	if !utf8.Valid(text) {
		valid := 0
		for size := 0; valid < len(text); valid += size {
			var r rune
			if r, size = utf8.DecodeRune(text[valid:]); r == utf8.RuneError && size == 1 {
				break
			}
		}
		return sight{}, fmt.Errorf("the arguments are not valid UTF-8 from byte %d on: %q; send text in UTF-8, and other bytes in base64",
			valid, text[valid:min(len(text), valid+4)])
	}
	s := sight{halfCharacter: -1}
	depth, values, last := 0, 0, text[:0] // last is the inside of the string that was read last
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			begin := i + 1
			i = s.skipString(text, begin)
			last = text[begin:min(i, len(text))]
		case ':':
			s.members++
			if len(last) > maxName {
				return sight{}, fmt.Errorf("the arguments cannot be used: the name of a property, %s, has more than %d bytes; send long texts as values",
					excerpt(last, 0), maxName)
			}
		case ',':
			values++
		case '[', '{':
			depth++
			values++
		case ']', '}':
			depth--
		}
		if depth > maxDepth {
			return sight{}, fmt.Errorf("the arguments cannot be used: they are nested deeper than %d levels; send them with fewer "+
				"objects and arrays within each other", maxDepth)
		}
		if values > maxValues {
			return sight{}, fmt.Errorf("the arguments cannot be used: they hold more than %d values; send fewer, or put the data into "+
				"a file and send its path", maxValues)
		}
	}
	return s, nil
}

// skipString returns where the string ends whose inside begins at a byte.
func (s *sight) skipString(text []byte, i int) int {
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] != '\\' {
			continue
		}
		first := unit(text[i:])
		switch {
		case !utf16.IsSurrogate(first):
		case i+6 <= len(text) && utf16.DecodeRune(first, unit(text[i+6:])) != utf8.RuneError:
			i += 6
		case s.halfCharacter < 0:
			s.halfCharacter = i
		}
		i++ // what is escaped ends nothing
	}
	return i
}

// unit returns the code unit of an escape such as \u00e9 that text begins with, or 0.
func unit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// members counts the properties of all objects in a value.
func members(value any) int {
	n := 0
	switch v := value.(type) {
	case map[string]any:
		n = len(v)
		for _, part := range v {
			n += members(part)
		}
	case []any:
		for _, part := range v {
			n += members(part)
		}
	}
	return n
}

// repeated says which property of a JSON text stands twice, in the text's first object of that kind.
func repeated(text []byte) string {
	type object map[string]bool // nil: an array
	var open []object
	dec := json.NewDecoder(bytes.NewReader(text))
	for wantKey := false; ; {
		token, err := dec.Token()
		if err != nil {
			return "a property stands twice in an object"
		}
		name, isText := token.(string)
		switch {
		case wantKey && isText:
			if open[len(open)-1][name] {
				return fmt.Sprintf("the property %s stands twice in an object, the second time before byte %d", quoted(name), dec.InputOffset())
			}
			open[len(open)-1][name] = true
			wantKey = false
			continue
		case token == json.Delim('{'):
			open = append(open, object{})
		case token == json.Delim('['):
			open = append(open, nil)
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:len(open)-1]
		}
		wantKey = len(open) > 0 && open[len(open)-1] != nil
	}
}

// unusable returns the place of the first number that is not usable, and that number, or "" if there is none.
func unusable(value any, usable func(json.Number) bool) ([]string, json.Number) {
	at, n := findUnusable(value, usable)
	slices.Reverse(at)
	return at, n
}

// findUnusable returns the place in reverse.
func findUnusable(value any, usable func(json.Number) bool) ([]string, json.Number) {
	switch v := value.(type) {
	case json.Number:
		if !usable(v) {
			return nil, v
		}
	case map[string]any:
		for name, part := range v {
			if at, n := findUnusable(part, usable); n != "" {
				return append(at, name), n
			}
		}
	case []any:
		for i, part := range v {
			if at, n := findUnusable(part, usable); n != "" {
				return append(at, strconv.Itoa(i)), n
			}
		}
	}
	return nil, ""
}

// computable reports whether a number can be computed with and compared.
func computable(n json.Number) bool { return isComparable(n) && finite(n) }

// isComparable reports whether a number can be compared with others.
func isComparable(n json.Number) bool {
	if len(n) > maxDigits {
		return false
	}
	i := strings.IndexAny(string(n), "eE")
	if i < 0 {
		return true
	}
	power, err := strconv.Atoi(string(n[i+1:]))
	return err == nil && max(power, -power) <= maxPower
}

// finite reports whether a number is no larger than the largest float64, about ±1.8e308: JavaScript, and readers of JSON that
// make it a float64, would make it infinite, or fail.
func finite[T ~string | ~[]byte](n T) bool {
	if len(n) <= surelyFinite && !strings.ContainsAny(string(n), "eE") {
		return true
	}
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil
}
