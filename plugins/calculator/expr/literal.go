package expr

import (
	"math/big"
	"strconv"
	"strings"
)

// number parses a literal: 12, 1_000, 1.5, .5, 2e10, 0xff, 0o17, 0b101.
func (s *scanner) number() (token, error) {
	if base, digits := prefixed(s.rest); base != 0 {
		return s.integer(base, digits)
	}
	n := span(s.rest, isDigitOrUnderscore)
	if n < len(s.rest) && s.rest[n] == '.' {
		n++
		n += span(s.rest[n:], isDigitOrUnderscore)
	}
	exponent := ""
	// An e starts an exponent only before a digit. Otherwise it is the constant, and the parser
	// reports the missing operator.
	if m := exponentLength(s.rest[n:]); m > 0 {
		exponent = s.rest[n+1 : n+m]
		n += m
	}
	t := s.take(tokenNumber, n)
	if strings.HasPrefix(s.rest, ".") {
		return token{}, errorAt(s.position, "found a second decimal point after %s; a number has one, and arguments are separated by commas", t)
	}
	if !underscoresFit(t.text) {
		return token{}, errorAt(t.position, "the number %s has an underscore that does not stand between two digits", t)
	}
	if e, err := strconv.Atoi(exponent); exponent != "" && (err != nil || e < -maxExponent || e > maxExponent) {
		return token{}, errorAt(t.position, "the number %s has an exponent beyond ±%d; write it as a power of 10", t, maxExponent)
	}
	value, ok := new(big.Rat).SetString(strings.ReplaceAll(t.text, "_", ""))
	if !ok {
		return token{}, errorAt(t.position, "%s is no number", t)
	}
	t.number = value
	return t, nil
}

// integer parses a literal in another base, whose digits follow a prefix of two bytes.
func (s *scanner) integer(base int, digits string) (token, error) {
	n := span(digits, func(c byte) bool { return isDigit(c) || isLetter(c) })
	t := s.take(tokenNumber, 2+n)
	value, ok := new(big.Int).SetString(strings.ReplaceAll(t.text[2:], "_", ""), base)
	if !ok || !underscoresFit(t.text[2:]) {
		return token{}, errorAt(t.position, "%s is no whole number of base %d", t, base)
	}
	t.number = new(big.Rat).SetInt(value)
	return t, nil
}

// prefixed returns the base that a prefix denotes and the digits after it, or 0.
func prefixed(s string) (base int, digits string) {
	if len(s) < 2 || s[0] != '0' {
		return 0, ""
	}
	switch s[1] | 0x20 {
	case 'x':
		base = 16
	case 'o':
		base = 8
	case 'b':
		base = 2
	}
	return base, s[2:]
}

// exponentLength returns the length of an exponent such as e10 or E-3 at the start of s, or 0.
func exponentLength(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	digits := span(s[n:], isDigit)
	if digits == 0 {
		return 0
	}
	return n + digits
}

func isDigitOrUnderscore(c byte) bool { return isDigit(c) || c == '_' }

// underscoresFit reports whether each underscore is between two digits.
func underscoresFit(s string) bool {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !isAlphanumeric(s[i-1]) || !isAlphanumeric(s[i+1])) {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool { return isDigit(c) || isLetter(c) && c != '_' }
