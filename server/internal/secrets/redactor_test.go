package secrets_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/tool"
)

// hard contains characters that JSON, URLs and base64 write differently.
const hard = "p\"ä/s+s wörd&<\\>?\n~😀"

func learnt(name, value string) *secrets.Redactor {
	r := &secrets.Redactor{}
	r.Learn(name, value)
	return r
}

// TestOneValueOfTwoSecrets checks that the order of learning does not decide which name is shown.
func TestOneValueOfTwoSecrets(t *testing.T) {
	for _, names := range [][]string{{"A", "B"}, {"B", "A"}, {"B", "A", "B"}} {
		r := &secrets.Redactor{}
		for _, name := range names {
			r.Learn(name, hard)
		}
		for _, text := range []string{hard, base64.StdEncoding.EncodeToString([]byte(hard)), hex.EncodeToString([]byte(hard))} {
			if got := r.Text(text); got != "[secret A]" {
				t.Errorf("learned as %v, %q becomes %q", names, text, got)
			}
		}
	}
}

// TestLearningManyValues checks that the work of learning values and redacting a text grows with
// the number of values, and not with its square.
func TestLearningManyValues(t *testing.T) {
	work := func(values int) float64 {
		return testing.AllocsPerRun(1, func() {
			r := &secrets.Redactor{}
			for i := range values {
				r.Learn(fmt.Sprint("NAME", i), fmt.Sprint("value-", i))
			}
			if got := r.Text("value-0"); got != "[secret NAME0]" {
				t.Errorf("the text is %q", got)
			}
		})
	}
	if small, large := work(50), work(200); large > 6*small {
		t.Errorf("50 values need %v allocations, and 200 need %v", small, large)
	}
}

// TestTextForms checks that a value is found in each form.
func TestTextForms(t *testing.T) {
	asJSON := func(value string) string {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, write := range map[string]func(string) string{
		"as it is":       func(v string) string { return v },
		"JSON":           asJSON,
		"JSON in JSON":   func(v string) string { return asJSON(v) },
		"Go":             strconv.Quote,
		"Go in ASCII":    strconv.QuoteToASCII,
		"a query":        url.QueryEscape,
		"a path":         url.PathEscape,
		"small escapes":  func(v string) string { return strings.ToLower(url.QueryEscape(v)) },
		"HTML":           html.EscapeString,
		"XML text":       strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace,
		"XML attribute":  strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace,
		"HTML of Python": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace,
		"CSV":            func(v string) string { return strings.ReplaceAll(v, `"`, `""`) },
		"SQL":            func(v string) string { return strings.ReplaceAll(v, "'", "''") },
		"small digits":   func(v string) string { return hex.EncodeToString([]byte(v)) },
		"capital digits": func(v string) string { return strings.ToUpper(hex.EncodeToString([]byte(v))) },
		"base64":         func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
		"base64 of URLs": func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
	} {
		for _, value := range []string{hard, "correct-horse-battery", "aGVsbG8=", `it's <"q" & 'r'>`} {
			if name == "small escapes" && strings.ToLower(value) != value {
				continue
			}
			t.Run(name+"/"+value, func(t *testing.T) {
				form := write(value)
				got := learnt("KEY", value).Text("before " + form + " after")
				if strings.Contains(got, strings.Trim(form, `"`)) || !strings.Contains(got, "[secret KEY]") ||
					!strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
					t.Errorf("%s became %s", form, got)
				}
			})
		}
	}
}

