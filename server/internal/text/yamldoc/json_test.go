package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

func TestJSON(t *testing.T) {
	for _, test := range []struct{ yaml, want string }{
		{"b: 1\na: [x, 'y', \"z\\n\", true, null, ~, {}]\n", `{"b":1,"a":["x","y","z\n",true,null,null,{}]}`},
		{"n: 9007199254740993123456789\nf: 1.50\ne: 1.5e3\nz: -0", `{"n":9007199254740993123456789,"f":1.50,"e":1.5e3,"z":-0}`},
		{"a: |\n  two\n  lines\nb:\n  c: d\n", `{"a":"two\nlines\n","b":{"c":"d"}}`},
		{"1: yes\n", `{"1":"yes"}`},
		{"a:\n", `{"a":null}`},
		{"text", `"text"`},
		{"a: '1'\nb: \"18446744073709551616\"\nc: 1e3\nd: -18446744073709551616\ne: 2026-01-02\ng: ''\nh: |-\n  5\n", `{"a":"1","b":"18446744073709551616","c":1e3,"d":-18446744073709551616,"e":"2026-01-02","g":"","h":"5"}`},
		{"", `null`},
		{"a: 0x10\nb: 1_000\nc: +5\nd: 0o17", `{"a":16,"b":1000,"c":5,"d":15}`},
		{"a: [.5, 5., +1.5]", `{"a":[0.5,5,1.5]}`},
		{"a: .inf", `f.yaml:1:4: it has to be a value that JSON can express, and ".inf" is none`},
		{"a: -.inf", `f.yaml:1:4: it has to be a value that JSON can express, and "-.inf" is none`},
		{"a: .nan", `f.yaml:1:4: it has to be a value that JSON can express, and ".nan" is none`},
		{"a: !!str x", `f.yaml:1:4: it has to be a value that JSON can express, and a value with the tag "!!str", which this file cannot have, is none`},
	} {
		root, err := yamldoc.Parse("f.yaml", []byte(test.yaml))
		if err != nil {
			t.Fatal(err)
		}
		got, err := root.JSON("it")
		text := string(got)
		if err != nil {
			text = err.Error()
		}
		if text != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", strings.TrimSpace(test.yaml), text, test.want)
		}
	}
}
