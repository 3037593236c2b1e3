package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// renamed is a plugin under another name.
type renamed struct {
	pluginwire.Handler
	name string
}

func (p renamed) Describe(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
	d, err := p.Handler.Describe(ctx, req)
	d.Name = p.name
	return d, err
}

func compiled(t *testing.T, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An own filter that answers in place of the tool would pass the policy and the approval. A filter
// of the operator may answer, also if it is the same one.
func TestOwnFilterMustNotAnswer(t *testing.T) {
	cached := tool.TextResult("from the cache")
	r, own, _ := newOwnRig(t, map[string][]string{"before_it": {"count"}}, map[string]filterFunc{"before_it": says(filterjson.Answer{Answer: &cached})}, nil,
		func(cfg *host.Config) {
			cfg.Policy = compiled(t, policy.Rule{Name: "ask", When: `arguments.key == "k"`, Then: policy.RequireApproval})
		}, host.Filter{Name: "before_it"})
	checkFailed(t, outcome(t, r, call("count", `{"key":"k"}`)), "before", "count", ownPluginName+".before_it", "it answered in place of the tool")
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "from the cache" {
		t.Errorf("the operator's filter: %+v, %v", got.Result, got.Err)
	}
	if diff := own.questions(); !slices.Equal(diff, []string{"before_it before count", "before_it before echo"}) {
		t.Errorf("asked: %q", diff)
	}
}

// An own filter gets no call that the policy or a filter of the operator refuses: what it is asked
// about could leave the call by its process.
func TestRefusedCallsReachNoOwnFilter(t *testing.T) {
	refusal := "not today"
	deny := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		if strings.Contains(string(q.Arguments), "today") {
			return filterjson.EncodeAnswer(filterjson.Answer{Deny: &refusal})
		}
		return tool.Result{}, nil
	}
	r, own, _ := newOwnRig(t, map[string][]string{"mine": {"echo"}}, map[string]filterFunc{"mine": marks("mine")}, map[string]filterFunc{"before_all": deny},
		func(cfg *host.Config) {
			cfg.Policy = compiled(t, policy.Rule{Name: "guests", When: `session == "guest"`, Then: policy.Deny})
		}, host.Filter{Name: "before_all"})
	denied := call("echo", `{"text":"x"}`)
	denied.Session = "guest"
	for rule, c := range map[string]tool.Call{"guests": denied, "before_all": call("echo", `{"text":"today"}`)} {
		if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindDenied || got.Err.Rule != rule {
			t.Errorf("%s: got %+v, %v", rule, got.Result, got.Err)
		}
	}
	if asked := own.questions(); len(asked) > 0 {
		t.Errorf("the own filter was asked: %q", asked)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "x mine mine" {
		t.Errorf("an allowed call: %+v, %v", got.Result, got.Err)
	}
}

// Which tools know the principal is declared and trusted. An own filter does not know more than its
// tool. It knows the tool by the name that the plugin declares.
func TestWhatAnOwnFilterKnows(t *testing.T) {
	asked := make(chan filterjson.Request, 1)
	own := &filterPlugin{filters: map[string]filterFunc{"before_it": func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		asked <- q
		return tool.Result{}, nil
	}}}
	tools := hosttest.Tools()
	plain := tools[slices.IndexFunc(tools, func(t hosttest.Tool) bool { return t.Spec.Name == "echo" })]
	knowing := plain
	knowing.Spec.Name, knowing.Spec.ContextKeys = "knowing", []string{tool.KeyPrincipal}
	self := &selfFiltering{pluginOfBoth{own, hosttest.NewPlugin([]hosttest.Tool{plain, knowing})}, map[string][]string{"before_it": {"echo", "knowing"}}}
	r := newServedRig(t, map[string]pluginwire.Handler{ownPluginName: self}, func(cfg *host.Config) {
		cfg.Catalog.Configure(catalog.Overrides{"echo": {Rename: "say"}}, 0)
	})
	for name, want := range map[string]filterjson.Request{
		"say":     {Tool: "echo"},
		"knowing": {Tool: "knowing", Principal: "red/ada", Groups: []string{"staff"}, Via: "agentd"},
	} {
		c := call(name, `{"text":"x"}`)
		c.ID, c.Session, c.Principal, c.Groups, c.Via = "c-"+name, "s", "red/ada", []string{"staff"}, "agentd"
		if got := outcome(t, r, c); got.Err != nil || got.Result.Text() != "x" {
			t.Errorf("%s: got %+v, %v", name, got.Result, got.Err)
		}
		want.Phase, want.CallID, want.Session, want.Plugin, want.Arguments = filterjson.Before, c.ID, "s", ownPluginName, c.Arguments
		if diff := cmp.Diff(want, <-asked); diff != "" {
			t.Errorf("%s: the filter was told (-want +got):\n%s", name, diff)
		}
	}
}

