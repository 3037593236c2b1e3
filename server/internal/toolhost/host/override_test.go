package host_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// overridden makes a rig's host serve the suite's tools under overrides.
func overridden(t *testing.T, overrides catalog.Overrides) func(*host.Config) {
	return func(cfg *host.Config) {
		d := tool.Description{Name: hosttest.PluginName, Version: hosttest.PluginVersion}
		for _, offered := range hosttest.Tools() {
			d.Tools = append(d.Tools, offered.Spec)
		}
		cfg.Catalog = openCatalogWith(t, d, overrides)
	}
}

// outcomeOf makes a call and returns how it ended.
func outcomeOf(t *testing.T, r *rig, call tool.Call) tool.Outcome {
	t.Helper()
	e, err := r.Open(t.Context(), call, true)
	if err != nil {
		return tool.Outcome{Err: tool.AsError(err)}
	}
	defer e.Close()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
	}
}

// Callers, rules and the records of calls use the new name, and the plugin its own name.
func TestARenamedTool(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "shout", When: `tool.name == "shout" && arguments.text == "no"`, Then: policy.Deny}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(audit.Config{File: filepath.Join(t.TempDir(), "audit.jsonl"), All: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	change := overridden(t, catalog.Overrides{"echo": {Rename: "shout"}})
	r := newRig(t, hosttest.Tools(), func(cfg *host.Config) { change(cfg); cfg.Policy, cfg.Audit = rules, log })
	if got := outcomeOf(t, r, tool.Call{ID: "1", Tool: "shout", Arguments: []byte(`{"text":"hi"}`)}); got.Err != nil || got.Result.Text() != "hi" {
		t.Fatalf("by its new name: %+v", got)
	}
	if got := outcomeOf(t, r, tool.Call{Tool: "shout", Arguments: []byte(`{"text":"no"}`)}); got.Err == nil || got.Err.Kind != tool.KindDenied {
		t.Errorf("what a rule denies by the new name: %+v", got)
	}
	got := outcomeOf(t, r, tool.Call{Tool: "echo", Arguments: []byte(`{"text":"hi"}`)})
	if got.Err == nil || got.Err.Kind != tool.KindNotFound || !strings.Contains(got.Err.Message, `"shout"`) {
		t.Errorf("by its old name: %+v", got)
	}
	stats, err := r.Stats(t.Context(), tool.StatsQuery{})
	if err != nil || len(stats) != 1 || stats[0].Tool != "shout" {
		t.Errorf("statistics %+v, %v", stats, err)
	}
	page, err := r.Calls(t.Context(), tool.CallQuery{Tool: "shout"})
	if err != nil || len(page.Calls) == 0 || page.Calls[len(page.Calls)-1].CallID != "1" {
		t.Errorf("calls %+v, %v", page, err)
	}
	plugins, err := r.Plugins(t.Context())
	if err != nil || slices.Contains(plugins[0].Tools, "echo") || !slices.Contains(plugins[0].Tools, "shout") {
		t.Errorf("the plugin has the tools %v, %v", plugins[0].Tools, err)
	}
}

func TestAToolThatIsSwitchedOff(t *testing.T) {
	r := newRig(t, hosttest.Tools(), overridden(t, catalog.Overrides{"fixture.echo": {Disabled: new(true)}}))
	got := outcomeOf(t, r, tool.Call{Tool: "echo", Arguments: []byte(`{"text":"hi"}`)})
	if got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "switched off in the configuration") {
		t.Errorf("got %+v", got)
	}
	if infos, err := r.ListTools(t.Context(), tool.Query{Names: []string{"echo"}}); err != nil || len(infos) != 0 {
		t.Errorf("it is listed: %+v, %v", infos, err)
	}
	if r.started() != 0 {
		t.Error("a process was launched")
	}
}

// The bounds that the operator sets for a tool apply to its calls.
func TestOverriddenBounds(t *testing.T) {
	r := newRig(t, hosttest.Tools(), overridden(t, catalog.Overrides{
		"echo": {Dangerous: new(true)}, "danger": {Dangerous: new(false)},
		"large": {Strict: new(true)}, "talk": {RateLimitPerMinute: new(uint32(1))}, "wait": {Timeout: new(time.Millisecond)},
	}))
	if got := outcomeOf(t, r, tool.Call{Tool: "echo", Arguments: []byte(`{"text":"hi"}`)}); tool.KindOf(errOf(got)) != tool.KindApprovalRequired {
		t.Errorf("a tool that is dangerous now: %+v", got)
	}
	if got := outcomeOf(t, r, tool.Call{Tool: "danger"}); got.Err != nil || got.Result.Text() != "done" {
		t.Errorf("a tool that is not dangerous any more: %+v", got)
	}
	if got := outcomeOf(t, r, tool.Call{Tool: "large", Arguments: []byte(`{"bytes":"10","kind":"text"}`)}); !got.Result.IsError {
		t.Errorf("a tool that is strict now repaired its arguments: %+v", got)
	}
	for i, want := range []tool.Kind{"", tool.KindRateLimited} {
		if got := outcomeOf(t, r, tool.Call{Tool: "talk", Arguments: []byte(`{"text":"hi"}`)}); tool.KindOf(errOf(got)) != want {
			t.Errorf("call %d of a tool with a rate limit: %+v", i, got)
		}
	}
	if got := outcomeOf(t, r, tool.Call{Tool: "wait", Arguments: []byte(`{"key":"never"}`)}); tool.KindOf(errOf(got)) != tool.KindTimeout {
		t.Errorf("a tool with less time: %+v", got)
	}
}

func errOf(o tool.Outcome) error {
	if o.Err == nil {
		return nil
	}
	return o.Err
}
