package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// keysOf returns the keys of a result's effects, and the keys of the refused ones with the reasons.
func keysOf(t *testing.T, r tool.Result) (kept []string, refused map[string]string) {
	t.Helper()
	for _, e := range r.Effects {
		kept = append(kept, e.Key)
	}
	var list []struct{ Key, Reason string }
	if text := r.Metadata["toolhost.refused_effects"]; text != nil {
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
	}
	refused = map[string]string{}
	for _, e := range list {
		refused[e.Key] = e.Reason
	}
	return kept, refused
}

// A tool changes the keys that it declares, and a key that a rule reads only with the operator's
// permission. The rest of its result stays.
func TestEffectsThatAToolMayHave(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "admins", When: `has(context.role) && context.role == "admin"`, Then: policy.Deny}})
	if err != nil {
		t.Fatal(err)
	}
	everything := []string{"notes", "role", "plan", "tenant", "run", "undeclared"}
	spec := tool.Spec{Name: "note", Description: "Notes.", EffectKeys: []string{"notes", "role", "plan", "tenant", "run"}}
	run := func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		r := tool.TextResult("noted")
		for _, key := range everything {
			r.Effects = append(r.Effects, tool.Effect{Key: key, Value: []byte(`"admin"`)})
		}
		return r, nil
	}
	for name, tc := range map[string]struct {
		allowed []string
		kept    []string
	}{
		"nothing is allowed":    {nil, []string{"notes", "plan"}},
		"the operator allows":   {[]string{"role"}, []string{"notes", "role", "plan"}},
		"what cannot be opened": {[]string{"tenant", "run", "undeclared"}, []string{"notes", "plan"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []hosttest.Tool{{Spec: spec, Run: run}}, func(c *host.Config) {
				c.Policy = rules
				c.Catalog = openCatalogWith(t, tool.Description{Name: hosttest.PluginName, Version: "1", Tools: []tool.Spec{spec}},
					catalog.Overrides{"note": {Effects: tc.allowed}})
			})
			got := outcome(t, r, call("note", "{}"))
			kept, refused := keysOf(t, got.Result)
			if got.Err != nil || got.Result.Text() != "noted" || !slices.Equal(kept, tc.kept) || len(refused) != len(everything)-len(kept) {
				t.Errorf("kept %q, refused %v, ended with %+v", kept, refused, got)
			}
			if !strings.Contains(refused["undeclared"], "effect_keys") || !slices.Contains(kept, "role") && !strings.Contains(refused["role"], "tools.note.effects") {
				t.Errorf("refused: %v", refused)
			}
		})
	}
}

// If a rule may read any key, a tool changes no key without permission.
func TestEffectsOfARuleThatReadsAnyKey(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{{Name: "any", When: `context.exists(k, k == session)`, Then: policy.Deny}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, []hosttest.Tool{{
		Spec: tool.Spec{Name: "note", Description: "Notes.", EffectKeys: []string{"notes"}},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.Result{Effects: []tool.Effect{{Key: "notes", Value: []byte(`1`)}}}, nil
		},
	}}, func(c *host.Config) { c.Policy = rules })
	if kept, refused := keysOf(t, outcome(t, r, call("note", "{}")).Result); len(kept) > 0 || refused["notes"] == "" {
		t.Errorf("kept %q, refused %v", kept, refused)
	}
}

// A filter's answer, before or after a call, cannot have effects that the tool could not have.
func TestFiltersAddNoEffects(t *testing.T) {
	with := func(q filterjson.Request) (tool.Result, error) {
		r := tool.TextResult("filtered")
		r.Effects = []tool.Effect{{Key: "role", Value: []byte(`"admin"`)}}
		if q.Phase == filterjson.Before {
			return filterjson.EncodeAnswer(filterjson.Answer{Answer: &r})
		}
		return filterjson.EncodeAnswer(filterjson.Answer{Result: &r})
	}
	for _, name := range []string{"before_it", "after_it"} {
		r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{
			name: func(_ context.Context, q filterjson.Request) (tool.Result, error) { return with(q) },
		}, nil, host.Filter{Name: name})
		got := outcome(t, r, call("echo", `{"text":"x"}`))
		if kept, refused := keysOf(t, got.Result); got.Result.Text() != "filtered" || len(kept) > 0 || refused["role"] == "" {
			t.Errorf("%s: kept %q, refused %v, %+v", name, kept, refused, got)
		}
	}
}