// A filter that hangs blocks no caller: Open returns at once.
func TestOwnFiltersDoNotBlockOpen(t *testing.T) {
	release := make(chan struct{})
	r, _, _ := newOwnRig(t, map[string][]string{"before_it": {"echo"}}, map[string]filterFunc{"before_it": func(ctx context.Context, _ filterjson.Request) (tool.Result, error) {
		select {
		case <-release:
			return tool.Result{}, nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}}, nil, nil)
	told, _ := unary(t.Context(), t, r, call("echo", `{"text":"x"}`))
	close(release)
	if got := <-told; got.Err != nil || got.Result.Text() != "x" {
		t.Errorf("the call ended with %+v, %v", got.Result, got.Err)
	}
}

// What a plugin names its filter is no rule of the operator: errors, metadata and the audit log
// have the plugin's name before it.
func TestDenialOfAnOwnFilter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	reason := "no such account"
	r, _, _ := newOwnRig(t, map[string][]string{"before_production": {"count"}, "after_redact": {"echo"}},
		map[string]filterFunc{"before_production": says(filterjson.Answer{Deny: &reason}), "after_redact": marks("x")}, nil,
		func(cfg *host.Config) { cfg.Audit = log })
	rule := ownPluginName + ".before_production"
	got := outcome(t, r, call("count", `{"key":"k"}`))
	if got.Err == nil || got.Err.Kind != tool.KindDenied || got.Err.Rule != rule || !strings.Contains(got.Err.Message, reason) {
		t.Errorf("got %+v", got.Err)
	}
	if kept, err := os.ReadFile(file); err != nil || !strings.Contains(string(kept), `"rule":"`+rule+`"`) {
		t.Errorf("the audit log has %s, %v", kept, err)
	}
	changed := outcome(t, r, call("echo", `{"text":"x"}`)).Result.Metadata["toolhost.filters"]
	if string(changed) != `["`+ownPluginName+`.after_redact"]` {
		t.Errorf("the metadata names %s", changed)
	}
}

