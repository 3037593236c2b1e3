package secrets_test

import (
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// mixed returns a text with its letters in alternating case.
func mixed(text string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		if n++; n%2 == 0 {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, text)
}

// xxd returns a dump as xxd writes it.
func xxd(data string) string {
	var b strings.Builder
	for at := 0; at < len(data); at += 16 {
		line := data[at:min(at+16, len(data))]
		var groups []string
		for i := 0; i < len(line); i += 2 {
			groups = append(groups, hex.EncodeToString([]byte(line[i:min(i+2, len(line))])))
		}
		fmt.Fprintf(&b, "%08x: %-39s  %s\n", at, strings.Join(groups, " "), line)
	}
	return b.String()
}

// words returns a dump in words of 16 bits with the low byte first, as hexdump writes it.
func words(data string) string {
	var b strings.Builder
	for at := 0; at < len(data); at += 16 {
		line := data[at:min(at+16, len(data))]
		fmt.Fprintf(&b, "%07x", at)
		for i := 0; i+1 < len(line); i += 2 {
			fmt.Fprintf(&b, " %02x%02x", line[i+1], line[i])
		}
		b.WriteString("\n")
	}
	return b.String()
}

const longValue = "correct-horse-Battery-staple-0417"

// TestHexadecimalForms checks that no case, separator and dump hides a value, alone and in JSON.
func TestHexadecimalForms(t *testing.T) {
	r := learnt("KEY", longValue)
	around := "before it " + longValue + " and after it"
	digits := hex.EncodeToString([]byte(longValue))
	for name, text := range map[string]string{
		"mixed digits":         "key=" + mixed(digits) + ".",
		"after another digit":  "key=a" + mixed(digits) + ".",
		"wrapped digits":       "a:\n" + digits[:30] + "\n" + digits[30:] + "\n.",
		"mixed with spaces":    mixed(fmt.Sprintf("% x", longValue)),
		"mixed with prefixes":  "{0x" + strings.ReplaceAll(mixed(fmt.Sprintf("% x", longValue)), " ", ", 0x") + "}",
		"mixed with dashes":    mixed(fmt.Sprintf("% x", longValue)[:]),
		"hexdump -C":           hex.Dump([]byte(around)),
		"hexdump -C, capitals": strings.ToUpper(hex.Dump([]byte(around))),
		"xxd":                  xxd(around),
		"hexdump":              words(around),
		"percent escapes":      "?q=" + mixed("%"+strings.ReplaceAll(fmt.Sprintf("% x", longValue), " ", "%")),
		"some percent escapes": "?q=" + strings.NewReplacer("-", "%2D", "o", "%6f", "B", "%42").Replace(longValue),
		"base32":               base32.StdEncoding.EncodeToString([]byte(around)),
		"small base32":         "x" + strings.ToLower(base32.StdEncoding.EncodeToString([]byte("u:"+longValue+"!"))),
	} {
		check := func(form, got string) {
			if strings.Count(got, "[secret KEY]") != 1 {
				t.Errorf("%s%s: of\n%s\nremains\n%s", name, form, text, got)
			}
			for _, piece := range []string{"horse", "Battery", "attery-sta", "staple", "2d73746170", "6f72 7365"} {
				if strings.Contains(strings.ToLower(got), strings.ToLower(piece)) {
					t.Errorf("%s%s: %q remains in\n%s", name, form, piece, got)
				}
			}
		}
		check("", r.Text("first\n"+text+"\nlast"))
		encoded, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		got := r.JSON(encoded)
		if !json.Valid(got) {
			t.Errorf("%s became %s, which is no JSON", encoded, got)
		}
		check(" in JSON", string(got))
	}
}

// TestHexadecimalOfOthers checks that dumps and escapes without a secret do not change.
func TestHexadecimalOfOthers(t *testing.T) {
	r := learnt("KEY", longValue)
	other := strings.ReplaceAll(longValue, "horse", "mouse")
	for _, text := range []string{
		hex.Dump([]byte(other)), xxd(other), words(other), mixed(hex.EncodeToString([]byte(other))), "100% of 50%2 %zz %", "0x", "\\x", "000000", "000000:", "0000000 é",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
