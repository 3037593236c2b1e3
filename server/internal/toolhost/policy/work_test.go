//go:build !race

package policy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// TestCostlyFunctionsAreCharged checks that functions that compare pairs do not exceed the budget,
// whatever a caller sends, and that no rule fails for arguments of usual size.
func TestCostlyFunctionsAreCharged(t *testing.T) {
	a := func(n int) string { return `"` + strings.Repeat("a", n) + `"` }
	numbers := func(n int) string { return `[1` + strings.Repeat(",1", n-1) + `]` }
	const steps, dear = "it takes too many steps", `arguments.t.matches("[a-z]{20,200}[0-9]{10,100}")`
	for name, tc := range map[string]struct{ when, arguments, reason string }{
		"a dear pattern and a usual text":        {dear, `{"t":` + a(10_000) + `}`, ""},
		"a dear pattern and a large text":        {dear, `{"t":` + a(15<<20) + `}`, steps},
		"as a function":                          {`matches(arguments.t, "[a-z]{20,200}[0-9]{10,100}")`, `{"t":` + a(15<<20) + `}`, steps},
		"behind an or":                           {`tool.name == "x" || ` + dear, `{"t":` + a(15<<20) + `}`, steps},
		"in a loop":                              {`arguments.l.exists(t, t.matches("[a-z]{20,200}[0-9]{10,100}"))`, `{"l":[` + a(15<<20) + `]}`, steps},
		"many texts in a loop":                   {`arguments.l.exists(t, t.matches("[a-z]{20,200}[0-9]{10,100}"))`, `{"l":[` + strings.Repeat(a(1000)+",", 9_999) + a(1000) + `]}`, steps},
		"a cheap pattern and a large text":       {`arguments.t.matches("^[a-z]+$")`, `{"t":` + a(4<<20) + `}`, ""},
		"a pattern of the caller":                {`"aaaa".matches(arguments.p)`, `{"p":"^a+$"}`, ""},
		"a dear pattern of the caller":           {`arguments.t.matches(arguments.p)`, `{"p":"(a{1,30}){1,30}b","t":` + a(1<<20) + `}`, steps},
		"a long pattern of the caller":           {`"x".matches(arguments.p)`, `{"p":` + a(1<<20) + `}`, "a regular expression is too long"},
		"a text that is searched for a text":     {`arguments.t.indexOf("needle") < 0`, `{"t":` + a(4<<20) + `}`, ""},
		"a text that is searched for a large":    {`arguments.t.indexOf(arguments.p) < 0`, `{"t":` + a(7<<20) + `,"p":` + a(3<<20) + `}`, steps},
		"a text that is searched from its end":   {`arguments.t.lastIndexOf(arguments.p) < 0`, `{"t":` + a(7<<20) + `,"p":` + a(3<<20) + `}`, steps},
		"sets of a usual size":                   {`sets.contains(arguments.l, [1])`, `{"l":` + numbers(10_000) + `}`, ""},
		"large sets":                             {`sets.intersects(arguments.l, arguments.m)`, `{"l":` + numbers(100_000) + `,"m":[2` + strings.Repeat(",2", 99_999) + `]}`, steps},
		"a set and itself":                       {`sets.equivalent(arguments.l, arguments.l)`, `{"l":` + numbers(100_000) + `}`, steps},
		"texts that are joined":                  {`arguments.l.join(", ") != ""`, `{"l":[` + strings.Repeat(a(50)+",", 9_999) + a(50) + `]}`, ""},
		"a separator of the caller":              {`arguments.l.join(arguments.s) != ""`, `{"l":[` + strings.Repeat(`"",`, 99_999) + `""],"s":` + a(3<<20) + `}`, steps},
		"very many texts that are joined":        {`arguments.l.join() == ""`, `{"l":[` + strings.Repeat(`"",`, 2_999_999) + `""]}`, steps},
		"texts that a loop appends to":           {`arguments.l.map(x, arguments.t + x).size() > 1`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(30_000) + `}`, steps},
		"texts that a loop converts":             {`arguments.l.all(x, arguments.t.lowerAscii() != "b")`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(30_000) + `}`, steps},
		"bytes that a loop converts":             {`arguments.l.map(x, bytes(arguments.t)).size() > 1`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(30_000) + `}`, steps},
		"parts of a text in a loop":              {`arguments.l.all(x, arguments.t.substring(1, 2) == "a")`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(30_000) + `}`, steps},
		"characters of a text in a loop":         {`arguments.l.all(x, arguments.t.charAt(1) == "a")`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(30_000) + `}`, steps},
		"a text that a loop searches":            {`arguments.l.all(x, !arguments.t.contains("needle"))`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `}`, steps},
		"a text that a loop measures":            {`arguments.l.all(x, arguments.t.size() > 1)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `}`, steps},
		"as a function of a loop":                {`arguments.l.all(x, size(arguments.t) > 1)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `}`, steps},
		"texts that a loop compares":             {`arguments.l.all(x, arguments.t == arguments.u)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `,"u":` + a(300_000) + `}`, steps},
		"texts that a loop tells apart":          {`!arguments.l.exists(x, arguments.t != arguments.u)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `,"u":` + a(300_000) + `}`, steps},
		"texts that a loop orders":               {`arguments.l.all(x, arguments.t <= arguments.u)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `,"u":` + a(300_001) + `}`, steps},
		"each text and each text":                {`arguments.l.all(x, arguments.l.all(y, x == y))`, `{"l":[` + strings.Repeat(a(20_000)+",", 299) + a(20_000) + `]}`, steps},
		"lists that a loop compares":             {`arguments.l.all(x, arguments.t == arguments.u)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + numbers(10_000) + `,"u":` + numbers(10_000) + `}`, steps},
		"objects that a loop compares":           {`arguments.l.all(x, arguments.t == arguments.u)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":{"k":` + a(300_000) + `},"u":{"k":` + a(300_000) + `}}`, steps},
		"a prefix that a loop looks for":         {`arguments.l.all(x, arguments.t.startsWith(arguments.u))`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `,"u":` + a(300_000) + `}`, steps},
		"an element that a loop looks for":       {`arguments.l.all(x, arguments.t in arguments.m)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":` + a(300_000) + `,"m":[` + a(300_000) + `]}`, steps},
		"a number that a loop reads":             {`arguments.l.all(x, int(arguments.t) == 0)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"t":"` + strings.Repeat("0", 300_000) + `"}`, steps},
		"parts of the arguments in a loop":       {`arguments.l.all(x, arguments.o.t[0].contains("b") == false)`, `{"l":[` + strings.Repeat(`"",`, 9_999) + `""],"o":{"t":[` + a(300_000) + `]}}`, steps},
		"a usual loop":                           {`arguments.l.all(x, x.contains("a") && x.size() > 2 && x != arguments.t && !(x in arguments.m))`, `{"l":[` + strings.Repeat(a(500)+",", 4_999) + a(500) + `],"t":"b","m":["c","d"]}`, ""},
		"a large text in a loop of few steps":    {`["b", "c"].exists(x, arguments.t.contains(x)) == false`, `{"t":` + a(6<<20) + `}`, ""},
		"a long text that is appended to":        {`(arguments.t + "b").trim().lowerAscii().endsWith("b")`, `{"t":` + a(6<<20) + `}`, ""},
		"a split text":                           {`arguments.t.split("\n").size() > 1`, `{"t":"` + strings.Repeat(strings.Repeat("a", 80)+`\n`, 50_000) + `"}`, ""},
		"a text that is split into characters":   {`arguments.t.split("").size() > 1`, `{"t":` + a(6<<20) + `}`, steps},
		"a separator of the caller that splits":  {`arguments.t.split(arguments.s).size() > 1`, `{"t":` + a(6<<20) + `,"s":""}`, steps},
		"a text that is split into a few parts":  {`arguments.t.split("a", 3).size() == 3`, `{"t":` + a(6<<20) + `}`, ""},
		"sets of large texts":                    {`sets.contains(arguments.l, arguments.m)`, `{"l":[` + strings.Repeat(a(5_000)+",", 499) + a(5_000) + `],"m":[` + strings.Repeat(a(5_000)+",", 499) + a(5_001) + `]}`, steps},
		"sets of lists":                          {`sets.intersects(arguments.l, arguments.m)`, `{"l":[` + strings.Repeat(numbers(1000)+",", 499) + numbers(1001) + `],"m":[` + strings.Repeat(numbers(1000)+",", 499) + `[1]]}`, steps},
		"a number where a text would be matched": {dear, `{"t":1}`, "a value is not of the type that its expression is for"},
	} {
		t.Run(name, func(t *testing.T) {
			p := compile(t, policy.Rule{Name: "r", When: tc.when, Then: policy.Allow})
			got := p.Decide(t.Context(), policy.Input{Tool: &tool.Spec{Name: "a"}, Arguments: json.RawMessage(tc.arguments)})
			switch {
			case tc.reason == "" && got.Err != nil:
				t.Errorf("%+v", got)
			case tc.reason != "" && (got.Then != policy.Deny || !strings.HasSuffix(got.Reason, tc.reason)):
				t.Errorf("got %+v, want %q", got, tc.reason)
			}
		})
	}
}

