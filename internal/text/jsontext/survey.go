package jsontext

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
	// maxDepth is the nesting that encoding/json accepts.
	maxDepth = 10_000
	// maxValues bounds the values of arguments. Each takes about fifty bytes of memory, even if its
	// text is {}, and some steps of validation.
	maxValues = 1 << 18
	// maxName bounds the length of a property's name. Schemas look it up, and match it with
	// patterns, many times.
	maxName = 1 << 16
	// maxDigits bounds the text of a number. A float64 has at most 309 digits before the point, and
	// ignores digits far after it.
	maxDigits = 2_000
	// maxPower bounds the exponent of a number, a little beyond that of a float64. Numbers are
	// compared exactly, so that the nine bytes of 1e9999999 would become four million.
	maxPower = 400
	// surelyFinite is the length up to which a number without an exponent cannot exceed the largest
	// float64.
	surelyFinite = 300
)

// sight is what a pass over a text finds out without parsing it as JSON.
type sight struct {
	members       int // colons outside of strings
	halfCharacter int // the position of an unpaired surrogate; -1: none
}

// survey reads a text once before it is parsed. It refuses text that is not UTF-8 or whose parsing
// would take too much memory. Its result has no meaning for a text that is not JSON.
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
	depth, values, last := 0, 0, text[:0] // last is the content of the most recent string
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

// skipString returns the end of the string whose content begins at i.
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
		i++ // an escaped character does not end the string
	}
	return i
}

// unit returns the code unit of an escape such as \u00e9 at the beginning of text, or 0.
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

// repeated names a property that occurs twice in an object of a JSON text.
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
				return fmt.Sprintf("the property %s stands twice in an object, the second time before byte %d", Quote(name), dec.InputOffset())
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

// Unusable returns the location of the first number for which usable is false, and that number, or
// "" if there is none.
func Unusable(value any, usable func(json.Number) bool) ([]string, json.Number) {
	at, n := findUnusable(value, usable)
	slices.Reverse(at)
	return at, n
}

// findUnusable is unusable with the location in reverse.
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
func computable(n json.Number) bool { return IsComparable(n) && Finite(n) }

// IsComparable reports whether a number can be compared with others.
func IsComparable(n json.Number) bool {
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

// Finite reports whether a number is within the range of a float64, about ±1.8e308. JavaScript, and
// other readers that use a float64, would turn a larger number into infinity, or fail.
func Finite[T ~string | ~[]byte](n T) bool {
	if len(n) <= surelyFinite && !strings.ContainsAny(string(n), "eE") {
		return true
	}
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil
}