// A plugin names tools of another plugin, and filters like tools of another plugin. Its filters get
// no calls of the other plugin's tools, and take none of their places and statistics.
func TestOwnFiltersAndNamesOfOthers(t *testing.T) {
	busy, entered := make(chan struct{}), make(chan struct{})
	first := &renamed{hosttest.NewPlugin([]hosttest.Tool{{
		Spec: tool.Spec{Name: "echo", Description: "Echoes.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.TextResult("the first one's"), nil
		},
	}, {
		Spec: tool.Spec{Name: "mine", Description: "Waits."},
		Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
			close(entered)
			select {
			case <-busy:
			case <-ctx.Done():
			}
			return tool.TextResult("waited"), nil
		},
	}}), "first"}
	own := &filterPlugin{filters: map[string]filterFunc{"mine": func(ctx context.Context, q filterjson.Request) (tool.Result, error) {
		if q.Phase == filterjson.Before {
			return tool.Result{}, nil
		}
		return marks("mine")(ctx, q)
	}}}
	self := &selfFiltering{pluginOfBoth{own, hosttest.NewPlugin(hosttest.Tools())}, map[string][]string{"mine": {"echo", "fail"}}}
	r := newServedRig(t, map[string]pluginwire.Handler{"first": first, ownPluginName: self}, func(cfg *host.Config) {
		cfg.Catalog.Configure(catalog.Overrides{"mine": {MaxConcurrent: new(1)}}, 0)
	})
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "the first one's" || len(own.questions()) > 0 {
		t.Errorf("the other plugin's tool: %+v, %v", got.Result, got.Err)
	}
	e := begin(t, r, call("mine", `{}`))
	<-entered // the only place of the tool that has the filter's name is taken
	if got := outcome(t, r, call("fail", `{"message":"no"}`)); got.Err != nil || !strings.Contains(got.Result.Text(), "mine") {
		t.Errorf("the filtered call: %+v, %v", got.Result, got.Err)
	}
	close(busy)
	if got := end(t, e); got.Err != nil || got.Result.Text() != "waited" {
		t.Errorf("the tool with the filter's name: %+v, %v", got.Result, got.Err)
	}
	stats, err := r.Stats(t.Context(), tool.StatsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]uint64{}
	for _, s := range stats {
		counted[s.Plugin+" "+s.Tool] = s.Calls
	}
	if counted["first mine"] != 1 || counted[ownPluginName+" "+ownPluginName+".mine"] != 2 {
		t.Errorf("counted are %v", counted)
	}
}

// A person is shown the arguments that an own filter made, and exactly these are executed, although
// the filter would answer differently by then.
func TestApprovalOfWhatAnOwnFilterMade(t *testing.T) {
	var executed []string
	var count atomic.Int64
	change := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		return filterjson.EncodeAnswer(filterjson.Answer{Arguments: fmt.Appendf(nil, `{"amount":%d,"force":false}`, 1000+count.Add(1))})
	}
	own := &filterPlugin{filters: map[string]filterFunc{"before_pay": change}}
	self := &selfFiltering{pluginOfBoth{own, hosttest.NewPlugin([]hosttest.Tool{pays(&executed)})}, map[string][]string{"before_pay": {"pay"}}}
	r := newServedRig(t, map[string]pluginwire.Handler{ownPluginName: self}, nil)
	c := tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked)}
	digest := wantAsked(t, outcome(t, r, c), `{"amount":1001,"force":false}`)
	c.Approval = &tool.Approval{ApprovedBy: "Ada", Arguments: []byte(asked)} // what the model wrote is not what would be executed
	wantAsked(t, outcome(t, r, c), `{"amount":1002,"force":false}`)
	c.Approval = &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: digest}
	if got := outcome(t, r, c); got.Err != nil || !slices.Equal(executed, []string{`{"amount":1001,"force":false}`}) {
		t.Errorf("%+v, executed %q", got, executed)
	}
	if n := len(own.questions()); n != 2 {
		t.Errorf("the filter was asked %d times, also about the approved repeat", n)
	}
}

// A standing approval is for the arguments that an own filter made.
func TestStandingApprovalOfWhatAnOwnFilterMade(t *testing.T) {
	r := &standingRig{}
	records := stand(t, r)
	move := says(filterjson.Answer{Arguments: json.RawMessage(`{"path":"src/x","content":"y","mode":1}`)})
	own := &filterPlugin{filters: map[string]filterFunc{"before_it": move}}
	self := &selfFiltering{pluginOfBoth{own, hosttest.NewPlugin([]hosttest.Tool{r.tool(nil)})}, map[string][]string{"before_it": {"write"}}}
	r.rig = newServedRig(t, map[string]pluginwire.Handler{ownPluginName: self}, records)
	r.approve(t, nil) // below docs
	if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired || len(r.executed()) > 0 {
		t.Errorf("it ended with %+v", got)
	}
}
