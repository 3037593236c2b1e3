package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// Rules about other tools are not evaluated, however many there are.
func TestRulesOfOtherTools(t *testing.T) {
	var rules []policy.Rule
	for i := range 3000 {
		rules = append(rules, policy.Rule{Name: fmt.Sprintf("r%d", i), Then: policy.Deny, When: fmt.Sprintf(`tool.name == "t%d" && has(arguments.x)`, i)})
	}
	for i, when := range []string{`principal == "eve"`, `"t7" == tool.name && via != ""`, `tool.name in ["t7", "t8"] && session == "none"`, `(tool.name == "t7" || tool.name == "t9") && tool.dangerous`,
		`tool.plugin == "p" && tool.name == "t8" && has(arguments.x)`, `tool.plugin == "p" && via != "x" && (tool.name == "t9" && has(arguments.x))`} {
		rules = append(rules, policy.Rule{Name: fmt.Sprintf("s%d", i), When: when, Then: policy.Deny})
	}
	p := compile(t, rules...)
	evaluations := p.Count()
	for name, want := range map[string]int{"t7": 5, "t8": 4, "t9": 4, "t10": 2, "other": 1} {
		*evaluations = 0
		if got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: name}}); got.Then != policy.Allow || *evaluations != want {
			t.Errorf("%s: %d evaluations, want %d; %+v", name, *evaluations, want, got)
		}
	}
}

// What looks like a name of a tool decides only where nothing is evaluated before it, and only if
// the expression is false without it.
func TestRulesForAnyTool(t *testing.T) {
	for _, when := range []string{
		`"x" in groups && tool.name == "a"`,
		`principal.startsWith("ada") && tool.name == "a"`,
		`arguments.text.matches("x+") && tool.name == "a"`,
		`tool.plugin == "a" && arguments.text.matches("x+") && tool.name == "a"`,
		`tool.metadata.a == 1 && tool.name == "a"`,
		`context.plugin == "" && tool.name == "a"`,
		`tool.plugin == "a" || tool.name == "a"`,
		`tool.name == "a" || tool.dangerous`,
		`!(tool.name == "a")`,
		`tool.name != "a"`,
		`tool.name.startsWith("a")`,
		`tool.name == "a" ? tool.dangerous : tool.read_only`,
		`tool.name == session`,
		`tool.name in groups`,
		`tool.name in ["a", session]`,
		`tool.plugin == "a"`,
		`arguments.tool.name == "a"`,
		`groups.exists(tool, tool == "a")`,
		`[{"name": "a"}].exists(tool, tool.name == "a")`,
	} {
		p := compile(t, policy.Rule{Name: "r", When: when, Then: policy.Deny})
		evaluations := p.Count()
		p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "other"}})
		if *evaluations != 1 {
			t.Errorf("%s: %d evaluations", when, *evaluations)
		}
	}
}

// Whatever the rules and the call are, the rule that decides, the error, what is read of the call,
// and what is left of the budget are those of evaluating each rule.
func TestTheIndexDecidesAsAllRules(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	decided := map[string]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		rules := make([]policy.Rule, r.IntN(8))
		for i := range rules {
			then := []policy.Verdict{policy.Allow, policy.Deny, policy.RequireApproval, policy.FourEyes}[r.IntN(4)]
			rules[i] = policy.Rule{Name: fmt.Sprintf("r%d", i), When: condition(r, 3), Then: then, Reason: fmt.Sprint(i)}
		}
		p := compile(t, rules...)
		for range 24 {
			in, ctx := randomCall(r), t.Context()
			if r.IntN(10) == 0 {
				ctx = ended
			}
			for _, unknown := range []bool{false, true} {
				want, got := p.First(ctx, in, true, unknown), p.First(ctx, in, false, unknown)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d, a call of %s with %s, or unknown arguments: %v (-all rules +index):\n%s\n%+v", seed, in.Tool.Name, in.Arguments, unknown, diff, rules)
				}
				decided[fmt.Sprint(want.Rule != "", want.Err != "")]++
			}
		}
	}
	if len(decided) != 3 {
		t.Errorf("the calls do not have all kinds of decisions: %v", decided)
	}
}

// A call whose time ends while rules are skipped is denied by the first of them.
func TestTimeEndsAtASkippedRule(t *testing.T) {
	p := compile(t,
		policy.Rule{Name: "any", When: `tool.dangerous`, Then: policy.Deny},
		policy.Rule{Name: "other", When: `tool.name == "other"`, Then: policy.Deny},
		policy.Rule{Name: "last", When: `tool.dangerous`, Then: policy.Deny},
	)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for looks, want := range []string{"any", "other", ""} {
		ctx := &endsAt{Context: ended, left: looks}
		if got := p.Decide(ctx, policy.Input{Tool: &tool.Spec{Name: "a"}}); got.Rule != want {
			t.Errorf("after %d looks, the rule is %q, want %q", looks, got.Rule, want)
		}
	}
}

// condition returns a random expression.
func condition(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(3) > 0 {
		a, b := condition(r, depth-1), condition(r, depth-1)
		switch r.IntN(6) {
		case 0, 1, 2:
			return "(" + a + " && " + b + ")"
		case 3, 4:
			return "(" + a + " || " + b + ")"
		}
		return "!(" + a + ")"
	}
	name := func() string { return fmt.Sprintf("%q", string(rune('a'+r.IntN(4)))) }
	if r.IntN(2) == 0 {
		return []string{"tool.name == " + name(), name() + " == tool.name", "tool.name in [" + name() + ", " + name() + "]", "tool.name in []"}[r.IntN(4)]
	}
	others := []string{
		`tool.name != "a"`, `tool.plugin == "p"`, `!tool.read_only`, `principal == "ada"`, `via != session`, `tool.name.startsWith("a")`, `tool.dangerous`, `arguments.n == 1`, `has(arguments.n)`, `arguments.text.matches("[ab]{200}c")`,
		`arguments.text.indexOf("b") > 0`, `arguments.list.exists(e, e == tool.name)`, `context.k == "v"`, `tool.name in groups`, `true`, `false`,
		`["a", "b"].exists(tool, tool == "b")`, `tool.metadata.m == 1`, `tool.name == session`, `"x" in context`,
	}
	return others[r.IntN(len(others))]
}

// randomCall returns a call whose arguments may lack what the rules read, be no JSON, or be so
// large that they use up the budget.
func randomCall(r *rand.Rand) policy.Input {
	in := policy.Input{
		Principal: "ada", Session: string(rune('a' + r.IntN(5))), Groups: []string{"b"},
		Plugin: []string{"p", "q"}[r.IntN(2)], Tool: &tool.Spec{Name: string(rune('a' + r.IntN(6))), Dangerous: r.IntN(2) == 0},
	}
	if r.IntN(2) == 0 {
		in.Context = map[string]json.RawMessage{"k": json.RawMessage([]string{`"v"`, `1`, `{`}[r.IntN(3)])}
	}
	var parts []string
	for _, part := range []string{`"n":1`, `"n":"x"`, `"text":"ab"`, `"list":["a","c"]`} {
		if r.IntN(3) == 0 {
			parts = append(parts, part)
		}
	}
	if r.IntN(100) == 0 {
		parts = append(parts, `"text":"`+strings.Repeat("ab", 1<<18)+`"`)
	}
	in.Arguments = json.RawMessage("{" + strings.Join(parts, ",") + "}")
	if r.IntN(20) == 0 {
		in.Arguments = json.RawMessage("[")
	}
	return in
}
