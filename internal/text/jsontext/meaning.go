package jsontext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// meaning returns Parsed.Meaning of a canonical text.
func meaning(rest []byte) json.RawMessage {
	out := make([]byte, 0, len(rest))
	for len(rest) > 0 {
		n := 1
		switch c := rest[0]; {
		case c == '"':
			n = endOfText(rest)
			out = append(out, rest[:n]...)
		case c == '-' || c >= '0' && c <= '9':
			if n = bytes.IndexAny(rest, ",]}"); n < 0 {
				n = len(rest)
			}
			out = append(out, onlyForm(string(rest[:n]))...)
		default:
			out = append(out, c)
		}
		rest = rest[n:]
	}
	return out
}

// endOfText returns the length of the JSON string with which text begins.
func endOfText(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// maxZeros bounds the zeros that a number may get in addition. Numbers that people write keep their
// usual form, and a text cannot grow much.
const maxZeros = 20

// onlyForm returns the form in which a number is compared: without redundant zeros, and without an
// exponent unless the number is far from 1.
func onlyForm(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	digits, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil {
		return number // Parse refuses such numbers
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	power += -len(fraction) + len(digits)
	digits = strings.TrimRight(digits, "0")
	power -= len(digits) // the number is digits · 10^power
	point := len(digits) + power
	switch {
	case digits == "":
		return "0"
	case power > maxZeros || point < -maxZeros:
		digits += "e" + strconv.Itoa(power)
	case power >= 0:
		digits += strings.Repeat("0", power)
	case point > 0:
		digits = digits[:point] + "." + digits[point:]
	default:
		digits = "0." + strings.Repeat("0", -point) + digits
	}
	if negative {
		return "-" + digits
	}
	return digits
}
