package partialjson

import "unicode/utf16"

// stringReader follows the content of a string: characters, escapes, and surrogate pairs.
type stringReader struct {
	escape uint8 // 0 outside of an escape, 1 after the backslash, 2 to 5 within \uXXXX
	unit   rune  // the value of the hexadecimal digits so far
}

// stringStep is the meaning of one byte.
type stringStep uint8

const (
	stringOpen  stringStep = iota // inside an escape or after half of a pair
	stringWhole                   // a character is complete
	stringBytes                   // a byte of a UTF-8 sequence
	stringEnd                     // the closing quote
	stringBad                     // not allowed here
)

func (s *stringReader) step(c byte) stringStep {
	switch {
	case s.escape == 1:
		return s.beginEscape(c)
	case s.escape > 1:
		return s.stepUnit(c)
	case c == '\\':
		s.escape = 1
		return stringOpen
	case c == '"':
		return stringEnd
	case c < 0x20:
		return stringBad
	}
	if c >= 0x80 {
		return stringBytes
	}
	return stringWhole
}

func (s *stringReader) beginEscape(c byte) stringStep {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.escape = 0
		return stringWhole
	case 'u':
		s.escape, s.unit = 2, 0
		return stringOpen
	}
	return stringBad
}

func (s *stringReader) stepUnit(c byte) stringStep {
	digit, ok := hexDigit(c)
	if !ok {
		return stringBad
	}
	s.unit = s.unit<<4 | digit
	if s.escape++; s.escape < 6 {
		return stringOpen
	}
	s.escape = 0
	// The character of a first surrogate depends on the escape that follows.
	if utf16.IsSurrogate(s.unit) && s.unit < 0xDC00 {
		return stringOpen
	}
	return stringWhole
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case isDigit(c):
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// numberState is the state of an incomplete number.
type numberState uint8

const (
	numberSign     numberState = iota // after -
	numberZero                        // a leading 0
	numberInt                         // digits before the point
	numberPoint                       // after the point
	numberFraction                    // digits after the point
	numberExp                         // after e
	numberExpSign                     // after the sign of the exponent
	numberExpInt                      // digits of the exponent
)

func beginNumber(c byte) numberState {
	switch c {
	case '-':
		return numberSign
	case '0':
		return numberZero
	}
	return numberInt
}

// step returns the state after c, or false if c does not belong to the number.
func (n numberState) step(c byte) (numberState, bool) {
	switch {
	case isDigit(c):
		return n.stepDigit(c)
	case c == '.' && (n == numberZero || n == numberInt):
		return numberPoint, true
	case (c == 'e' || c == 'E') && (n == numberZero || n == numberInt || n == numberFraction):
		return numberExp, true
	case (c == '+' || c == '-') && n == numberExp:
		return numberExpSign, true
	}
	return n, false
}

func (n numberState) stepDigit(c byte) (numberState, bool) {
	switch n {
	case numberSign:
		return beginNumber(c), true
	case numberZero:
		return n, false
	case numberPoint:
		return numberFraction, true
	case numberExp, numberExpSign:
		return numberExpInt, true
	}
	return n, true
}

// complete reports whether the number may end here.
func (n numberState) complete() bool {
	return n == numberZero || n == numberInt || n == numberFraction || n == numberExpInt
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
