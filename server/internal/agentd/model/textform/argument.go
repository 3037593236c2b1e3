package textform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// argument turns the text of one argument into JSON as it arrives. The types that the tool's schema
// permits decide how:
//
//   - Only strings: the text is the string.
//   - No strings: the text is JSON. Text that is not JSON becomes a string, which toolhost repairs or
//     refuses like any other argument of the wrong type. An array or object passes as it arrives, so
//     that toolhost can preview it; it has to be JSON at its end.
//   - Strings and others, or an unknown argument: the text is a string, unless it is JSON of another
//     permitted type.
//
// One line break after the opening tag and one before the closing tag do not belong to the text.
type argument struct {
	name      string
	permitted types
	write     func(json string)

	begun     bool // the text has begun; its first line break is gone
	lineBreak bool // a line break that may be the last one is held back
	kind      kind
	blank     bool            // the text is white space so far
	start     int             // the length of the white space at the start of the text
	held      strings.Builder // the text, except for the kind text
}

type kind int

const (
	undecided kind = iota
	text           // a string, which has been begun
	passing        // JSON that passes as it arrives
	holding        // only the whole text shows what it is
)

// add takes the next piece of the text.
func (a *argument) add(piece string) {
	if piece == "" {
		return
	}
	if !a.begun {
		a.begun = true
		piece = strings.TrimPrefix(piece, "\n")
	}
	if piece == "" {
		return
	}
	if a.lineBreak {
		piece = "\n" + piece
	}
	piece, a.lineBreak = strings.CutSuffix(piece, "\n")
	if piece != "" {
		a.pass(piece)
	}
}

func (a *argument) pass(piece string) {
	switch a.kind {
	case text:
		a.write(inString(piece))
		return
	case passing:
		a.held.WriteString(piece)
		a.write(piece)
		return
	case holding:
		a.held.WriteString(piece)
		return
	}
	body := strings.TrimLeft(piece, space)
	if a.blank {
		a.start += len(piece) - len(body)
	}
	a.held.WriteString(piece)
	if body == "" {
		return // white space decides nothing
	}
	a.blank = false
	a.decide(strings.TrimRight(a.held.String()[a.start:], space))
}

// decide finds out the kind from the text so far, without the space around it. It decides after at
// most maxNumber bytes, so that the work for a long text that arrives in small pieces stays linear.
func (a *argument) decide(seen string) {
	object, array := seen[0] == '{', seen[0] == '['
	switch {
	case a.permitted&typeString == 0 && (object && a.permitted&typeObject != 0 || array && a.permitted&typeArray != 0):
		a.kind = passing
		a.write(a.held.String())
	case a.permitted&typeString == 0:
		a.kind = holding
	case !a.permitted.mayBecome(seen):
		a.kind = text
		a.write(`"` + inString(a.held.String()))
		a.held.Reset()
	case object || array:
		a.kind = holding
	}
}

const space = " \t\r\n"

// maxNumber is the most digits of a number in an argument that may also be a string.
const maxNumber = 400

// mayBecome reports whether text, without the space around it, may be the beginning of JSON of a
// permitted type other than a string.
func (t types) mayBecome(text string) bool {
	switch {
	case t&typeOf([]byte(text)) == 0 || text[0] == '"':
		return false
	case text[0] == '{' || text[0] == '[':
		return true
	case len(text) > maxNumber:
		return false
	}
	return strings.HasPrefix("true", text) || strings.HasPrefix("false", text) || strings.HasPrefix("null", text) ||
		strings.Trim(text, "0123456789+-.eE") == ""
}

// close writes the rest of the value. It returns what is wrong with the value, if JSON that has
// already been passed is not valid.
func (a *argument) close() (problem string) {
	whole := a.held.String()
	switch a.kind {
	case text:
		a.write(`"`)
		return ""
	case passing:
		if err := json.Unmarshal([]byte(whole), new(json.RawMessage)); err != nil {
			return fmt.Sprintf("the argument %s is not valid JSON: %v", named(a.name), err)
		}
		return ""
	}
	value := strings.Trim(whole, space)
	if json.Valid([]byte(value)) && (a.permitted&typeString == 0 || a.permitted.mayBecome(value)) {
		a.write(value)
		return ""
	}
	if a.permitted&typeString == 0 {
		whole = value
	}
	a.write(`"` + inString(whole) + `"`)
	return ""
}

// inString returns text as the inside of a JSON string.
func inString(text string) string {
	quoted := quote(text)
	return quoted[1 : len(quoted)-1]
}

// quote returns text as a JSON string.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string has always a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}
