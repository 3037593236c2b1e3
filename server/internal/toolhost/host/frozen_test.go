package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// pays is a dangerous tool whose arguments need repair. It records the arguments that it executes.
func pays(executed *[]string) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: "pay", Description: "Pays.", Dangerous: true, PartialArguments: true, InputSchema: []byte(
			`{"type":"object","properties":{"amount":{"type":"number","minimum":100},"force":{"type":"boolean","default":true}}}`)},
		Run: func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			*executed = append(*executed, string(c.Arguments))
			return tool.TextResult("paid"), nil
		},
		Preview: func([]byte, func(tool.Event)) {},
	}
}

const (
	asked     = `{"amount": 1}`
	askedPays = `{"amount":100,"force":true}`
)

// wantAsked checks that a call ended with a request to approve exactly these final arguments. It
// returns their digest.
func wantAsked(t *testing.T, got tool.Outcome, final string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(final))
	digest := hex.EncodeToString(sum[:])
	if got.Err == nil || got.Err.Kind != tool.KindApprovalRequired || string(got.Err.Arguments) != final || got.Err.ArgumentsSHA256 != digest {
		t.Fatalf("the call ended with %+v; want a request to approve %s", got, final)
	}
	return digest
}

// The tool gets exactly the arguments that a person was shown. An approval of anything else
// executes nothing.
func TestFinalArgumentsAreShownAndExecuted(t *testing.T) {
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, nil)
	digest := wantAsked(t, outcome(t, r, tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked)}), askedPays)
	for name, approval := range map[string]tool.Approval{
		"as given":               {},
		"the given arguments":    {Arguments: []byte(asked)},
		"another digest":         {ArgumentsSHA256: strings.Repeat("0", 64)},
		"another way of writing": {Arguments: []byte(`{"amount":100.0,"force":true}`)},
	} {
		approval.ApprovedBy = "Ada"
		got := outcome(t, r, tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked), Approval: &approval})
		t.Run(name, func(t *testing.T) { wantAsked(t, got, askedPays) })
	}
	for name, approval := range map[string]tool.Approval{
		"no digest":  {ArgumentsSHA256: "x"},
		"two things": {ArgumentsSHA256: digest, Arguments: []byte(asked)},
	} {
		approval.ApprovedBy = "Ada"
		if got := outcomeOf(t, r, tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked), Approval: &approval}); tool.KindOf(errOf(got)) != tool.KindInvalidArgument {
			t.Errorf("%s: the call ended with %+v", name, got)
		}
	}
	if len(executed) > 0 {
		t.Fatalf("the tool was executed with %q", executed)
	}
	for i, approval := range []tool.Approval{{ArgumentsSHA256: digest}, {Arguments: []byte(` {"force":true, "amount":100}`)}} {
		approval.ApprovedBy = "Ada"
		got := outcome(t, r, tool.Call{ID: fmt.Sprint("p", i), Tool: "pay", Arguments: []byte(asked), Approval: &approval})
		if got.Err != nil || !strings.Contains(string(got.Result.Metadata["toolhost.repairs"]), "amount") {
			t.Errorf("approved by %+v: %+v", approval, got)
		}
	}
	if diff := cmp.Diff([]string{askedPays, askedPays}, executed); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
}

// The approved and the executed arguments are the same even if no rule requires an approval.
func TestApprovalThatNoRuleWants(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "free", When: `tool.name == "pay"`, Then: policy.Allow}})
	if err != nil {
		t.Fatal(err)
	}
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, func(c *host.Config) { c.Policy = rules })
	c := tool.Call{Tool: "pay", Arguments: []byte(asked), Approval: &tool.Approval{ApprovedBy: "Ada", Arguments: []byte(asked)}}
	wantAsked(t, outcome(t, r, c), askedPays)
	c.Approval.Arguments = nil
	if got := outcome(t, r, c); got.Err != nil || !slices.Equal(executed, []string{askedPays}) {
		t.Errorf("%+v, executed %q", got, executed)
	}
}

