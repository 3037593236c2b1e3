package sdk

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// plainText is the unread rest of a JSON text.
type plainText struct{ rest []byte }

// space skips white space.
func (r *plainText) space() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\n' || r.rest[0] == '\t' || r.rest[0] == '\r') {
		r.rest = r.rest[1:]
	}
}

// end reports whether only white space is left.
func (r *plainText) end() bool {
	r.space()
	return len(r.rest) == 0
}

// eat skips white space and then b. It reports whether b was there.
func (r *plainText) eat(b byte) bool {
	r.space()
	if len(r.rest) == 0 || r.rest[0] != b {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// word is eat for a word. The caller must eat what follows it next, so that a longer word does not
// match.
func (r *plainText) word(word string) bool {
	r.space()
	if len(r.rest) < len(word) || string(r.rest[:len(word)]) != word {
		return false
	}
	r.rest = r.rest[len(word):]
	return true
}

// name reads the name of a member with its colon, and returns the name, or nil.
func (r *plainText) name() []byte {
	quoted, plain := r.quoted()
	if !plain || !r.eat(':') {
		return nil
	}
	return quoted[1 : len(quoted)-1]
}

// text reads a string.
func (r *plainText) text() (string, bool) {
	quoted, plain := r.quoted()
	switch {
	case plain:
		return string(quoted[1 : len(quoted)-1]), true
	case quoted == nil:
		return "", false
	}
	var unquoted string
	err := json.Unmarshal(quoted, &unquoted)
	return unquoted, err == nil
}

// quoted reads a string and returns it with its quotes, or nil. It reports whether the bytes
// between the quotes are the text itself: valid UTF-8 without escapes and control characters.
func (r *plainText) quoted() (quoted []byte, plain bool) {
	r.space()
	if len(r.rest) == 0 || r.rest[0] != '"' {
		return nil, false
	}
	plain = true
	for i := 1; i < len(r.rest); i++ {
		switch b := r.rest[i]; {
		case b == '"':
			quoted, r.rest = r.rest[:i+1], r.rest[i+1:]
			return quoted, plain && utf8.Valid(quoted)
		case b == '\\':
			plain = false
			i++ // an escaped quote does not end the string
		case b < ' ':
			plain = false
		}
	}
	return nil, false
}

// number reads a number and returns its digits, or nil.
func (r *plainText) number() []byte {
	r.space()
	from := r.rest
	digits := func() int {
		n := 0
		for n < len(r.rest) && r.rest[n] >= '0' && r.rest[n] <= '9' {
			n++
		}
		r.rest = r.rest[n:]
		return n
	}
	skip := func(set string) bool {
		found := len(r.rest) > 0 && strings.IndexByte(set, r.rest[0]) >= 0
		if found {
			r.rest = r.rest[1:]
		}
		return found
	}
	skip("-")
	if !skip("0") && digits() == 0 || skip(".") && digits() == 0 {
		return nil
	}
	if skip("eE") {
		skip("+-")
		if digits() == 0 {
			return nil
		}
	}
	return from[:len(from)-len(r.rest)]
}