// TestOneBudgetForAllRules checks that rules that match the same text share the budget of the
// decision.
func TestOneBudgetForAllRules(t *testing.T) {
	var rules []policy.Rule
	for i := range 20 {
		rules = append(rules, policy.Rule{Name: "r" + string(rune('a'+i)), When: `arguments.t.matches("^[b-z]{20}$")`, Then: policy.Deny})
	}
	in := policy.Input{Tool: &tool.Spec{Name: "a"}, Arguments: json.RawMessage(`{"t":"` + strings.Repeat("a", 100_000) + `"}`)}
	if got := compile(t, rules[:5]...).Decide(t.Context(), in); got.Err != nil {
		t.Errorf("five rules: %+v", got)
	}
	if got := compile(t, rules...).Decide(t.Context(), in); got.Err == nil || !strings.HasSuffix(got.Reason, "it takes too many steps") {
		t.Errorf("twenty rules: %+v", got)
	}
}

// TestMatchingEndsWithItsContext checks that matching stops when the context ends.
func TestMatchingEndsWithItsContext(t *testing.T) {
	read := policy.ReadUntilEnd(strings.Repeat("a", 1<<20), "[a-z]{10,30}[0-9]", func(n int) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return &endsAt{Context: ctx, left: n}
	}, 3)
	if read == 0 || read >= 1<<20 {
		t.Errorf("%d characters were read", read)
	}
}

// TestEveryFunctionHasACost fails when CEL gets a function. If its time or its result can be much
// larger than its arguments, it belongs to costs, and otherwise to this list.
func TestEveryFunctionHasACost(t *testing.T) {
	got, err := policy.Uncharged()
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(`!_ -_ @not_strictly_false _%_ _&&_ _*_ _-_ _/_ _?_:_ _[_] __not_strictly_false__ _||_
		dyn format getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours
		getMilliseconds getMinutes getMonth getSeconds matches replace type`) // format and replace are refused, and matches is charged apart
	if diff := cmp.Diff(known, got); diff != "" {
		t.Errorf("(-known +got):\n%s", diff)
	}
}