// The approved repeat executes the arguments that were shown, although the filter would answer
// differently by then. Each approval is good for one execution.
func TestApprovedRepeatsSkipFilters(t *testing.T) {
	var executed []string
	var count atomic.Int64
	change := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		return filterjson.EncodeAnswer(filterjson.Answer{Arguments: fmt.Appendf(nil, `{"amount":%d,"force":false}`, 1000+count.Add(1))})
	}
	pay := pays(&executed)
	r, _ := newFilterRig(t, []hosttest.Tool{pay}, map[string]filterFunc{"before_pay": change}, nil, host.Filter{Name: "before_pay"})
	c := tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked)}
	digest := wantAsked(t, outcome(t, r, c), `{"amount":1001,"force":false}`)
	// A repeat with other arguments does not get the stored ones.
	c.Approval = &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: digest}
	other := c
	other.Arguments = []byte(`{"amount":2}`)
	wantAsked(t, outcome(t, r, other), `{"amount":1002,"force":false}`)
	other = c
	other.Session = "another"
	wantAsked(t, outcome(t, r, other), `{"amount":1003,"force":false}`)
	if got := outcome(t, r, c); got.Err != nil || string(got.Result.Metadata["toolhost.filters"]) != `["before_pay"]` {
		t.Fatalf("the approved repeat: %+v", got)
	}
	c.ID = "q" // the entry is used up, so that the filter is asked again
	wantAsked(t, outcome(t, r, c), `{"amount":1004,"force":false}`)
	if diff := cmp.Diff([]string{`{"amount":1001,"force":false}`}, executed); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
}

// A plugin that arrives between the question and the approval may filter the call. The host asks
// its filter about the approved repeat, and then asks for an approval again.
func TestAddedFilterIsAskedAboutAnApprovedRepeat(t *testing.T) {
	var executed []string
	change := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		return filterjson.EncodeAnswer(filterjson.Answer{Arguments: []byte(`{"amount":1000,"force":false}`)})
	}
	filtering := &filterPlugin{filters: map[string]filterFunc{"before_pay": change}}
	folder := t.TempDir()
	add := func(plugin string) {
		if err := os.WriteFile(filepath.Join(folder, plugin), []byte(plugin), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	add(hosttest.PluginName)
	served := map[string]pluginwire.Handler{hosttest.PluginName: hosttest.NewPlugin([]hosttest.Tool{pays(&executed)}), filterPluginName: filtering}
	var r *rig
	r = newRig(t, nil, func(cfg *host.Config) {
		cfg.Catalog = openCatalogIn(t, folder, served)
		cfg.Filters = []host.Filter{{Name: "before_pay", Optional: true}}
		cfg.Launch = func(ctx context.Context, p *catalog.Plugin, _ string) (host.Process, error) {
			return r.start(ctx, served[p.Info.Name])
		}
	})
	c := tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked)}
	digest := wantAsked(t, outcome(t, r, c), askedPays)
	add(filterPluginName)
	if _, err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Approval = &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: digest}
	c.Approval.ArgumentsSHA256 = wantAsked(t, outcome(t, r, c), `{"amount":1000,"force":false}`)
	if got := outcome(t, r, c); got.Err != nil || !slices.Equal(executed, []string{`{"amount":1000,"force":false}`}) {
		t.Errorf("%+v, executed %q", got, executed)
	}
}

// A host that does not have the stored arguments computes them again, and compares their digest
// with the approved one.
func TestFinalArgumentsAfterARestart(t *testing.T) {
	var executed []string
	c := tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked)}
	digest := wantAsked(t, outcome(t, newRig(t, []hosttest.Tool{pays(&executed)}, nil), c), askedPays)
	c.Approval = &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: digest}
	upgraded := pays(&executed)
	upgraded.Spec.InputSchema = []byte(strings.Replace(string(upgraded.Spec.InputSchema), "100", "500", 1))
	wantAsked(t, outcome(t, newRig(t, []hosttest.Tool{upgraded}, nil), c), `{"amount":500,"force":true}`)
	if len(executed) > 0 {
		t.Fatalf("executed %q", executed)
	}
	if got := outcome(t, newRig(t, []hosttest.Tool{pays(&executed)}, nil), c); got.Err != nil || !slices.Equal(executed, []string{askedPays}) {
		t.Errorf("%+v, executed %q", got, executed)
	}
}

// Arguments that arrive in pieces are previewed, and executed as they were approved.
func TestApprovalOfAStream(t *testing.T) {
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, nil)
	approval := &tool.Approval{ApprovedBy: "Ada"}
	for range 2 {
		e, err := r.Open(t.Context(), tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked[:5]), Approval: approval}, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Send(t.Context(), []byte(asked[5:]), true); err != nil {
			t.Fatal(err)
		}
		got := end(t, e)
		e.Close()
		if approval.ArgumentsSHA256 == "" {
			approval = &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: wantAsked(t, got, askedPays)}
		} else if got.Err != nil {
			t.Errorf("the approved call ended with %v", got.Err)
		}
	}
	if diff := cmp.Diff([]string{askedPays}, executed); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
}

// A person cannot approve by digest what was not shown. The error tells the caller why nothing was
// shown.
func TestArgumentsTooLargeToShow(t *testing.T) {
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, nil)
	large := fmt.Appendf(nil, `{"amount":1,"note":%q}`, strings.Repeat("x", 1<<20))
	got := outcome(t, r, tool.Call{Tool: "pay", Arguments: large})
	if got.Err == nil || got.Err.Arguments != nil || got.Err.ArgumentsSHA256 == "" || !strings.Contains(got.Err.Message, "too large to be shown") {
		t.Errorf("got %+v", got.Err)
	}
}

