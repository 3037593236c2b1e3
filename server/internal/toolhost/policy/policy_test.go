package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func compile(t testing.TB, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWithoutRulesTheToolDecides(t *testing.T) {
	for _, p := range []*policy.Policy{nil, {}, compile(t)} {
		got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "a"}})
		if diff := cmp.Diff(policy.Decision{Then: policy.Allow}, got); diff != "" {
			t.Errorf("a plain tool (-want +got):\n%s", diff)
		}
		got = p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "a", Dangerous: true}})
		if got.Then != policy.RequireApproval || got.Rule != "" || got.Reason == "" {
			t.Errorf("a dangerous tool: %+v", got)
		}
	}
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	p := compile(t,
		policy.Rule{Name: "never", When: "false", Then: policy.Deny},
		policy.Rule{Name: "harmless", When: "tool.name == 'rm' && arguments.path.startsWith('/tmp/')", Then: policy.Allow, Reason: "it is temporary"},
		policy.Rule{Name: "no-rm", When: "tool.name == 'rm'", Then: policy.Deny, Reason: "use the trash"},
		policy.Rule{Name: "dear", When: "tool.cost_per_use > 1", Then: policy.RequireApproval},
	)
	for _, test := range []struct {
		spec      tool.Spec
		arguments string
		want      policy.Decision
	}{
		{tool.Spec{Name: "rm", Dangerous: true}, `{"path":"/tmp/x"}`, policy.Decision{Then: policy.Allow, Rule: "harmless", Reason: "it is temporary"}},
		{tool.Spec{Name: "rm"}, `{"path":"/etc"}`, policy.Decision{Then: policy.Deny, Rule: "no-rm", Reason: "use the trash"}},
		{tool.Spec{Name: "draw", CostPerUse: 1.5}, ``, policy.Decision{Then: policy.RequireApproval, Rule: "dear"}},
		{tool.Spec{Name: "draw", CostPerUse: 1}, ``, policy.Decision{Then: policy.Allow}},
	} {
		got := p.Decide(t.Context(), policy.Input{Tool: &test.spec, Arguments: json.RawMessage(test.arguments)})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.spec.Name, test.arguments, diff)
		}
	}
}

// example returns a call in which every property has a different value.
func example() policy.Input {
	return policy.Input{
		Principal: "uid:1000", Session: "s1", CallID: "c1", Plugin: "fs",
		Context: map[string]json.RawMessage{"tenant": json.RawMessage(`"acme"`), "turn": json.RawMessage(` 3.0 `), "user": json.RawMessage(`{"roles":["a"]}`)},
		Tool: &tool.Spec{
			Name: "write", Version: "1.2", Category: "files", Tags: []string{"disk", "write"}, Dangerous: true, ReadOnly: true, Idempotent: true,
			CostPerUse: 0.5,
		},
		Arguments: json.RawMessage(`{"path":"/srv/a","n":5.5,"ten":10,"tenth":1e1,"tenth2":10.00,"big":9007199254740993,"huge":18446744073709551615,
			"larger":1e400,"less":-1e400,"list":[1,{"x":[2.5]}],"flag":true,"none":null,"text":"10","i":0,"":1,"deep":{"a":{"b":"c"}}}`),
	}
}

