package rowset

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is one value, as JSON. Null, Bool, Int, Float, Decimal, Text and Blob make them.
type Value = json.RawMessage

// exactInteger is the largest integer that every reader of JSON keeps: many hold all numbers as a float64.
const exactInteger = 1 << 53

// Null is the value of NULL.
func Null() Value { return Value("null") }

// Bool is the value of a truth value.
func Bool(b bool) Value { return Value(strconv.FormatBool(b)) }

// Int is the value of an integer: a number, or a string of its digits where readers of JSON would round it.
func Int(n int64) Value {
	digits := strconv.FormatInt(n, 10)
	if n > exactInteger || n < -exactInteger {
		digits = `"` + digits + `"`
	}
	return Value(digits)
}

// Float is the value of a floating-point number, with the digits that tell it from all others; what JSON has no number
// for is a string: NaN, Infinity, -Infinity.
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
		digits += ".0" // so that 3.0 is not taken for the integer 3
	}
	return Value(digits)
}

// Decimal is the value of a decimal number of any size: a string, because readers of JSON round numbers.
func Decimal(digits string) Value { return Text(digits) }

// Text is the value of a text. What is no UTF-8 is written as Blob does.
func Text(s string) Value {
	if !utf8.ValidString(s) {
		return Blob([]byte(s))
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string never fails
	return Value(strings.TrimSuffix(b.String(), "\n"))
}

// Blob is the value of bytes: an object whose one property, base64, holds them.
func Blob(data []byte) Value {
	return Value(`{"base64":"` + base64.StdEncoding.EncodeToString(data) + `"}`)
}
