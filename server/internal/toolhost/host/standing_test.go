package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	waiting "github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

// standingRig is a host with a dangerous tool, standing approvals and an audit log.
type standingRig struct {
	*rig
	approvals *standing.Store
	log       *audit.Log
	audit     string // the path of the log

	mu  sync.Mutex
	ran []string // the arguments that the tool got
}

// writer is the spec of the rig's tool.
var writer = tool.Spec{
	Name: "write", Description: "Writes a file.", Dangerous: true,
	InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"mode":{"type":"integer","default":1}}}`),
	Metadata:    map[string]json.RawMessage{tool.KeyArguments: json.RawMessage(`{"path":"path","content":"content"}`)},
}

func (r *standingRig) tool(wait <-chan struct{}) hosttest.Tool {
	return hosttest.Tool{Spec: writer, Run: func(ctx context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
		r.mu.Lock()
		r.ran = append(r.ran, string(c.Arguments))
		r.mu.Unlock()
		if wait != nil {
			select {
			case <-wait:
			case <-ctx.Done():
			}
		}
		return tool.TextResult("written"), nil
	}}
}

// running returns the number of executions that have begun since the last call of executed.
func (r *standingRig) running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ran)
}

// executed returns the arguments with which the tool was executed since the last call of executed.
func (r *standingRig) executed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ran := r.ran
	r.ran = nil
	return ran
}

// lines returns the lines of the audit log that are about standing approvals, or that have one.
func (r *standingRig) lines(t *testing.T) (kept []map[string]any) {
	t.Helper()
	data, err := os.ReadFile(r.audit)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["kind"] == "approval" || line["standing_approval"] != nil {
			kept = append(kept, line)
		}
	}
	return kept
}

// stand prepares the records of a host with standing approvals.
func stand(t *testing.T, r *standingRig) func(*host.Config) {
	t.Helper()
	dir := t.TempDir()
	store, err := standing.Open(t.Context(), standing.Config{Path: filepath.Join(dir, standing.File), Ledger: "l"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	r.audit, r.approvals = filepath.Join(dir, "audit.jsonl"), store
	log, err := audit.Open(audit.Config{File: r.audit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	r.log = log
	return func(c *host.Config) { c.Approvals, c.Audit = store, log }
}

func newStandingRig(t *testing.T, change func(*host.Config)) *standingRig {
	t.Helper()
	r := &standingRig{}
	records := stand(t, r)
	r.rig = newRig(t, []hosttest.Tool{r.tool(nil)}, func(c *host.Config) {
		records(c)
		if change != nil {
			change(c)
		}
	})
	return r
}

// writing returns a call that agentd makes for red/ada as the agent writer.
func writing(arguments string, change func(*tool.Call)) tool.Call {
	c := tool.Call{
		Tool: "write", Arguments: json.RawMessage(arguments), Principal: "red/ada", Via: "agentd", Agent: "writer", Run: "run-1", Session: "s",
	}
	if change != nil {
		change(&c)
	}
	return c
}

// proposed is the request that creates an approval of calls that write below docs.
func proposed(change func(*tool.ApprovalRequest)) tool.ApprovalRequest {
	q := tool.ApprovalRequest{
		RequestID: "decision-1", Principal: "red/ada", Via: "agentd", Tool: "write", Arguments: json.RawMessage(`{"path":"docs/a","content":"x","mode":1}`),
		Agent: "writer", Run: "run-1", Session: "s", Scope: tool.ScopePrincipal, Expires: time.Now().Add(time.Hour), CallID: "call-1",
		Patterns: []tool.ArgumentPattern{{Argument: "path", PathPrefix: "docs"}, {Argument: "content", Any: true}},
		Approver: "red/olga", ApprovedBy: "Olga", Reason: "sure",
	}
	if change != nil {
		change(&q)
	}
	return q
}

func (r *standingRig) approve(t *testing.T, change func(*tool.ApprovalRequest)) tool.StandingApproval {
	t.Helper()
	a, err := r.CreateApproval(t.Context(), proposed(change))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rulesForStanding has one rule for each verdict.
var rulesForStanding = []policy.Rule{
	{Name: "no-secrets", When: `arguments.path.contains("secret")`, Then: policy.Deny},
	{Name: "two-persons", When: `arguments.path.contains("release")`, Then: policy.FourEyes},
	{Name: "reviews", When: `arguments.path.contains("review")`, Then: policy.RequireApproval},
	{Name: "drafts", When: `arguments.path.contains("draft")`, Then: policy.Allow},
}

// A standing approval approves what it is for. The audit log and the result say so, and the tool
// gets exactly the text that was compared.
func TestStandingApproval(t *testing.T) {
	r := newStandingRig(t, nil)
	refused := outcome(t, r.rig, writing(`{"path":"docs/a","content":"x"}`, nil))
	if refused.Err == nil || refused.Err.Kind != tool.KindApprovalRequired || len(refused.Err.DefinitionSHA256) != 64 {
		t.Fatalf("without an approval: %+v", refused.Err)
	}
	a := r.approve(t, func(q *tool.ApprovalRequest) {
		q.DefinitionSHA256, q.Arguments = refused.Err.DefinitionSHA256, refused.Err.Arguments
	})
	got := outcome(t, r.rig, writing(" {\"path\" : \"docs/b/../c\",\"content\":\"y\"}", nil))
	if got.Err == nil {
		t.Errorf("a path with dots: %+v", got)
	}
	got = outcome(t, r.rig, writing(" {\"path\" : \"docs/b c\",\n\"content\":\"y\"}", func(c *tool.Call) { c.ID = "one" }))
	if got.Err != nil || string(got.Result.Metadata[tool.KeyStandingApproval]) != `{"approver":"red/olga","id":"`+a.ID+`"}` {
		t.Errorf("it ended with %+v %s", got.Err, got.Result.Metadata[tool.KeyStandingApproval])
	}
	if ran := r.executed(); !slices.Equal(ran, []string{`{"content":"y","mode":1,"path":"docs/b c"}`}) {
		t.Errorf("executed: %q", ran)
	}
	if got := outcome(t, r.rig, writing(`{ "mode":1, "path":"docs\/d", "content":"y" }`, nil)); got.Err != nil { // nothing to repair
		t.Error(got.Err)
	}
	if ran := r.executed(); !slices.Equal(ran, []string{`{"content":"y","mode":1,"path":"docs/d"}`}) {
		t.Errorf("executed: %q", ran)
	}
	lines := r.lines(t)
	if len(lines) != 3 {
		t.Fatalf("the audit log has %v", lines)
	}
	for key, want := range map[string]any{"act": "create standing approval", "target": a.ID, "approver": "red/olga", "principal": "red/ada", "via": "agentd", "call_id": "call-1", "tenant": "red", "decision": "approved"} {
		if lines[0][key] != want {
			t.Errorf("the creation has the %s %v, want %v", key, lines[0][key], want)
		}
	}
	for key, want := range map[string]any{"standing_approval": a.ID, "approver": "red/olga", "approved_by": "Olga", "call_id": "one", "decision": "approved"} {
		if lines[1][key] != want {
			t.Errorf("the use has the %s %v, want %v", key, lines[1][key], want)
		}
	}
	if text, _ := os.ReadFile(r.audit); strings.Contains(string(text), "docs/a") {
		t.Errorf("the audit log has arguments: %s", text)
	}
}

// No other call is executed. Each line changes one thing.
func TestStandingApprovalAttacks(t *testing.T) {
	r := newStandingRig(t, func(c *host.Config) { c.Policy = rulesOf(t, rulesForStanding...) })
	r.approve(t, nil)
	below := `{"path":"docs/b","content":"y"}`
	if got := outcome(t, r.rig, writing(below, nil)); got.Err != nil {
		t.Fatal(got.Err)
	}
	r.executed()
	for name, c := range map[string]tool.Call{
		"another principal":      writing(below, func(c *tool.Call) { c.Principal = "red/eve" }),
		"another tenant":         writing(below, func(c *tool.Call) { c.Principal = "blue/ada" }),
		"another agent":          writing(below, func(c *tool.Call) { c.Agent = "reader" }),
		"no agent":               writing(below, func(c *tool.Call) { c.Agent = "" }),
		"the principal itself":   writing(below, func(c *tool.Call) { c.Via = "" }),
		"another delegate":       writing(below, func(c *tool.Call) { c.Via = "red/agentd" }),
		"another folder":         writing(`{"path":"src/b","content":"y"}`, nil),
		"a path above":           writing(`{"path":"docs/../b","content":"y"}`, nil),
		"a path that ends above": writing(`{"path":"docs/b/../../../etc","content":"y"}`, nil),
		"a name that begins so":  writing(`{"path":"docsb","content":"y"}`, nil),
		"another case":           writing(`{"path":"Docs/b","content":"y"}`, nil),
		"an absolute path":       writing(`{"path":"/docs/b","content":"y"}`, nil),
		"a backslash":            writing(`{"path":"docs\\..\\b","content":"y"}`, nil),
		"NUL":                    writing(`{"path":"docs/\u0000b","content":"y"}`, nil),
		"another value":          writing(`{"path":"docs/b","content":"y","mode":2}`, nil),
		"an argument more":       writing(`{"path":"docs/b","content":"y","force":1}`, nil),
		"a key twice":            writing(`{"path":"docs/b","path":"/etc/passwd","content":"y"}`, nil),
		"an escaped key twice":   writing(`{"path":"docs/b","pat\u0068":"/etc/passwd","content":"y"}`, nil),
		"a key in another case":  writing(`{"path":"docs/b","PATH":"/etc/passwd","content":"y"}`, nil),
		"denied by a rule":       writing(`{"path":"docs/secret","content":"y"}`, nil),
		"four eyes":              writing(`{"path":"docs/release","content":"y"}`, nil),
		"another rule":           writing(`{"path":"docs/review","content":"y"}`, nil),
		"a wrong approval with it": writing(below, func(c *tool.Call) {
			c.Approval = &tool.Approval{ApprovedBy: "x", Arguments: []byte(`{"path":"docs/c"}`)}
		}),
	} {
		got := outcome(t, r.rig, c)
		refused := got.Err != nil && (got.Err.Kind == tool.KindApprovalRequired || got.Err.Kind == tool.KindDenied) || got.Err == nil && got.Result.IsError
		if ran := r.executed(); !refused || len(ran) > 0 {
			t.Errorf("%s: executed %q, %+v", name, ran, got)
		}
	}
	if got := outcome(t, r.rig, writing(below, nil)); got.Err != nil {
		t.Errorf("afterwards: %v", got.Err)
	}
}

// The arguments that count are those after filters: a filter moves a call out of what is approved.
func TestStandingApprovalOfFilteredArguments(t *testing.T) {
	r := &standingRig{}
	records := stand(t, r)
	move := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		return filterjson.EncodeAnswer(filterjson.Answer{Arguments: json.RawMessage(`{"path":"src/x","content":"y","mode":1}`)})
	}
	r.rig, _ = newFilterRig(t, []hosttest.Tool{r.tool(nil)}, map[string]filterFunc{"before": move}, records, host.Filter{Name: "before"})
	r.approve(t, nil)
	if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired || len(r.executed()) > 0 {
		t.Errorf("it ended with %+v", got)
	}
	r.approve(t, func(q *tool.ApprovalRequest) {
		q.RequestID, q.Patterns, q.Arguments = "decision-2", nil, json.RawMessage(`{"path":"src/x","content":"y","mode":1}`)
	})
	if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err != nil || !slices.Equal(r.executed(), []string{`{"content":"y","mode":1,"path":"src/x"}`}) {
		t.Errorf("it ended with %+v", got)
	}
}

// begin opens a call whose arguments are complete.
func begin(t *testing.T, r *rig, c tool.Call) tool.Execution {
	t.Helper()
	e, err := r.Open(t.Context(), c, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// An approval that ends while its call waits does not let the call begin. The call can then be
// approved like any other.
func TestRevokedWhileTheCallWaits(t *testing.T) {
	for name, change := range map[string]func(*tool.Spec){"effects": func(*tool.Spec) {}, "read only": func(s *tool.Spec) { s.ReadOnly = true }} {
		t.Run(name, func(t *testing.T) {
			r := &standingRig{}
			free := make(chan struct{})
			records, one := stand(t, r), 1
			slow := r.tool(free)
			change(&slow.Spec)
			r.rig = newRig(t, []hosttest.Tool{slow}, records)
			r.Reconfigure(host.Settings{Overrides: catalog.Overrides{"write": {MaxConcurrent: &one}}}, nothingReplaced)
			a := r.approve(t, func(q *tool.ApprovalRequest) { q.RequestID = "" })
			first, second := begin(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)), begin(t, r.rig, writing(`{"path":"docs/c","content":"y"}`, nil))
			waiting.Holds(t, "one call runs and the other waits", func() bool { return r.running() == 1 && len(r.lines(t)) == 3 }) // the creation, and two uses
			got, err := r.RevokeApproval(t.Context(), tool.ApprovalRevocation{ID: a.ID, By: "red/olga", May: func(string) bool { return true }})
			if err != nil || got.End != tool.ApprovalRevoked || got.RevokedBy != "red/olga" {
				t.Fatalf("%+v, %v", got, err)
			}
			close(free)
			var refused *tool.Error
			for _, e := range []tool.Execution{first, second} {
				if end := end(t, e); end.Err != nil {
					refused = end.Err
				} else if end.Result.Metadata[tool.KeyStandingApproval] == nil {
					t.Errorf("%+v", end)
				}
			}
			if refused == nil || refused.Kind != tool.KindApprovalRequired || refused.ArgumentsSHA256 == "" || len(r.executed()) != 1 {
				t.Fatalf("the call that waited ended with %+v", refused)
			}
			again := writing(string(refused.Arguments), func(c *tool.Call) {
				c.Approval = &tool.Approval{Approver: "red/olga", ArgumentsSHA256: refused.ArgumentsSHA256}
			})
			if end := outcome(t, r.rig, again); end.Err != nil || end.Result.Metadata[tool.KeyStandingApproval] != nil {
				t.Errorf("with an approval: %+v", end)
			}
		})
	}
}

// Standing approvals that the operator switches off do not let a call begin that waits.
func TestSwitchedOffWhileTheCallWaits(t *testing.T) {
	r := &standingRig{}
	free := make(chan struct{})
	records, one := stand(t, r), 1
	r.rig = newRig(t, []hosttest.Tool{r.tool(free)}, records)
	overrides := catalog.Overrides{"write": {MaxConcurrent: &one}}
	r.Reconfigure(host.Settings{Overrides: overrides}, nothingReplaced)
	r.approve(t, nil)
	calls := []tool.Execution{begin(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)), begin(t, r.rig, writing(`{"path":"docs/c","content":"y"}`, nil))}
	waiting.Holds(t, "both calls are approved", func() bool { return len(r.lines(t)) == 3 }) // the creation, and two uses
	waiting.Holds(t, "one of them runs", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.ran) == 1 })
	r.Reconfigure(host.Settings{Overrides: overrides, Approvals: host.ApprovalLimits{Off: true}}, nothingReplaced)
	close(free)
	var refused []*tool.Error
	for _, e := range calls {
		if end := end(t, e); end.Err != nil {
			refused = append(refused, end.Err)
		}
	}
	if len(refused) != 1 || refused[0].Kind != tool.KindApprovalRequired || len(r.executed()) != 1 {
		t.Errorf("%v were refused", refused)
	}
}

// A changed definition ends an approval for good.
func TestChangedDefinitionEndsTheApproval(t *testing.T) {
	r := newStandingRig(t, nil)
	a := r.approve(t, nil)
	ended := func() bool { known, _ := r.approvals.Get(a.ID); return known.End == tool.ApprovalChanged }
	r.Reconfigure(host.Settings{Overrides: catalog.Overrides{"write": {Description: "Writes two files."}}}, nothingReplaced)
	if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired {
		t.Errorf("with another definition: %+v", got)
	}
	waiting.Holds(t, "the approval has ended", ended)
	r.Reconfigure(host.Settings{}, nothingReplaced)
	if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired || len(r.executed()) > 0 {
		t.Errorf("with the first definition again: %+v", got)
	}
	waiting.Holds(t, "the audit log has the end", func() bool {
		lines := r.lines(t)
		return len(lines) == 2 && lines[1]["act"] == "end standing approval" && lines[1]["target"] == a.ID
	})
}

// An approval ends when its time is over, and the audit log says so.
func TestExpiredApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, nil)
		a := r.approve(t, func(q *tool.ApprovalRequest) { q.Expires = time.Now().Add(time.Minute) })
		if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err != nil {
			t.Fatal(got.Err)
		}
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if got := outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired {
			t.Errorf("when its time is over: %+v", got)
		}
		lines := r.lines(t)
		if last := lines[len(lines)-1]; last["target"] != a.ID || last["reason"] != "its time is over" {
			t.Errorf("the audit log has %v", lines)
		}
	})
}

// What an approval of the single call could not do, no standing approval can do either.
func TestApprovalsThatCannotBeCreated(t *testing.T) {
	r := newStandingRig(t, func(c *host.Config) {
		c.Policy, c.Settings.Approvals = rulesOf(t, rulesForStanding...), host.ApprovalLimits{Longest: 2 * time.Hour}
	})
	path := func(path string) func(*tool.ApprovalRequest) {
		return func(q *tool.ApprovalRequest) {
			q.Patterns, q.Arguments = nil, json.RawMessage(`{"path":"`+path+`","content":"x","mode":1}`)
		}
	}
	for name, test := range map[string]struct {
		change func(*tool.ApprovalRequest)
		kind   tool.Kind
	}{
		"of a denied call":              {path("secret"), tool.KindDenied},
		"of a call for two persons":     {path("release"), tool.KindDenied},
		"of a call without an approval": {path("draft"), tool.KindInvalidArgument},
		"that a rule cannot judge":      {func(q *tool.ApprovalRequest) { q.Patterns, q.Arguments = nil, json.RawMessage(`{}`) }, tool.KindDenied},
		"of an unknown tool":            {func(q *tool.ApprovalRequest) { q.Tool = "none" }, tool.KindNotFound},
		"of another definition":         {func(q *tool.ApprovalRequest) { q.DefinitionSHA256 = strings.Repeat("0", 64) }, tool.KindConflict},
		"for no run":                    {func(q *tool.ApprovalRequest) { q.Scope, q.Run = tool.ScopeRun, "" }, tool.KindInvalidArgument},
		"for the default session":       {func(q *tool.ApprovalRequest) { q.Scope, q.Session = tool.ScopeSession, "" }, tool.KindInvalidArgument},
		"for ever":                      {func(q *tool.ApprovalRequest) { q.Expires = time.Time{} }, tool.KindInvalidArgument},
		"for too long":                  {func(q *tool.ApprovalRequest) { q.Expires = time.Now().Add(3 * time.Hour) }, tool.KindInvalidArgument},
		"for the past":                  {func(q *tool.ApprovalRequest) { q.Expires = time.Now().Add(-time.Second) }, tool.KindInvalidArgument},
		"without a scope":               {func(q *tool.ApprovalRequest) { q.Scope = "" }, tool.KindInvalidArgument},
		"with an ill-formed id":         {func(q *tool.ApprovalRequest) { q.RequestID = "a b" }, tool.KindInvalidArgument},
		"with a long reason":            {func(q *tool.ApprovalRequest) { q.Reason = strings.Repeat("x", 2000) }, tool.KindInvalidArgument},
		"with a reserved context":       {func(q *tool.ApprovalRequest) { q.Context = map[string]json.RawMessage{tool.KeyPrincipal: []byte("{}")} }, tool.KindInvalidArgument},
		"with a foreign pattern":        {func(q *tool.ApprovalRequest) { q.Patterns[0].PathPrefix = "src" }, tool.KindInvalidArgument},
	} {
		if a, err := r.CreateApproval(t.Context(), proposed(test.change)); tool.KindOf(err) != test.kind {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	if len(r.lines(t)) != 0 {
		t.Errorf("the audit log has %v", r.lines(t))
	}
	run := r.approve(t, func(q *tool.ApprovalRequest) {
		q.Scope, q.Expires, q.AnyArguments, q.Patterns = tool.ScopeRun, time.Time{}, true, nil
	})
	if left := time.Until(run.Expires); left > 2*time.Hour || left < time.Hour {
		t.Errorf("an approval for a run lasts %v", left)
	}
	if got := outcome(t, r.rig, writing(`{"path":"anything","content":"y","mode":7}`, nil)); got.Err != nil {
		t.Errorf("any arguments in the run: %v", got.Err)
	}
	for _, denied := range []string{"secret", "release"} {
		if got := outcome(t, r.rig, writing(`{"path":"`+denied+`"}`, nil)); got.Err == nil {
			t.Errorf("any arguments overrule the rule about %s", denied)
		}
	}
	r.Reconfigure(host.Settings{Approvals: host.ApprovalLimits{Off: true}}, nothingReplaced)
	if _, err := r.CreateApproval(t.Context(), proposed(func(q *tool.ApprovalRequest) { q.RequestID = "decision-2" })); tool.KindOf(err) != tool.KindUnsupported {
		t.Errorf("switched off: %v", err)
	}
	if got := outcome(t, r.rig, writing(`{"path":"anything","content":"y"}`, nil)); got.Err == nil || got.Err.DefinitionSHA256 != "" {
		t.Errorf("switched off, it approves: %+v", got)
	}
}

// Nothing is approved in advance that the audit log does not have.
func TestApprovalWithoutAnAuditLog(t *testing.T) {
	var log *audit.Log
	r := newStandingRig(t, func(c *host.Config) { log = c.Audit })
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err := r.CreateApproval(t.Context(), proposed(nil)); tool.KindOf(err) != tool.KindUnavailable || r.approvals.Len() != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestListApprovals(t *testing.T) {
	r := newStandingRig(t, nil)
	var ids []string
	for i, principal := range []string{"red/ada", "red/ada", "red/eve", "blue/ada"} {
		a := r.approve(t, func(q *tool.ApprovalRequest) { q.Principal, q.RequestID = principal, string(rune('a'+i)) })
		ids = append([]string{a.ID}, ids...) // the newest first
	}
	list := func(q tool.ApprovalQuery) (listed []string) {
		for {
			page, err := r.Approvals(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page.Approvals {
				listed = append(listed, a.ID)
			}
			if q.PageToken = page.NextPageToken; q.PageToken == "" {
				return listed
			}
		}
	}
	for name, test := range map[string]struct {
		query tool.ApprovalQuery
		want  []string
	}{
		"one principal":   {tool.ApprovalQuery{Principal: "red/ada"}, ids[2:]},
		"all":             {tool.ApprovalQuery{AllPrincipals: true, PageSize: 3}, ids},
		"one tenant":      {tool.ApprovalQuery{AllPrincipals: true, Tenants: tool.Tenants{"red"}, PageSize: 1}, ids[1:]},
		"no tenant":       {tool.ApprovalQuery{AllPrincipals: true, Tenants: tool.Tenants{}}, nil},
		"another tool":    {tool.ApprovalQuery{AllPrincipals: true, Tool: "read"}, nil},
		"another run":     {tool.ApprovalQuery{AllPrincipals: true, Run: "run-9"}, nil},
		"of no principal": {tool.ApprovalQuery{}, nil},
		"given":           {tool.ApprovalQuery{Principal: "red/olga", Approved: true, May: func(of string) bool { return of != "red/eve" }, PageSize: 1}, []string{ids[0], ids[2], ids[3]}},
		"given by nobody": {tool.ApprovalQuery{Principal: "red/ada", Approved: true, May: func(string) bool { return true }}, nil},
	} {
		if got := list(test.query); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if _, err := r.Approvals(t.Context(), tool.ApprovalQuery{PageToken: "x"}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a wrong token: %v", err)
	}
	revoke := func(may bool) error {
		_, err := r.RevokeApproval(t.Context(), tool.ApprovalRevocation{ID: ids[0], By: "x", May: func(string) bool { return may }})
		return err
	}
	if err := revoke(false); tool.KindOf(err) != tool.KindNotFound || !r.approvals.InForce(ids[0]) {
		t.Errorf("of others: %v", err)
	}
	page, err := r.Approvals(t.Context(), tool.ApprovalQuery{AllPrincipals: true, PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, it has ended
		if err := revoke(true); err != nil {
			t.Error(err)
		}
	}
	if got := list(tool.ApprovalQuery{AllPrincipals: true, PageToken: page.NextPageToken}); !slices.Equal(got, ids[1:]) {
		t.Errorf("after the last one of a page was revoked: %v", got)
	}
	if got := list(tool.ApprovalQuery{Principal: "blue/ada"}); got != nil {
		t.Errorf("in force is %v", got)
	}
	if got := list(tool.ApprovalQuery{Principal: "blue/ada", Ended: true}); !slices.Equal(got, ids[:1]) {
		t.Errorf("ended is %v", got)
	}
}

// A page of approvals with large arguments fits one message, so that a person can always see and
// revoke them.
func TestListLargeApprovals(t *testing.T) {
	r := newStandingRig(t, nil)
	content := strings.Repeat("x", 60<<10)
	want := 0
	for range 90 {
		r.approve(t, func(q *tool.ApprovalRequest) {
			q.RequestID, q.Patterns, q.Arguments = "", nil, json.RawMessage(`{"path":"docs/a","content":"`+content+`","mode":1}`)
		})
		want++
	}
	got, pages := 0, 0
	for q := (tool.ApprovalQuery{AllPrincipals: true, PageSize: 1000}); pages == 0 || q.PageToken != ""; pages++ {
		page, err := r.Approvals(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, a := range page.Approvals {
			bytes += len(a.Arguments)
		}
		if bytes > 3<<20 {
			t.Errorf("a page has %d bytes", bytes)
		}
		got, q.PageToken = got+len(page.Approvals), page.NextPageToken
	}
	if got != want || pages < 3 {
		t.Errorf("%d approvals in %d pages, want %d", got, pages, want)
	}
}

// A repeated request gets what it created, also when it could not create it any more.
func TestRepeatedApprovalRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, nil)
		request := proposed(func(q *tool.ApprovalRequest) { q.RequestID, q.Expires = "decision-9", time.Now().Add(time.Minute) })
		first, err := r.CreateApproval(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if again, err := r.CreateApproval(t.Context(), request); err != nil || again.ID != first.ID || again.End != tool.ApprovalExpired {
			t.Errorf("after its time: %+v, %v", again, err)
		}
		request.Reason = "another"
		if again, err := r.CreateApproval(t.Context(), request); tool.KindOf(err) != tool.KindConflict {
			t.Errorf("another request of the id: %+v, %v", again, err)
		}
	})
}