func TestWhichExpressionsAreValid(t *testing.T) {
	for _, expression := range []string{
		`principal == "uid:1000" && session == "s1" && call_id == "c1"`,
		`tool.name == "write" && tool.plugin == "fs" && tool.category == "files" && tool.version == "1.2"`,
		`"disk" in tool.tags && tool.tags.exists(t, t.startsWith("wri")) && sets.intersects(tool.tags, ["x", "disk"])`,
		`context.tenant == "acme" && context.turn == 3 && "a" in context.user.roles && !has(context.run) && "tenant" in context`,
		`tool.dangerous && tool.read_only && tool.idempotent`,
		`tool.cost_per_use > 0 && tool.cost_per_use < 1 && tool.cost_per_use == 0.5`,
		`arguments.n > 5 && arguments.n < 6 && arguments.n == 5.5 && arguments.n > 5.4`,
		`arguments.ten > 5 && arguments.ten > 5.5 && arguments.ten == 10 && arguments.ten == 10.0 && arguments.ten in [10, 20]`,
		`arguments.tenth == 10 && arguments.tenth2 == 10 && arguments.tenth2 % 5 == 0 && arguments.tenth == arguments.ten`,
		`arguments.big == 9007199254740993 && arguments.big != 9007199254740992 && arguments.big > 9007199254740992`,
		`arguments.huge == 18446744073709551615u && arguments.huge > 5 && arguments.huge > 5.0`,
		`arguments.larger > 5 && arguments.larger > arguments.huge && arguments.less < 5`,
		`double(arguments.ten) * 1.5 == 15.0 && double(arguments.n) * 2.0 == 11.0`,
		`arguments.list[0] == 1 && arguments.list[1].x[arguments.i] == 2.5 && size(arguments.list) == 2`,
		`arguments.flag == true && arguments.none == null && arguments.text != 10 && arguments["path"].endsWith("/a") && arguments[""] == 1`,
		`arguments.deep.a.b == "c" && !has(arguments.deep.x) && has(arguments.deep.a.b) && !has(arguments.absent)`,
		`arguments.path.matches("^/srv/[a-z]$") && arguments.path.split("/").size() == 3`,
		`!(has(arguments.absent) && arguments.absent > 5)`,
		`arguments.flag == true || arguments.absent > 5`,
		`arguments.exists(key, key == "path")`,
		`arguments.list == [1, {"x": [2.5]}] && arguments.deep == {"a": {"b": "c"}} && 1.0 in arguments.list && {"x": [2.5]} in arguments.list`,
		`[arguments.list, [arguments.ten]].exists(l, l.exists(n, n == 10)) && (arguments.flag ? arguments.deep : arguments).a.b == "c"`,
		`context == {"tenant": "acme", "turn": 3, "user": {"roles": ["a"]}} && [tool][0].name == tool.name && tool == tool`,
	} {
		p := compile(t, policy.Rule{Name: "r", When: expression, Then: policy.Allow})
		if got := p.Decide(t.Context(), example()); got.Then != policy.Allow || got.Rule != "r" {
			t.Errorf("%s: %+v", expression, got)
		}
	}
}

func TestARuleThatFailsDenies(t *testing.T) {
	const secret = "hunter2"
	for _, test := range []struct{ expression, reason string }{
		{`arguments.absent > 5`, `there is no "absent"; an expression can ask with has() first`},
		{`arguments.absent.deeper == 1`, `there is no "absent"; an expression can ask with has() first`},
		{`{"a": true}[arguments.secret]`, "a key that it looks up is not there"},
		{`arguments.secret > 5`, "a value is not of the type that its expression is for"},
		{`arguments.list[5] == 1`, "a list is shorter than its expression expects"},
		{`int(arguments.secret) == 1`, "its expression fails; `toolhost policy test` shows how"},
		{`timestamp(arguments.secret) > timestamp("2026-01-01T00:00:00Z")`, "its expression fails; `toolhost policy test` shows how"},
		{`context.absent == 1`, `there is no "absent"; an expression can ask with has() first`},
		{`1 / arguments.zero == 1`, "its expression fails; `toolhost policy test` shows how"},
		{`arguments.list.all(a, arguments.list.all(b, arguments.list.all(c, arguments.list.all(d, a + b + c + d > 0))))`, "it takes too many steps"},
	} {
		list := make([]int, 100)
		for i := range list {
			list[i] = 1
		}
		if strings.Contains(test.expression, "[5]") {
			list = list[:5]
		}
		arguments, err := json.Marshal(map[string]any{"secret": secret, "list": list, "zero": 0})
		if err != nil {
			t.Fatal(err)
		}
		p := compile(t,
			policy.Rule{Name: "broken", When: test.expression, Then: policy.Allow, Reason: "unused"},
			policy.Rule{Name: "all", When: "true", Then: policy.Allow})
		got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "a"}, Arguments: arguments})
		want := `the rule "broken" could not be evaluated for this call, which denies it: ` + test.reason
		if got.Then != policy.Deny || got.Rule != "broken" || got.Reason != want || got.Err == nil {
			t.Errorf("%s: %+v", test.expression, got)
		}
		if strings.Contains(got.Reason, secret) {
			t.Errorf("%s: the reason holds an argument: %s", test.expression, got.Reason)
		}
	}
}

