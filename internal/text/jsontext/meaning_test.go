package jsontext_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

func TestNumbersMeanTheSameHoweverTheyAreWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		meaning string
		texts   []string
	}{
		"one":            {`{"n":1}`, []string{`{"n":1}`, `{"n": 1.0}`, `{"n":10e-1}`, `{"n":0.1E+1}`, `{"n":1.00e0}`}},
		"nothing":        {`{"n":0}`, []string{`{"n":0}`, `{"n":-0}`, `{"n":0.0}`, `{"n":-0e10}`, `{"n":0e-5}`}},
		"a hundred":      {`{"n":100}`, []string{`{"n":100}`, `{"n":1e2}`, `{"n":1000.0e-1}`}},
		"a fraction":     {`{"n":-1.5}`, []string{`{"n":-1.5}`, `{"n":-1.50}`, `{"n":-15e-1}`, `{"n":-0.15e1}`}},
		"a small one":    {`{"n":0.00123}`, []string{`{"n":0.00123}`, `{"n":1.23e-3}`, `{"n":123e-5}`}},
		"a big one":      {`{"n":12345678901234567890123}`, []string{`{"n":12345678901234567890123}`, `{"n":12345678901234567890.123e3}`}},
		"its neighbour":  {`{"n":12345678901234567890124}`, []string{`{"n":12345678901234567890124}`}},
		"a huge one":     {`{"n":12e300}`, []string{`{"n":12e300}`, `{"n":1.2e301}`, `{"n":120.0e299}`}},
		"a tiny one":     {`{"n":-12e-300}`, []string{`{"n":-12e-300}`, `{"n":-1.2e-299}`, `{"n":-0.0120e-297}`}},
		"in lists":       {`{"l":[1,[2,{"x":3}]],"z":4}`, []string{`{"z":4.0,"l":[1.0,[2.0,{"x":3.0}]]}`}},
		"texts stay":     {`{"1.0":"1.0, \"2.0\" [3.0]","e":"\\"}`, []string{`{"1.0":"1.0, \"2.0\" [3.0]","e":"\\"}`}},
		"words stay":     {`{"a":true,"b":null}`, []string{`{"a":true,"b":null}`}},
		"nothing at all": {`{}`, []string{``, `{}`}},
	} {
		for _, text := range tc.texts {
			p, err := jsontext.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(p.Meaning()); got != tc.meaning {
				t.Errorf("%s: %s means %s, want %s", name, text, got, tc.meaning)
			}
		}
	}
}

// FuzzMeaning checks that a meaning is the same value to the last digit, and that its own meaning
// is the same text.
func FuzzMeaning(f *testing.F) {
	for _, text := range []string{"1", "-0.0", "1.50e3", "0.000e-7", "123456789e-4", "9e99", "-12.0E+2", "5e-300"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, number string) {
		p, err := jsontext.Parse([]byte(`{"n":` + number + `}`))
		if err != nil {
			return
		}
		meaning := p.Meaning()
		again, err := jsontext.Parse(meaning)
		if err != nil || string(again.Meaning()) != string(meaning) {
			t.Fatalf("%s became %s, and that %s, %v", p.Canonical(), meaning, again.Meaning(), err)
		}
		n, is := p.Object()["n"].(json.Number)
		if !is {
			return
		}
		want, _ := new(big.Rat).SetString(string(n))
		got, ok := new(big.Rat).SetString(string(again.Object()["n"].(json.Number)))
		if !ok || want.Cmp(got) != 0 {
			t.Errorf("%s became %s", n, meaning)
		}
	})
}
