package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func TestValuesOfAContext(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want cli.Values
		fail string // part of the error; empty means none
	}{
		{"none", nil, nil, ""},
		{"several", []string{"--context", `tenant="acme"`, `--context=a.b= {"x":[1,"y=z"]}`}, cli.Values{"tenant": []byte(`"acme"`), "a.b": []byte(` {"x":[1,"y=z"]}`)}, ""},
		{"no value", []string{"--context", "tenant"}, nil, `write KEY=JSON, such as 'tenant="acme"'`},
		{"no key", []string{"--context", "=1"}, nil, "the key before = is empty"},
		{"no quotes", []string{"--context", "tenant=acme"}, nil, `'tenant="acme"'`},
		{"no JSON at all", []string{"--context", "user={id:7}"}, nil, "in single quotes"},
		{"nothing", []string{"--context", "user="}, nil, "is not JSON"},
		{"twice", []string{"--context", "a=1", "--context", "a=1"}, nil, `the key "a" is given twice`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got cli.Values
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			got.AddFlag(flags, "values")
			err := flags.Parse(test.args)
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Errorf("got %v, want %q", err, test.fail)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