// TestMetadata checks that rules see a tool's metadata, with numbers by value, and that missing
// metadata denies.
func TestMetadata(t *testing.T) {
	spec := tool.Spec{Name: "a", Metadata: map[string]json.RawMessage{"owner": []byte(`"team-blue"`), "level": []byte(`{"n":3.0}`), "broken": []byte(`{`)}}
	for when, want := range map[string]policy.Verdict{
		`tool.metadata.owner == "team-blue" && tool.metadata.level.n == 3`: policy.RequireApproval,
		`tool.metadata.owner == "team-red"`:                                policy.Allow,
		`has(tool.metadata.nothing)`:                                       policy.Allow,
		`tool.metadata.nothing == 1`:                                       policy.Deny,
		`tool.metadata.broken == 1`:                                        policy.Deny,
	} {
		p := compile(t, policy.Rule{Name: "r", When: when, Then: policy.RequireApproval})
		if got := p.Decide(t.Context(), policy.Input{Tool: &spec}); got.Then != want {
			t.Errorf("%s: %+v, want %s", when, got, want)
		}
		if got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "b"}}); got.Then == policy.RequireApproval {
			t.Errorf("%s, without metadata: %+v", when, got)
		}
	}
}

// TestAContextThatIsNoJSONDenies checks that an invalid context denies only for rules that read it.
func TestAContextThatIsNoJSONDenies(t *testing.T) {
	p := compile(t,
		policy.Rule{Name: "plain", When: `tool.name == "plain"`, Then: policy.Allow},
		policy.Rule{Name: "own", When: `context.tenant == "acme"`, Then: policy.Allow})
	for text, want := range map[string]policy.Verdict{`"acme"`: policy.Allow, `acme`: policy.Deny, `"acme" 1`: policy.Deny, ``: policy.Deny} {
		in := policy.Input{Tool: &tool.Spec{Name: "a"}, Context: map[string]json.RawMessage{"tenant": json.RawMessage(text)}}
		if got := p.Decide(t.Context(), in); got.Then != want || (got.Err != nil) != (want == policy.Deny) || strings.Contains(got.Reason, "acme") {
			t.Errorf("%s: %+v", text, got)
		}
		in.Tool.Name = "plain"
		if got := p.Decide(t.Context(), in); got.Rule != "plain" {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestArgumentsThatAreNoObjectAreDenied(t *testing.T) {
	p := compile(t, policy.Rule{Name: "r", When: `!has(arguments.a)`, Then: policy.Allow})
	for _, text := range []string{`[]`, `{`, `{} {}`, `"x"`, `{"a":}`} {
		got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "a"}, Arguments: json.RawMessage(text)})
		if got.Then != policy.Deny || got.Rule != "r" || !strings.HasSuffix(got.Reason, "the arguments are not a JSON object") {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestDecidingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := compile(t, policy.Rule{Name: "r", When: "true", Then: policy.Allow})
	if got := p.Decide(ctx, policy.Input{Tool: &tool.Spec{Name: "a"}}); got.Then != policy.Deny || !strings.HasSuffix(got.Reason, "the time was up") {
		t.Errorf("got %+v", got)
	}
}

// endingContext ends after it was asked once, so that CEL finds it ended.
type endingContext struct {
	context.Context
	asked atomic.Int32
}

func (c *endingContext) Err() error {
	if c.asked.Add(1) == 1 {
		return nil
	}
	return c.Context.Err()
}

func TestAnEvaluationEndsWithItsContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p := compile(t, policy.Rule{Name: "r", When: "arguments.list.all(a, arguments.list.all(b, a + b > 0))", Then: policy.Allow})
	in := policy.Input{Tool: &tool.Spec{Name: "a"}, Arguments: json.RawMessage(`{"list":[1` + strings.Repeat(",1", 99) + `]}`)}
	if got := p.Decide(t.Context(), in); got.Then != policy.Allow {
		t.Fatalf("in time: %+v", got)
	}
	if got := p.Decide(&endingContext{Context: ended}, in); got.Then != policy.Deny || !strings.HasSuffix(got.Reason, "the time was up") {
		t.Errorf("got %+v", got)
	}
}

func TestCompileSaysAllThatIsWrong(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules []policy.Rule
		want  []policy.Error
	}{
		{"types", []policy.Rule{{Name: "r", When: "tool.dangerus", Then: policy.Deny}}, []policy.Error{{Rule: "r", Field: "when", Line: 1, Column: 5, Message: "undefined field 'dangerus'; a tool has name, plugin, category, version, tags, dangerous, read_only, idempotent, cost_per_use, metadata"}}},
		{"names", []policy.Rule{{Name: "r", When: "true &&\n  tols.name == 'a'", Then: policy.Deny}}, []policy.Error{{Rule: "r", Field: "when", Line: 2, Column: 3, Message: "undeclared reference to 'tols'; an expression may speak of principal, tenant, groups, via, session, call_id, context, tool and arguments, and use the functions of CEL"}}},
		{"end", []policy.Rule{{Name: "r", When: "(true", Then: policy.Deny}}, []policy.Error{{Rule: "r", Field: "when", Line: 1, Column: 6, Message: "the expression ends too early"}}},
		{"growing", []policy.Rule{{Name: "r", When: "true &&\n  arguments.a.replace('', arguments.a) == '%s'.format([1])", Then: policy.Deny}}, []policy.Error{
			{Rule: "r", Field: "when", Line: 2, Column: 22, Message: "the function replace is not available in rules"},
			{Rule: "r", Field: "when", Line: 2, Column: 54, Message: "the function format is not available in rules"},
		}},
		{"text", []policy.Rule{{Name: "r", When: "tool.name", Then: policy.Deny}}, []policy.Error{{Rule: "r", Field: "when", Message: "the expression has to be true or false, and is of type string"}}},
		{"anything", []policy.Rule{{Name: "r", When: "arguments.a", Then: policy.Deny}}, []policy.Error{{Rule: "r", Field: "when", Message: "the expression has to be true or false, and this may be anything; compare it, as in `arguments.force == true`"}}},
		{"fields", []policy.Rule{{Name: "a b", When: "true", Then: "maybe"}, {Name: "r", When: "true", Then: policy.Deny}, {Name: "r", When: "true", Then: policy.Deny}}, []policy.Error{
			{Rule: "a b", Field: "name", Message: `the name "a b" is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter`},
			{Rule: "a b", Field: "then", Message: `"maybe" is not allow, deny, require_approval or four_eyes`},
			{Index: 2, Rule: "r", Field: "name", Message: "another rule has this name already"},
		}},
		{"approvers", []policy.Rule{
			{Name: "a", When: "true", Then: policy.Deny, Approvers: []string{"leads"}}, {Name: "b", When: "true", Then: policy.FourEyes, Approvers: []string{"red/leads", "a b", "Red/x"}},
			{Name: "c", When: "true", Then: policy.RequireApproval, Approvers: slices.Repeat([]string{"leads"}, 17)},
		}, []policy.Error{
			{Rule: "a", Field: "approvers", Message: "nobody approves what the rule decides, which is deny; use require_approval or four_eyes"},
			{Index: 1, Rule: "b", Field: "approvers", Message: `"a b" is no group; write GROUP, or TENANT/GROUP outside of the default tenant: ` + identity.CheckName("a b").Error()},
			{Index: 1, Rule: "b", Field: "approvers", Message: `"Red/x" is no group; write GROUP, or TENANT/GROUP outside of the default tenant: ` + identity.CheckTenant("Red").Error()},
			{Index: 2, Rule: "c", Field: "approvers", Message: "there are 17 groups; a rule may name 16"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := policy.Compile(test.rules)
			got, ok := err.(policy.Errors)
			if !ok || p != nil {
				t.Fatalf("got %v", err)
			}
			plain := []policy.Error{}
			for _, e := range got {
				plain = append(plain, *e)
			}
			if diff := cmp.Diff(test.want, plain); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzCompile checks that any text is compiled, or refused with a position.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{"", "true", "a ==", "tool.name == 'x'", "((((", "\"\\", "1 +\n\n  @", "arguments.all(x, x == 1)", "'é' == `x`", "\x00\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Compile([]policy.Rule{{Name: "r", When: text, Then: policy.Deny}})
		if err == nil {
			p.Decide(t.Context(), example())
			return
		}
		errs, ok := err.(policy.Errors)
		if !ok || len(errs) == 0 {
			t.Fatalf("got %#v", err)
		}
		for _, e := range errs {
			if e.Message == "" || strings.Contains(e.Message, "\n") || e.Line < 0 || e.Column < 0 || e.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%q: %#v", text, e)
			}
		}
	})
}

func TestDecideConcurrently(t *testing.T) {
	p := compile(t, policy.Rule{Name: "small", When: "arguments.n < 50", Then: policy.Deny})
	var callers sync.WaitGroup
	for n := range 100 {
		callers.Go(func() {
			want := policy.Allow
			if n < 50 {
				want = policy.Deny
			}
			got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "a"}, Arguments: fmt.Appendf(nil, `{"n":%d}`, n)})
			if got.Then != want || got.Err != nil {
				t.Errorf("%d: %+v", n, got)
			}
		})
	}
	callers.Wait()
}

