package host_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// A token that is limited to some tools sees nothing of other calls of its principal: neither by a
// repeated id, nor by watching or cancelling it, in memory and in the store.
func TestALimitedTokenSeesNoOtherCalls(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	policy := authz.New([]authz.Binding{{Role: "caller", To: []string{"name:red/ada"}}})
	as := func(scope *identity.Scope) context.Context {
		p := identity.Principal{Tenant: "red", Name: "ada", Scope: scope}
		return authz.NewContext(t.Context(), authz.NewCaller(p, func() *authz.Policy { return policy }))
	}
	made := call("echo", `{"text":"private"}`)
	made.Principal, made.ID = "red/ada", "x"
	if err := failureOf(as(nil), t, r, made); err != nil {
		t.Fatal(err)
	}
	key := tool.CallKey{Principal: "red/ada", ID: "x"}
	for name, tt := range map[string]struct {
		scope *identity.Scope
		sees  bool
	}{
		"no limit":         {nil, true},
		"limited to roles": {&identity.Scope{Roles: []string{"caller"}}, true},
		"this tool":        {&identity.Scope{Tools: []string{"echo"}}, true},
		"a pattern":        {&identity.Scope{Tools: []string{"e*"}}, true},
		"another tool":     {&identity.Scope{Tools: []string{"count"}}, false},
		"other tools":      {&identity.Scope{Tools: []string{"fs_*", "count"}}, false},
	} {
		ctx := as(tt.scope)
		outcome, _ := unary(ctx, t, r, made)
		watched := tool.KindOf(nil)
		for _, err := range r.WatchCall(ctx, key, 0) {
			watched = tool.KindOf(err)
		}
		cancelled := tool.KindOf(r.CancelCall(ctx, key, "no"))
		want := tool.KindNotFound
		if tt.sees {
			want = tool.KindOf(nil)
		}
		repeated := <-outcome
		if (repeated.Err == nil) != tt.sees || watched != want || cancelled != want {
			t.Errorf("%s: repeated %v, watched %v, cancelled %v", name, repeated.Err, watched, cancelled)
		}
	}
}

// failureOf makes a call, and returns its error.
func failureOf(ctx context.Context, t *testing.T, r *rig, c tool.Call) *tool.Error {
	t.Helper()
	told, _ := unary(ctx, t, r, c)
	return (<-told).Err
}

