package rowset_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

func TestValues(t *testing.T) {
	for _, test := range []struct {
		got  rowset.Value
		want string
	}{
		{rowset.Null(), `null`},
		{rowset.Bool(true), `true`},
		{rowset.Int(1 << 53), `9007199254740992`},
		{rowset.Int(1<<53 + 1), `"9007199254740993"`},
		{rowset.Int(math.MinInt64), `"-9223372036854775808"`},
		{rowset.Float(3), `3.0`},
		{rowset.Float(1e21), `1e+21`},
		{rowset.Float(math.NaN()), `"NaN"`},
		{rowset.Float(math.Inf(-1)), `"-Infinity"`},
		{rowset.Float(math.SmallestNonzeroFloat64), `5e-324`},
		{rowset.Decimal("1.50"), `"1.50"`},
		{rowset.Text("<a&b>\n\u2028"), `"<a&b>\n\u2028"`},
		{rowset.Text("\xff"), `{"base64":"/w=="}`},
		{rowset.Blob(nil), `{"base64":""}`},
	} {
		if string(test.got) != test.want || !json.Valid(test.got) {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

// Each row is one line, whatever it contains. Long values are truncated.
func TestTable(t *testing.T) {
	c := rowset.Collector{Limits: rowset.Limits{Rows: 3, Bytes: 10_000}}
	c.Add([]rowset.Value{rowset.Text("a|b\\\r\n\tc"), rowset.Null()})
	c.Add([]rowset.Value{rowset.Text(strings.Repeat("ü", 200)), rowset.Blob([]byte{1})})
	got := c.Answer([]rowset.Column{{Name: "x|y"}, {Name: ""}}).String()
	want := "|x\\|y|" + "|\n|-|-|\n" + `|a\|b\\\r\n\tc|NULL|` + "\n|" + strings.Repeat("ü", 120) + `…|{"base64":"AQ=="}|` + "\n(2 rows)"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	empty := rowset.Collector{Limits: rowset.Limits{Rows: 1, Bytes: 1}}
	if got := empty.Answer(nil).String(); got != "(0 rows)" {
		t.Errorf("nothing is %q", got)
	}
	if data, _ := json.Marshal(empty.Answer(nil)); string(data) != `{"columns":[],"rows":[],"truncated":false}` {
		t.Errorf("nothing is %s", data)
	}
}

// A table has one line per row, and does not split characters.
func FuzzTable(f *testing.F) {
	f.Add("a", "|\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		c := rowset.Collector{Limits: rowset.Limits{Rows: 1, Bytes: 1 << 30}}
		value := rowset.Text(text)
		if !json.Valid(value) {
			t.Fatalf("%q became %s", text, value)
		}
		c.Add([]rowset.Value{value})
		got := c.Answer([]rowset.Column{{Name: name}}).String()
		if strings.Count(got, "\n") != 3 || utf8.ValidString(name) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
