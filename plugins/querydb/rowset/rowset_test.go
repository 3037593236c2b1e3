package rowset_test

import (
	"encoding/json"
	"math"
	"testing"

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

func TestNothing(t *testing.T) {
	empty := rowset.Collector{Limits: rowset.Limits{Rows: 1, Bytes: 1}}
	if data, _ := json.Marshal(empty.Answer(nil)); string(data) != `{"columns":[],"rows":[],"truncated":false}` {
		t.Errorf("nothing is %s", data)
	}
}

// Every text becomes JSON.
func FuzzText(f *testing.F) {
	f.Add("|\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if value := rowset.Text(text); !json.Valid(value) {
			t.Fatalf("%q became %s", text, value)
		}
	})
}
