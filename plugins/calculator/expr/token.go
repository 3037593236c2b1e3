package expr

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenSymbol
)

// maxShown is the number of bytes of a token that an error message shows.
const maxShown = 40

type token struct {
	kind     tokenKind
	text     string // ASCII
	position int    // of the first character, from 1
	number   *big.Rat
}

// String returns the token for an error message.
func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end of the expression"
	}
	if len(t.text) > maxShown {
		return strconv.Quote(t.text[:maxShown]) + "..."
	}
	return strconv.Quote(t.text)
}

// spellings are alternative forms of symbols and names.
var spellings = map[rune]string{'×': "*", '·': "*", '⋅': "*", '÷': "/", '−': "-", '–': "-", 'π': "pi", 'τ': "tau"}

// scanner splits an expression into tokens.
type scanner struct {
	rest     string
	position int // of the first character of rest, from 1
}

func (s *scanner) next() (token, error) {
	s.skipSpace()
	if s.rest == "" {
		return token{kind: tokenEnd, position: s.position}, nil
	}
	first, size := utf8.DecodeRuneInString(s.rest)
	switch {
	case isDigit(s.rest[0]), s.rest[0] == '.' && len(s.rest) > 1 && isDigit(s.rest[1]):
		return s.number()
	case isLetter(s.rest[0]):
		return s.take(tokenName, span(s.rest, func(c byte) bool { return isLetter(c) || isDigit(c) })), nil
	case strings.HasPrefix(s.rest, "**"), strings.HasPrefix(s.rest, "//"):
		return s.take(tokenSymbol, 2), nil
	case strings.IndexByte("+-*/%^!(),", s.rest[0]) >= 0:
		return s.take(tokenSymbol, 1), nil
	}
	spelled, ok := spellings[first]
	if !ok {
		return token{}, errorAt(s.position, "found %q, which means nothing here; use numbers, + - * / // %% ^ ! ( ) , and the names of functions and constants", first)
	}
	kind := tokenSymbol
	if isLetter(spelled[0]) {
		kind = tokenName
	}
	t := s.take(kind, size)
	t.text = spelled
	return t, nil
}

func (s *scanner) skipSpace() {
	for s.rest != "" {
		r, size := utf8.DecodeRuneInString(s.rest)
		if !unicode.IsSpace(r) {
			return
		}
		s.advance(size)
	}
}

// take consumes the next n bytes.
func (s *scanner) take(kind tokenKind, n int) token {
	t := token{kind: kind, text: s.rest[:n], position: s.position}
	s.advance(n)
	return t
}

func (s *scanner) advance(n int) {
	s.position += utf8.RuneCountInString(s.rest[:n])
	s.rest = s.rest[n:]
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// span returns the number of bytes at the start of s that satisfy is.
func span(s string, is func(byte) bool) int {
	for i := range len(s) {
		if !is(s[i]) {
			return i
		}
	}
	return len(s)
}