// The audit log names the approver that the server verified, and beside it the name that the caller
// claims, which may be a lie.
func TestApprovedBy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, func(c *host.Config) { c.Audit = log })
	approval := &tool.Approval{Approver: "uid:1007", ApprovedBy: "uid:0 root"}
	call := tool.Call{Tool: "pay", Principal: "red/ada", Via: "agentd", From: "192.0.2.7", Arguments: []byte(askedPays), Approval: approval}
	if got := outcome(t, r, call); got.Err != nil {
		t.Fatal(got.Err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var line struct {
		Principal, Via, From, Approver string
		By                             string `json:"approved_by"`
	}
	if err := json.Unmarshal(text, &line); err != nil || line.Approver != "uid:1007" || line.By != "uid:0 root" ||
		line.Principal != "red/ada" || line.Via != "agentd" || line.From != "192.0.2.7" {
		t.Errorf("the log has %+v, %v", line, err)
	}
}

// A rule with the verdict four_eyes needs an approver with another key than the principal of the
// call. What the caller claims as a name does not help, and neither does an unknown approver.
func TestFourEyes(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "two", When: `tool.name == "pay"`, Then: policy.FourEyes}})
	if err != nil {
		t.Fatal(err)
	}
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, func(c *host.Config) { c.Policy = rules })
	call := tool.Call{Tool: "pay", Principal: "red/ada", Via: "agentd", Arguments: []byte(askedPays)}
	first := outcome(t, r, call)
	if first.Err == nil || first.Err.Kind != tool.KindApprovalRequired || !first.Err.FourEyes || first.Err.Rule != "two" {
		t.Fatalf("without an approval: %+v", first.Err)
	}
	for _, approval := range []tool.Approval{
		{Approver: "red/ada"}, {Approver: "red/ada", ApprovedBy: "bob"}, {ApprovedBy: "bob"},
		{Approver: "red/bob", Arguments: []byte(`{"amount":1000000}`)}, // bob approved other arguments
	} {
		call.Approval = &approval
		if got := outcome(t, r, call); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired || !got.Err.FourEyes {
			t.Errorf("%+v: %+v", approval, got.Err)
		}
	}
	if len(executed) > 0 {
		t.Fatalf("executed %v", executed)
	}
	call.Approval = &tool.Approval{Approver: "red/bob", ArgumentsSHA256: first.Err.ArgumentsSHA256}
	if got := outcome(t, r, call); got.Err != nil || len(executed) != 1 {
		t.Errorf("with the approval of another principal: %+v, executed %v", got.Err, executed)
	}
}

// A rule that names groups needs an approver who is in one of them, as who sets the approver has
// verified it.
func TestTheApproverIsInAGroup(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{
		{Name: "money", When: `tool.name == "pay"`, Then: policy.RequireApproval, Approvers: []string{"ops", "red/leads"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var executed []string
	r := newRig(t, []hosttest.Tool{pays(&executed)}, func(c *host.Config) { c.Policy = rules })
	call := tool.Call{Tool: "pay", Principal: "red/ada", Via: "agentd", Arguments: []byte(askedPays)}
	first := outcome(t, r, call)
	if first.Err == nil || first.Err.Kind != tool.KindApprovalRequired || !slices.Equal(first.Err.ApproverGroups, []string{"ops", "red/leads"}) ||
		!strings.Contains(first.Err.Message, "a person in one of the groups ops, red/leads has to approve") {
		t.Fatalf("without an approval: %+v", first.Err)
	}
	for _, approval := range []tool.Approval{
		{Approver: "red/olga"}, {Approver: "red/olga", ApproverGroups: []string{"ops", "lead"}}, {Approver: "olga", ApproverGroups: []string{"leads"}},
		{ApprovedBy: "red/leads", ApproverGroups: []string{"leads"}},
	} {
		approval.ArgumentsSHA256 = first.Err.ArgumentsSHA256
		call.Approval = &approval
		if got := outcome(t, r, call); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired || len(got.Err.ApproverGroups) != 2 {
			t.Errorf("%+v: %+v", approval, got.Err)
		}
	}
	if len(executed) > 0 {
		t.Fatalf("executed %v", executed)
	}
	call.Approval = &tool.Approval{Approver: "red/olga", ApproverGroups: []string{"leads"}, ArgumentsSHA256: first.Err.ArgumentsSHA256}
	if got := outcome(t, r, call); got.Err != nil || len(executed) != 1 {
		t.Errorf("with the approval of a lead: %+v, executed %v", got.Err, executed)
	}
}
