package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

const everyKey = `
cases:
  - name: all
    principal: uid:1
    session: s
    call_id: c
    context: {tenant: acme, user: {id: 7}}
    tool:
      name: rm
      plugin: fs
      category: files
      version: "1.0"
      tags: [a, b]
      dangerous: true
      read_only: true
      idempotent: true
      cost_per_use: 0.5
    arguments: {n: 10.0, deep: [{a: null}], big: 9007199254740993}
    expect: deny
    rule: r
  - {name: least, tool: {name: a}, expect: allow}
`

func TestReadCases(t *testing.T) {
	rule := "r"
	want := []policy.Case{
		{
			Name: "all", Line: 3, Column: 5, Expect: policy.Deny, Rule: &rule,
			Input: policy.Input{
				Principal: "uid:1", Session: "s", CallID: "c", Plugin: "fs",
				Context: map[string]json.RawMessage{"tenant": []byte(`"acme"`), "user": []byte(`{"id":7}`)},
				Tool: &tool.Spec{
					Name: "rm", Category: "files", Version: "1.0", Tags: []string{"a", "b"}, Dangerous: true, ReadOnly: true, Idempotent: true, CostPerUse: 0.5,
				},
				Arguments: []byte(`{"n":10.0,"deep":[{"a":null}],"big":9007199254740993}`),
			},
		},
		{Name: "least", Line: 21, Column: 5, Expect: policy.Allow, Input: policy.Input{Tool: &tool.Spec{Name: "a"}}},
	}
	got, err := policy.ReadCases("f.yaml", []byte(everyKey))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCasesAreReadStrictly(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "f.yaml: cases: there is no such key, and it cannot be left out; begin the file with the key cases, and write a list below it"},
		{"{}", "f.yaml:1:1: cases: there is no such key, and it cannot be left out; begin the file with the key cases, and write a list below it"},
		{"case: []", `f.yaml:1:1: case: there is no such key; did you mean cases? The keys of the file are cases`},
		{"cases: []", "f.yaml:1:8: cases: there are no cases"},
		{"cases:", "f.yaml:1:8: cases: nothing is not a list of cases; begin the file with the key cases, and write a list below it"},
		{"cases: [a]", `f.yaml:1:9: cases[0]: "a" is not a mapping of keys; its keys are name, principal, groups, via, session, call_id, context, tool, arguments, expect, rule`},
		{"cases:\n- {name: a, expect: deny}", "f.yaml:2:3: cases[0].tool: there is no such key, and it cannot be left out; write a mapping"},
		{"cases:\n- {tool: {name: a}, expect: deny}", "f.yaml:2:3: cases[0].name: there is no such key, and it cannot be left out; write a text"},
		{"cases:\n- {name: a, tool: {name: a}}", "f.yaml:2:3: cases[0].expect: there is no such key, and it cannot be left out; write allow, deny, require_approval or four_eyes"},
		{"cases:\n- {name: a, tool: {plugin: a}, expect: deny}", "f.yaml:2:19: cases[0].tool.name: there is no such key, and it cannot be left out; write a name"},
		{"cases:\n- {name: a, tool: {name: a b}, expect: deny}", `f.yaml:2:26: cases[0].tool.name: the name "a b" is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter`},
		{"cases:\n- {name: a, tool: {name: a, dangerous: 1}, expect: deny}", "f.yaml:2:40: cases[0].tool.dangerous: 1 is not true or false"},
		{"cases:\n- {name: a, tool: {name: a}, expect: maybe}", `f.yaml:2:38: cases[0].expect: "maybe" is not allow, deny, require_approval or four_eyes`},
		{"cases:\n- {name: a, tool: {name: a}, expect: deny, context: [1]}", "f.yaml:2:53: cases[0].context: a list is not a mapping"},
		{"cases:\n- {name: a, tool: {name: a}, expect: deny, context: {a: .inf}}", `f.yaml:2:57: cases[0].context.a: the value has to be a value that JSON can express, and ".inf" is none`},
		{"cases:\n- {name: a, tool: {name: a}, expect: deny, arguments: [1]}", "f.yaml:2:55: cases[0].arguments: the arguments are not a mapping"},
		{"cases:\n- {name: a, tool: {name: a}, expect: deny, arguments: {a: .inf}}", `f.yaml:2:59: cases[0].arguments: the value has to be a value that JSON can express, and ".inf" is none`},
		{"cases:\n- {name: a, name: b}", `f.yaml:2:13: cases[0].name: this key is already in line 2`},
	} {
		cases, err := policy.ReadCases("f.yaml", []byte(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s\ngot  %v, %v\nwant %s", test.text, cases, err, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	p := compile(t, policy.Rule{Name: "r", When: "tool.name == 'a'", Then: policy.Deny})
	none, r := "", "r"
	for _, test := range []struct {
		tool   string
		expect policy.Verdict
		rule   *string
		want   bool
	}{
		{"a", policy.Deny, nil, true}, {"a", policy.Deny, &r, true}, {"a", policy.Deny, &none, false}, {"a", policy.Allow, nil, false},
		{"b", policy.Allow, nil, true}, {"b", policy.Allow, &none, true}, {"b", policy.Allow, &r, false}, {"b", policy.RequireApproval, &none, false},
	} {
		c := policy.Case{Input: policy.Input{Tool: &tool.Spec{Name: test.tool}}, Expect: test.expect, Rule: test.rule}
		got, passed, err := c.Check(t.Context(), p)
		if passed != test.want || err != nil {
			t.Errorf("%+v: %+v, %v", test, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := policy.Case{Input: policy.Input{Tool: &tool.Spec{Name: "a"}}, Expect: policy.Deny}
	if _, passed, err := c.Check(ctx, p); passed || !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v, %v", passed, err)
	}
}

// FuzzReadCases checks that any file is parsed, or refused in one line that names the file.
func FuzzReadCases(f *testing.F) {
	f.Add(everyKey)
	f.Add("cases: [{name: a, tool: {name: a, tags: [], cost_per_use: 1}, arguments: {}, expect: allow, rule: ''}]")
	f.Fuzz(func(t *testing.T, text string) {
		cases, err := policy.ReadCases("f.yaml", []byte(text))
		if err != nil {
			if words := err.Error(); !strings.HasPrefix(words, "f.yaml:") || cases != nil {
				t.Errorf("%q, %v", words, cases)
			}
			return
		}
		for _, c := range cases {
			if c.Name == "" && !strings.Contains(text, "name") || c.Input.Tool == nil || c.Expect == "" {
				t.Errorf("%+v", c)
			}
			if _, _, err := c.Check(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}
	})
}