// A tool that a caller may not use does not exist for it: no list, search or rendering has the
// tool, and all errors are those about a name that no tool ever had.
func TestToolsThatACallerMayNotUse(t *testing.T) {
	off := true
	r := newRig(t, hosttest.Tools(), func(cfg *host.Config) {
		cfg.Overrides = catalog.Overrides{"large": {Disabled: &off}}
	})
	policy := authz.New([]authz.Binding{{Role: "caller", To: []string{"name:red/ada"}, Tools: []string{"echo", "fai?"}}})
	ada := identity.Principal{Tenant: "red", Name: "ada"}
	ctx := authz.NewContext(t.Context(), authz.NewCaller(ada, func() *authz.Policy { return policy }))
	viewer := tool.Viewer{Principal: ada.Key()}
	names := func(infos []tool.Info) (all []string) {
		for _, i := range infos {
			all = append(all, i.Spec.Name)
		}
		return all
	}
	infos, err := r.ListTools(ctx, tool.Query{Principal: ada.Key()})
	if diff := cmp.Diff([]string{"echo", "fail"}, names(infos)); diff != "" || err != nil {
		t.Errorf("the list (-want +got), %v:\n%s", err, diff)
	}
	page, err := r.ListPage(ctx, tool.Query{Principal: ada.Key(), MaxTools: 1}, "echo")
	if diff := cmp.Diff([]string{"fail"}, names(page)); diff != "" || err != nil {
		t.Errorf("a page (-want +got), %v:\n%s", err, diff)
	}
	all, err := r.SearchTools(t.Context(), "counts waits echo", tool.Query{})
	if err != nil || len(all) < 2 {
		t.Fatalf("%d tools are found: %v", len(all), err)
	}
	matches, err := r.SearchTools(ctx, "counts waits echo", tool.Query{Principal: ada.Key()})
	if err != nil || len(matches) != 1 || matches[0].Spec.Name != "echo" {
		t.Errorf("found %+v, %v", matches, err)
	}
	rendered, err := r.RenderTools(ctx, tool.FormatMCP, tool.Query{Principal: ada.Key(), Names: []string{"echo", "count"}})
	if diff := cmp.Diff([]string{"echo"}, rendered.Tools); diff != "" || err != nil || len(rendered.Omitted) > 0 {
		t.Errorf("rendered (-want +got), %v, %v:\n%s", err, rendered.Omitted, diff)
	}
	if info, err := r.GetTool(ctx, "echo", viewer); err != nil || info.Spec.Name != "echo" {
		t.Errorf("echo: %v", err)
	}
	permitted := call("echo", `{"text":"x"}`)
	permitted.Principal = ada.Key()
	if err := failureOf(ctx, t, r, permitted); err != nil {
		t.Errorf("a call of echo: %v", err)
	}
	// Of equal length, and without a resemblance to a name that ada may know.
	const never, without = "zzzzz", "the name is in the message"
	same := func(what, name string, got, want error) {
		t.Helper()
		if got == nil || want == nil || tool.KindOf(got) != tool.KindNotFound ||
			strings.ReplaceAll(got.Error(), name, without) != strings.ReplaceAll(want.Error(), never, without) {
			t.Errorf("%s of %s: %v\nof a tool that never was: %v", what, name, got, want)
		}
	}
	for _, name := range []string{"count", "danger", "large"} {
		_, got := r.GetTool(ctx, name, viewer)
		_, want := r.GetTool(ctx, never, viewer)
		same("GetTool", name, got, want)
		hidden, unknown := call(name, `{}`), call(never, `{}`)
		hidden.Principal, unknown.Principal = ada.Key(), ada.Key()
		same("Do", name, failureOf(ctx, t, r, hidden), failureOf(ctx, t, r, unknown))
		_, got = r.Open(ctx, hidden, true)
		_, want = r.Open(ctx, unknown, true)
		same("Open", name, got, want)
		_, got = r.Open(ctx, hidden, false)
		_, want = r.Open(ctx, unknown, false)
		same("Open of a preview", name, got, want)
	}
	if _, err := r.GetTool(ctx, "coun", viewer); strings.Contains(err.Error(), `"count"`) {
		t.Errorf("a suggestion: %v", err)
	}
	policy = authz.New([]authz.Binding{{Role: "caller", To: []string{"name:red/ada"}, Tools: []string{"count"}}})
	if err := failureOf(ctx, t, r, permitted); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("echo after the policy has changed: %v", err)
	}
}

// The audit log has each call of a tool that a caller may not use. A name that no tool has gives
// the same line. A caller of all tools that mistypes a name gives none.
func TestCallsOfToolsThatACallerMayNotUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Audit = log })
	policy := authz.New([]authz.Binding{
		{Role: "caller", To: []string{"name:red/ada"}, Tools: []string{"echo"}}, {Role: "caller", To: []string{"name:red/all"}},
	})
	try := func(name, toolName string) {
		p := identity.Principal{Tenant: "red", Name: name}
		ctx := authz.NewContext(t.Context(), authz.NewCaller(p, func() *authz.Policy { return policy }))
		c := call(toolName, `{}`)
		c.Principal, c.From = p.Key(), "192.0.2.7"
		if err := failureOf(ctx, t, r, c); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("%s of %s: %v", toolName, name, err)
		}
	}
	try("ada", "count")
	try("ada", "never")
	try("all", "never")
	type line struct{ Kind, Principal, From, Act, Tool, Decision string }
	var got []line
	err = audit.Search(t.Context(), []string{file}, audit.Query{}, func(l audit.Line) error {
		var one line
		defer func() { got = append(got, one) }()
		return json.Unmarshal(l.Text, &one)
	})
	want := []line{
		{"authorization", "red/ada", "192.0.2.7", "call", "count", "denied"}, {"authorization", "red/ada", "192.0.2.7", "call", "never", "denied"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("(-want +got), %v:\n%s", err, diff)
	}
}
