package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// refusal returns the reason why a text cannot be used, in words for a model. It reads the text
// again by encoding/json, which is slow, but few texts are refused.
func refusal(text []byte) error {
	if err := wrong(text); err != nil {
		return err
	}
	return errors.New("the arguments cannot be used; send one JSON object")
}

// wrong returns nil for a text that can be used. A fuzz test checks that it agrees with read.
func wrong(text []byte) error {
	if len(text) > maxForm {
		return fmt.Errorf("the arguments cannot be used: they have more than %d bytes; put the data into a file and send its path", maxForm)
	}
	seen, err := survey(text)
	if err != nil {
		return err
	}
	value, err := decode(text)
	if err != nil {
		return err
	}
	if at := seen.halfCharacter; at >= 0 {
		return fmt.Errorf("the arguments cannot be used: %s at byte %d is half of a surrogate pair and no character; "+
			"write the character itself, or both halves", text[at:at+6], at)
	}
	if at, n := Unusable(value, computable); n != "" {
		return fmt.Errorf("the arguments cannot be used: %s: the number %s is beyond ±1.8e308, or has more than %d digits or an "+
			"exponent beyond ±%d; send a smaller number, or a string if the tool takes one", Path(at), Cut(string(n)), maxDigits, maxPower)
	}
	if seen.members != members(value) {
		return fmt.Errorf("the arguments cannot be used: %s; send each property once", repeated(text))
	}
	return nil
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, describeSyntax(text, err)
	}
	end := int(dec.InputOffset())
	if rest := bytes.TrimSpace(text[end:]); len(rest) > 0 {
		return nil, fmt.Errorf("the arguments are not valid JSON: something follows the object at byte %d: %s; "+
			"send one JSON object and nothing else", end, excerpt(rest, 0))
	}
	if text, ok := value.(string); ok && Holds(text, '{') {
		return nil, errors.New("the arguments must be a JSON object, not a string that holds one; send the object itself, without quotes around it")
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, fmt.Errorf("the arguments must be a JSON object such as {\"name\": \"value\"}, not %s", TypeName(value))
	}
	return value, nil
}

func describeSyntax(text []byte, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the arguments are not valid JSON: the text ends too early, after %d bytes: …%s; "+
			"send one complete JSON object", len(text), excerpt(text, len(text)-20))
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	at := max(0, int(syntax.Offset)-1) // the position of the first invalid byte
	return fmt.Errorf("the arguments are not valid JSON: %v at byte %d: %s; %s", syntax, at, excerpt(text, at-10),
		advise(text[at:], strings.Contains(syntax.Error(), "after ")))
}

// advise says how to fix the most common mistakes in JSON that models write, before a value or
// after one.
func advise(rest []byte, after bool) string {
	word := strings.ToLower(string(rest[:min(len(rest), 9)]))
	switch {
	case strings.HasPrefix(word, "```"):
		return "send the JSON object alone, without a code fence"
	case after:
		return `a comma, a colon or a closing bracket is missing before it, or a quote within a text is not written as \"`
	case strings.HasPrefix(word, "nan"), strings.HasPrefix(word, "inf"), strings.HasPrefix(word, "-inf"):
		return "JSON has no NaN and no Infinity: send a number, or leave the property out"
	case strings.HasPrefix(word, "true"), strings.HasPrefix(word, "false"), strings.HasPrefix(word, "none"), strings.HasPrefix(word, "undefined"):
		return "JSON writes true, false and null"
	case strings.HasPrefix(word, "'"), strings.HasPrefix(word, "`"):
		return "JSON wants double-quoted keys and texts"
	case strings.HasPrefix(word, "}"), strings.HasPrefix(word, "]"):
		return "no comma may stand before a closing bracket, and each bracket closes one of its kind"
	case strings.HasPrefix(word, "/"), strings.HasPrefix(word, "#"):
		return "JSON has no comments"
	case len(rest) > 0 && rest[0] < ' ':
		return `within a text, write line breaks as \n and tabs as \t`
	}
	return "send one JSON object, with double-quoted keys and texts"
}

// excerpt returns a short quoted piece of text from a position on.
func excerpt(text []byte, from int) string {
	from = max(0, min(from, len(text)))
	end := min(len(text), from+40)
	return fmt.Sprintf("%q", bytes.ToValidUTF8(text[from:end], nil))
}

// TypeName returns the JSON type of a value with its article, such as "an array".
func TypeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// Holds reports whether a text is JSON that begins with that bracket.
func Holds(text string, begin byte) bool {
	text = strings.TrimSpace(text)
	return text != "" && text[0] == begin && json.Valid([]byte(text))
}

// Bracketed reports whether a text stands between a pair of brackets, as an array or object does
// that a model writes in the spelling of another language.
func Bracketed(text, pair string) bool {
	text = strings.TrimSpace(text)
	return len(text) > 1 && strings.HasPrefix(text, pair[:1]) && strings.HasSuffix(text, pair[1:])
}
