package rowset

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is one value as JSON. Null, Bool, Int, Float, Decimal, Text and Blob create values.
type Value = json.RawMessage

// exactInteger is the largest integer that every JSON parser keeps exactly. Many store numbers as
// float64.
const exactInteger = 1 << 53

// Null returns the value of NULL.
func Null() Value { return Value("null") }

// Bool returns the value of a boolean.
func Bool(b bool) Value { return Value(strconv.FormatBool(b)) }

// Int returns the value of an integer: a number, or a string if JSON parsers would round it.
func Int(n int64) Value {
	digits := strconv.FormatInt(n, 10)
	if n > exactInteger || n < -exactInteger {
		digits = `"` + digits + `"`
	}
	return Value(digits)
}

// Float returns the value of a floating-point number with the shortest exact digits. NaN, Infinity
// and -Infinity are strings, because JSON has no such numbers.
func Float(f float64) Value {
	switch {
	case math.IsNaN(f):
		return Text("NaN")
	case math.IsInf(f, 1):
		return Text("Infinity")
	case math.IsInf(f, -1):
		return Text("-Infinity")
	}
	digits := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(digits, ".e") {
		digits += ".0" // marks 3.0 as a floating-point number
	}
	return Value(digits)
}

// Decimal returns the value of a decimal number of any size: a string, because JSON parsers round
// numbers.
func Decimal(digits string) Value { return Text(digits) }

// Text returns the value of a text. Invalid UTF-8 becomes a Blob.
func Text(s string) Value {
	if !utf8.ValidString(s) {
		return Blob([]byte(s))
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string cannot fail
	return Value(strings.TrimSuffix(b.String(), "\n"))
}

// Blob returns the value of bytes: an object with the property base64.
func Blob(data []byte) Value {
	return Value(`{"base64":"` + base64.StdEncoding.EncodeToString(data) + `"}`)
}
