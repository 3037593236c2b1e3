// Package partialjson parses incomplete JSON: it turns a prefix of a JSON text into the value that
// the prefix determines.
//
// It does not validate. Code that executes something waits for the complete text and decodes it
// with encoding/json.
package partialjson

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds the nesting of values. It is the bound of encoding/json, so that both accept the
// same texts.
const maxDepth = 10_000

// SyntaxError is the position at which a text cannot be JSON.
type SyntaxError struct {
	Offset int64  // of the first invalid byte
	Reason string // for people
}

// Error returns the reason and the position.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// Complete returns the value of a prefix of a JSON text. See Parser.Value.
func Complete(prefix []byte) (json.RawMessage, error) {
	var p Parser
	if _, err := p.Write(prefix); err != nil {
		return nil, err
	}
	return p.Value(), nil
}

// Parser parses a JSON text that arrives in pieces. The zero value is ready. It is not safe for
// concurrent use.
//
// The parser examines each byte once, however the text is cut. It keeps the whole text.
type Parser struct {
	text   []byte
	known  int    // text[:known], closed by closing(), is a JSON value
	stack  []byte // the open objects and arrays: '{' or '['
	state  state
	string stringReader
	word   string // the missing letters of a literal
	number numberState
	err    error
}

// state says which bytes may come next.
type state uint8

const (
	atValue     state = iota // a value: at the beginning, or after a comma or colon
	atFirstItem              // a value or ]
	atFirstKey               // a key or }
	atKey                    // a key, after a comma
	atColon                  // a colon
	// A comma or a closing bracket, or nothing but space after the outermost value.
	afterValue
	inKey     // inside a key
	inString  // inside a string that is a value
	inLiteral // inside true, false or null
	inNumber  // inside a number
)

// Write parses the next piece of the text. A piece may end anywhere, also inside a UTF-8 sequence.
// Write returns a *SyntaxError if the text cannot be the beginning of a JSON text. The value up to
// there remains, and later calls return the same error.
func (p *Parser) Write(piece []byte) (int, error) {
	for i, c := range piece {
		if p.err == nil {
			p.text = append(p.text, c)
			p.step(c)
		}
		if p.err != nil {
			return i, p.err
		}
	}
	return len(piece), nil
}

// Value returns the value of the text so far as JSON, or nil if there is none yet. It closes open
// objects, arrays and strings. It omits what may still change: a key without a value, a number
// until a byte follows it, and an incomplete literal, escape or character. The caller owns the
// result.
func (p *Parser) Value() json.RawMessage {
	if p.known == 0 {
		return nil
	}
	value := make([]byte, 0, p.known+len(p.stack)+1)
	value = append(value, p.text[:p.known]...)
	if p.state == inString {
		value = append(value, '"')
	}
	for i := len(p.stack) - 1; i >= 0; i-- {
		value = append(value, p.stack[i]+2) // in ASCII, '}' is '{'+2 and ']' is '['+2
	}
	return value
}

// Whole reports whether the text so far is a complete object or array: its last bracket is closed.
func (p *Parser) Whole() bool {
	return p.err == nil && p.state == afterValue && len(p.stack) == 0 && p.known > 0 && (p.text[p.known-1] == '}' || p.text[p.known-1] == ']')
}

func (p *Parser) step(c byte) {
	switch p.state {
	case inKey, inString:
		p.stepString(c)
		return
	case inLiteral:
		p.stepLiteral(c)
		return
	case inNumber:
		if p.stepNumber(c) {
			return
		}
	}
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return
	}
	switch p.state {
	case atFirstItem, atValue:
		if p.state == atFirstItem && c == ']' {
			p.pop()
			return
		}
		p.beginValue(c)
	case atFirstKey, atKey:
		p.beginKey(c)
	case atColon:
		if c != ':' {
			p.fail(c, "a colon")
			return
		}
		p.state = atValue
	case afterValue:
		p.stepAfterValue(c)
	}
}

func (p *Parser) beginValue(c byte) {
	switch {
	case c == '{':
		p.push(c, atFirstKey)
	case c == '[':
		p.push(c, atFirstItem)
	case c == '"':
		p.state, p.string = inString, stringReader{}
		p.known = len(p.text)
	case c == 't':
		p.state, p.word = inLiteral, "rue"
	case c == 'f':
		p.state, p.word = inLiteral, "alse"
	case c == 'n':
		p.state, p.word = inLiteral, "ull"
	case c == '-' || isDigit(c):
		p.state, p.number = inNumber, beginNumber(c)
	default:
		p.fail(c, "a value")
	}
}

func (p *Parser) beginKey(c byte) {
	switch {
	case c == '"':
		p.state, p.string = inKey, stringReader{}
	case c == '}' && p.state == atFirstKey:
		p.pop()
	default:
		p.fail(c, "a property name")
	}
}

func (p *Parser) stepAfterValue(c byte) {
	switch {
	case len(p.stack) == 0:
		p.fail(c, "the end of the text")
	case c == ',' && p.top() == '{':
		p.state = atKey
	case c == ',':
		p.state = atValue
	case c == p.top()+2:
		p.pop()
	default:
		p.fail(c, "a comma or the end of the object or array")
	}
}

func (p *Parser) stepString(c byte) {
	switch p.string.step(c) {
	case stringBad:
		p.fail(c, "a character or escape of a string")
	case stringEnd:
		if p.state == inKey {
			p.state = atColon
			return
		}
		p.endValue(len(p.text))
	case stringWhole:
		if p.state == inString {
			p.known = len(p.text)
		}
	case stringOpen:
		// An escape ends the wait for the rest of an incomplete UTF-8 sequence.
		for p.state == inString && p.known < len(p.text)-1 && p.text[p.known] >= utf8.RuneSelf {
			p.known++
		}
	case stringBytes:
		// The bytes after the last complete character are another character or the beginning of
		// one.
		for p.state == inString && p.known < len(p.text) && utf8.FullRune(p.text[p.known:]) {
			_, size := utf8.DecodeRune(p.text[p.known:])
			p.known += size
		}
	}
}

func (p *Parser) stepLiteral(c byte) {
	if c != p.word[0] {
		p.fail(c, "true, false or null")
		return
	}
	if p.word = p.word[1:]; p.word == "" {
		p.endValue(len(p.text))
	}
}

// stepNumber reports whether the byte belongs to the number.
func (p *Parser) stepNumber(c byte) bool {
	if next, ok := p.number.step(c); ok {
		p.number = next
		return true
	}
	if !p.number.complete() {
		p.fail(c, "a digit")
		return true
	}
	p.endValue(len(p.text) - 1)
	return false
}

func (p *Parser) push(c byte, next state) {
	if len(p.stack) == maxDepth {
		p.err = &SyntaxError{Offset: int64(len(p.text) - 1), Reason: fmt.Sprintf("more than %d values inside each other", maxDepth)}
		return
	}
	p.stack = append(p.stack, c)
	p.state = next
	p.known = len(p.text)
}

func (p *Parser) pop() {
	p.stack = p.stack[:len(p.stack)-1]
	p.endValue(len(p.text))
}

// endValue records that a value ended before the byte at end.
func (p *Parser) endValue(end int) {
	p.state = afterValue
	p.known = end
}

func (p *Parser) top() byte { return p.stack[len(p.stack)-1] }

func (p *Parser) fail(c byte, want string) {
	p.err = &SyntaxError{Offset: int64(len(p.text) - 1), Reason: fmt.Sprintf("found %q instead of %s", c, want)}
}
