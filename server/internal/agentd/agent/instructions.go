package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Instructions are the instructions of a named agent: a text with variables. `${context.KEY}` is
// the value of a key of the run's initial context, and `$${` is the text `${`. The zero value is
// empty.
//
// A value is data of a caller. It is inserted once and never read for variables, it has a bound,
// and a value with more than one line is inserted as JSON, so that it cannot look like a paragraph
// of the instructions.
type Instructions struct {
	pieces []piece
}

// piece is a text with the variable that follows it.
type piece struct {
	text string
	key  string // of the context; empty: no variable follows
}

const (
	variableBegin  = "${"
	variablePrefix = "context."
	variableEnd    = "}"
	// maxInstructions bounds the text of instructions, which every request has.
	maxInstructions = 64 << 10
	// maxVariable bounds a value in instructions, in bytes.
	maxVariable = 1 << 10
)

// ParseInstructions reads the text of instructions. The error names what is wrong and its line.
func ParseInstructions(text string) (Instructions, error) {
	if len(text) > maxInstructions || !utf8.ValidString(text) {
		return Instructions{}, fmt.Errorf("instructions are UTF-8 text of at most %d bytes", maxInstructions)
	}
	var in Instructions
	before, line := "", 1
	for rest := text; ; {
		found, after, ok := strings.Cut(rest, variableBegin)
		line += strings.Count(found, "\n")
		before += found
		if !ok {
			in.pieces = append(in.pieces, piece{text: before})
			return in, nil
		}
		if strings.HasSuffix(before, "$") {
			before, rest = before[:len(before)-1]+variableBegin, after
			continue
		}
		name, after, closed := strings.Cut(after, variableEnd)
		key, known := strings.CutPrefix(name, variablePrefix)
		if !closed || !known || key == "" {
			return Instructions{}, fmt.Errorf("line %d of the instructions has ${%.40s: the variables are ${context.KEY}; write $${ for the text ${",
				line, strings.ToValidUTF8(name, ""))
		}
		in.pieces = append(in.pieces, piece{before, key})
		before, rest = "", after
	}
}

// Keys returns the keys of the context that the instructions need, in order. A key may repeat.
func (in Instructions) Keys() []string {
	var keys []string
	for _, p := range in.pieces {
		if p.key != "" {
			keys = append(keys, p.key)
		}
	}
	return keys
}

// fill returns the instructions with the values of the variables. An error names the key that has
// no value or one that is too long.
func (in Instructions) fill(values map[string]json.RawMessage) (string, error) {
	var b strings.Builder
	for _, p := range in.pieces {
		b.WriteString(p.text)
		if p.key == "" {
			continue
		}
		value, ok := values[p.key]
		if !ok {
			return "", fmt.Errorf("the instructions need the context's key %q, and the run has no value for it", p.key)
		}
		words := valueText(value)
		if len(words) > maxVariable {
			return "", fmt.Errorf("the context's key %q has %d bytes, and a value in instructions has at most %d", p.key, len(words), maxVariable)
		}
		b.WriteString(words)
	}
	return b.String(), nil
}

// valueText returns a value as text: a string of one line as it is, and everything else as JSON.
func valueText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return text
	}
	return string(value)
}