func BenchmarkDecide(b *testing.B) {
	var rules []policy.Rule
	for i := range 9 {
		rules = append(rules, policy.Rule{Name: fmt.Sprintf("tool-%d", i), When: fmt.Sprintf(`tool.name == "other-%d" && "disk" in tool.tags`, i), Then: policy.Deny})
	}
	rules = append(rules, policy.Rule{Name: "path", When: `has(arguments.path) && arguments.path.startsWith("/srv/") && arguments.n > 5`, Then: policy.Allow})
	p, in := compile(b, rules...), example()
	in.Arguments = json.RawMessage(`{"path":"/srv/a","n":10}`)
	b.ReportAllocs()
	for b.Loop() {
		if got := p.Decide(b.Context(), in); got.Rule != "path" {
			b.Fatalf("got %+v", got)
		}
	}
}

// counted holds arguments and counts the calls of Object.
type counted struct{ times int }

func (c *counted) Object() map[string]any {
	c.times++
	return map[string]any{"path": "/etc/passwd", "n": json.Number("3")}
}

// TestArgumentsAreMadeOnceAndOnlyForRulesThatSpeakOfThem checks that arguments that were parsed are
// not parsed again. It also checks that the policy calls Object only for rules that use the
// arguments.
func TestArgumentsAreMadeOnceAndOnlyForRulesThatSpeakOfThem(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{
		{Name: "many", When: `tool.name == "write" && arguments.n > 3`, Then: policy.Deny},
		{Name: "paths", When: `tool.name == "write" && arguments.path.startsWith("/etc/")`, Then: policy.Deny},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		times int
		want  policy.Verdict
	}{"write": {1, policy.Deny}, "read": {0, policy.Allow}} {
		given := &counted{}
		d := rules.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: name}, Arguments: []byte(`{"path":"/tmp","n":1}`), Object: given})
		if d.Then != tc.want || given.times != tc.times {
			t.Errorf("%s: %+v, and the value was made %d times; want %s, %d", name, d, given.times, tc.want, tc.times)
		}
	}
}