// TestBase64OfMore checks that a value is found if it is encoded together with other text, as in
// basic authentication.
func TestBase64OfMore(t *testing.T) {
	const value = "correct-horse-battery"
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for before := range 7 {
			for after := range 4 {
				whole := strings.Repeat("ü", before) + strings.Repeat("a", before%2) + value + strings.Repeat("?", after)
				got := learnt("KEY", value).Text(encoding.EncodeToString([]byte(whole)))
				// The rest belongs to the neighboring text, and to some bits of the first and last
				// byte.
				head, tail, found := strings.Cut(got, "[secret KEY]")
				if left := len(head) + len(tail); !found || left > encoding.EncodedLen(len(whole)-len(value))+4 {
					t.Errorf("%q became %s", whole, got)
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	r := learnt("A", "abcdef")
	r.Learn("LONGER", "abcdefgh")
	r.Learn("B", "123456")
	r.Learn("AGAIN", "abcdef")
	r.Learn("SHORT", "xyz")
	for text, want := range map[string]string{
		"":                        "",
		"nothing":                 "nothing",
		"abcde":                   "abcde",
		"abcdefg":                 "[secret A]g",
		"abcdefghi":               "[secret LONGER]i",
		"abcdef123456":            "[secret A][secret B]",
		"xyz stays: it is short":  "xyz stays: it is short",
		"\xff\xfeabcdef\xff":      "\xff\xfe[secret A]\xff",
		"two abcdef and abcdefgh": "two [secret A] and [secret LONGER]",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
		if got := string(r.Bytes([]byte(text))); got != want {
			t.Errorf("the bytes %q became %q, not %q", text, got, want)
		}
	}
}

// TestNothingLearnt checks that nil and empty redactors, and one that finds nothing, return their
// input.
func TestNothingLearnt(t *testing.T) {
	for name, r := range map[string]*secrets.Redactor{"nil": nil, "empty": {}, "other": learnt("A", "abcdef")} {
		data := []byte(`{"a":"b c d e f"}`)
		if got := r.JSON(data); &got[0] != &data[0] {
			t.Errorf("%s: the JSON is another one: %s", name, got)
		}
		if got := r.Bytes(data); &got[0] != &data[0] {
			t.Errorf("%s: the data is another one: %s", name, got)
		}
		if r.Text("text") != "text" || r.Line("line", true, true) != "line" || r.JSON(nil) != nil || r.Bytes(nil) != nil {
			t.Errorf("%s: it changed something", name)
		}
	}
}

func TestJSON(t *testing.T) {
	r := learnt("KEY", hard)
	r.Learn("PIN", "12345678")
	r.Learn("DOC", `{"user":"bob","rank":1}`)
	escaped := ""
	for _, c := range "12345678" {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	text, err := json.Marshal(map[string]any{"k": "it is " + hard, "n": []any{1, "x", nil, true}})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`null`:                            `null`,
		`12345678`:                        `"[secret PIN]"`,
		`-12345678.5e3`:                   `"-[secret PIN].5e3"`,
		` [1, 12345678 ,"a\"b" ]`:         ` [1, "[secret PIN]" ,"a\"b" ]`,
		`{"12345678":{"a":"12345678"}}`:   `{"[secret PIN]":{"a":"[secret PIN]"}}`,
		`"` + escaped + `"`:               `"[secret PIN]"`,
		`"a\u0031b ` + escaped + `\n"`:    `"a1b [secret PIN]\n"`,
		`"a\u0031b"`:                      `"a\u0031b"`,
		`{"a":{"user":"bob","rank":1}}`:   `"{\"a\":[secret DOC]}"`,
		`{"a":{"user":"bob","rank":2}}`:   `{"a":{"user":"bob","rank":2}}`,
		string(text):                      `{"k":"it is [secret KEY]","n":[1,"x",null,true]}`,
		`"{\"user\":\"bob\",\"rank\":1}"`: `"[secret DOC]"`,
	} {
		given := []byte(value)
		got := string(r.JSON(given))
		if got != want || string(given) != value {
			t.Errorf("%s became %s, not %s", value, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s became %s, which is no JSON", value, got)
		}
	}
}

// TestLine checks that a cut line loses a beginning of a secret at its end, and that JSON records
// stay JSON.
func TestLine(t *testing.T) {
	r := learnt("KEY", "abcdefghijkl")
	r.Learn("PIN", "12345678")
	r.Learn("PEM", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAo\nQQ==\n-----END KEY-----")
	for _, tc := range []struct {
		line string
		cut  bool
		want string
	}{
		{"x abcdefghijk", false, "x abcdefghijk"},
		{"x abcdefghijk", true, "x "},
		{"x abcd", true, "x "},
		{"x ab", true, "x ab"},
		{"x abcdefghijkl", true, "x [secret KEY]"},
		{"x YWJjZGVm", true, "x "}, // base64
		{`{"pin":12345678}`, false, `{"pin":"[secret PIN]"}`},
		{`{"pin":12345678`, false, `{"pin":[secret PIN]`},
		{"MIIEvQIBADANBgkqhkiG9w0B", false, "[secret PEM]"},
		{"  MIIEvQIBADANBgkqhkiG9w0B AQEFAASCBKcwggSjAgEAAo", false, "  [secret PEM] [secret PEM]"},
		{"-----BEGIN KEY-----", false, "-----BEGIN KEY-----"},
	} {
		if got := r.Line(tc.line, false, tc.cut); got != tc.want {
			t.Errorf("%q (cut: %v) became %q, not %q", tc.line, tc.cut, got, tc.want)
		}
	}
}

// TestLineWithoutItsBeginning checks that such a line loses an end of a secret at its beginning.
func TestLineWithoutItsBeginning(t *testing.T) {
	r := learnt("KEY", "abcdefghijkl")
	for line, want := range map[string]string{
		"bcdefghijkl x": " x", "jkl x": " x", "kl x": "kl x", "abcdefghijkl x": "[secret KEY] x", "Z2hpamts x": " x", "x jkl": "x jkl",
	} {
		if got := r.Line(line, true, false); got != want {
			t.Errorf("%q became %q, not %q", line, got, want)
		}
	}
}

// TestLearnIsBounded checks that the latest values of a changing secret are redacted, and that
// other secrets still are. An SDK shortens a long message and appends an ellipsis. What remains of
// a secret there is removed.
func TestASecretThatAnErrorCuts(t *testing.T) {
	const value = "Zq8vKd3LmP0wRt6Y"
	r := learnt("KEY", value)
	for length := 3; length < len(value); length++ {
		got := r.Error(&tool.Error{Message: "no service for " + value[:length] + "…"}).Message
		if want := "no service for …"; got != want {
			t.Errorf("with %d bytes of the secret: %q, want %q", length, got, want)
		}
	}
	if got := r.Error(&tool.Error{Message: "no service for " + value + "…"}).Message; strings.Contains(got, value[:5]) || !strings.HasSuffix(got, "…") {
		t.Errorf("with the whole secret: %q", got)
	}
	if got := r.Error(&tool.Error{Message: "it goes on…"}).Message; got != "it goes on…" {
		t.Errorf("without a secret: %q", got)
	}
}

func TestLearnIsBounded(t *testing.T) {
	r := learnt("STAYS", "always the same")
	for i := range 40 {
		r.Learn("CHANGES", fmt.Sprintf("value-%04d", i))
	}
	for text, want := range map[string]string{
		"value-0039": "[secret CHANGES]", "value-0024": "[secret CHANGES]", "value-0000": "value-0000", "always the same": "[secret STAYS]",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}

func TestLearnBesideReaders(t *testing.T) {
	r := learnt("A", "abcdef")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				value := fmt.Sprintf("value-%d-%d", i, j)
				r.Learn("S"+strconv.Itoa(i*100+j), value)
				if got := r.Text(value + "abcdef"); strings.Contains(got, "value") || !strings.HasSuffix(got, "[secret A]") {
					t.Errorf("%q was seen", got)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":[1,"b\u0061",null,{"c":12345678}]}`, "12345678")
	f.Add(`"a\/b"`, "a/b/c/d")
	f.Add(`{"user":"bob"}`, `{"user":"bob"}`)
	f.Fuzz(func(t *testing.T, value, secret string) {
		r := learnt("KEY", secret)
		got := r.JSON([]byte(value))
		if !json.Valid([]byte(value)) {
			return
		}
		if !json.Valid(got) {
			t.Errorf("with %q, %s became %s, which is no JSON", secret, value, got)
		}
		if len(secret) >= 6 && !strings.Contains("[secret KEY]", secret) && !strings.ContainsAny(secret, "[]") && strings.Contains(string(got), secret) {
			t.Errorf("%q is still in %s", secret, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := strings.Repeat("2026-11-21T10:00:00Z level=INFO msg=\"served a request\" path=/v1/items status=200 took=12ms\n", 50)
	for _, n := range []int{0, 1, 20, 200} {
		r := &secrets.Redactor{}
		for i := range n {
			r.Learn("S"+strconv.Itoa(i), fmt.Sprintf("ghp_%016x%016x", uint64(i+1)*0x9e3779b97f4a7c15, uint64(i+7)*0xc2b2ae3d27d4eb4f))
		}
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				_ = r.Text(line)
			}
		})
		value, _ := json.Marshal(map[string]string{"log": line, "again": line})
		b.Run(fmt.Sprintf("json,secrets=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				_ = r.JSON(value)
			}
		})
	}
}

// TestWrappedBase64 checks that line breaks hide no value, wherever they are.
func TestWrappedBase64(t *testing.T) {
	const value = "an-unlikely-value-of-a-key-0417"
	r := learnt("KEY", value)
	for before := range 5 {
		whole := base64.StdEncoding.EncodeToString([]byte("user:"[:before] + value + "\nnext line"))
		for _, width := range []int{1, 7, 20, 64} {
			for _, end := range []string{"\n", "\r\n"} {
				var lines []string
				for chunk := range slices.Chunk([]byte(whole), width) {
					lines = append(lines, string(chunk))
				}
				text := strings.Join(lines, end)
				if len(lines) == 1 {
					continue
				}
				got := r.Text("first\n" + text + "\nlast")
				if strings.Count(got, "[secret KEY]") != 1 || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "\nlast") {
					t.Errorf("of %q remains %q", text, got)
				}
				encoded, err := json.Marshal(map[string]string{"text": text})
				if err != nil {
					t.Fatal(err)
				}
				if got := r.JSON(encoded); !json.Valid(got) || strings.Count(string(got), "[secret KEY]") != 1 {
					t.Errorf("of %s remains %s", encoded, got)
				}
			}
		}
	}
}

// TestLettersOfAnotherCase checks that a value in upper case is found if it is too long to be an
// ordinary word.
func TestLettersOfAnotherCase(t *testing.T) {
	for value, redacted := range map[string]bool{"Kq7-zebra-Quartz": true, "Hamster": false} {
		for _, form := range []string{strings.ToUpper(value), strings.ToLower(value)} {
			if got := learnt("KEY", value).Text("x " + form + " y"); (got == "x [secret KEY] y") != redacted {
				t.Errorf("of %s remains %q", form, got)
			}
		}
	}
}
