package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func revisionOf(ctx context.Context, t *testing.T, r *rig, q tool.Query) string {
	t.Helper()
	revision, err := r.Revision(ctx, q)
	if err != nil || revision == "" {
		t.Fatalf("the revision is %q: %v", revision, err)
	}
	return revision
}

// Each step changes something that a list of tools depends on, and so the revision, too. Without a
// change, it stays.
func TestRevisionChangesWithTheList(t *testing.T) {
	r, file := newSecretRig(t, count, nil, needing("careful", "KEY"), needing("stranger"))
	policy := authz.New([]authz.Binding{{Role: "caller", To: []string{"name:ada"}}})
	ada := identity.Principal{Tenant: identity.DefaultTenant, Name: "ada"}
	ctx, q, seen := t.Context(), tool.Query{}, map[string]string{}
	as := func(p identity.Principal) {
		ctx = authz.NewContext(t.Context(), authz.NewCaller(p, func() *authz.Policy { return policy }))
		q.Principal = p.Key()
	}
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"the beginning", func() {}},
		{"a missing secret", func() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}},
		{"a selection", func() { q.Names = []string{"stranger"} }},
		{"settings", func() { r.Reconfigure(host.Settings{}, func(*catalog.Plugin) bool { return false }) }},
		{"a caller", func() { as(ada) }},
		{"a token for one tool", func() { ada.Scope = &identity.Scope{Tools: []string{"stranger"}}; as(ada) }},
		{"a group", func() { ada.Groups = []string{"g"}; as(ada) }},
		{"bindings", func() {
			policy = authz.New([]authz.Binding{{Role: "caller", To: []string{"name:ada"}, Tools: []string{"stranger"}}})
		}},
		{"a principal that the caller acts for", func() { q.Principal = "eve" }},
		{"its groups", func() { q.Groups = []string{"h"} }},
	} {
		step.change()
		revision := revisionOf(ctx, t, r, q)
		if before, had := seen[revision]; had {
			t.Errorf("%s has the revision of %s", step.name, before)
		}
		seen[revision] = step.name
		same := q
		same.Session, same.Context = "s", project
		if revisionOf(ctx, t, r, q) != revision || revisionOf(ctx, t, r, same) != revision {
			t.Errorf("after %s, the revision changes without a change of the list", step.name)
		}
	}
	if other := newRig(t, nil, nil); seen[revisionOf(t.Context(), t, other, tool.Query{})] != "" {
		t.Error("two hosts have equal revisions")
	}
}

// The revision follows what a plugin describes for the session. It does not ask plugins of which
// the query selects no tool.
func TestRevisionOfDynamicTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newChooserRig(t, nil)
		text := "Chooses."
		c.describe = func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
			return chooserDescription(anyChoice, text), nil
		}
		one, two := tool.Query{Session: "s1"}, tool.Query{Session: "s2", Context: map[string]json.RawMessage{"project": []byte(`"p"`)}}
		revisionOf(t.Context(), t, r, tool.Query{Session: "s1", Names: []string{"plain"}})
		if asked := c.questions(); len(asked) > 0 {
			t.Errorf("the plugin is asked for tools that the query does not select: %+v", asked)
		}
		first := revisionOf(t.Context(), t, r, one)
		if revisionOf(t.Context(), t, r, two) != first {
			t.Error("two sessions with equal descriptions have two revisions")
		}
		time.Sleep(2 * time.Minute) // the descriptions are outdated
		if revisionOf(t.Context(), t, r, one) != first {
			t.Error("the same description has another revision later")
		}
		text = "Chooses otherwise."
		time.Sleep(2 * time.Minute)
		if revisionOf(t.Context(), t, r, one) == first {
			t.Error("another description has the same revision")
		}
	})
}

// BenchmarkRevision measures the revision of a list by the number of tools.
func BenchmarkRevision(b *testing.B) {
	for _, known := range []int{100, 10_000} {
		b.Run(fmt.Sprint(known), func(b *testing.B) {
			d := tool.Description{Name: hosttest.PluginName, Version: hosttest.PluginVersion}
			for i := range known {
				d.Tools = append(d.Tools, tool.Spec{Name: fmt.Sprint("tool_", i), Description: "One of many."})
			}
			h := host.New(host.Config{Catalog: openCatalog(b, d)})
			defer h.Close()
			for b.Loop() {
				if _, err := h.Revision(b.Context(), tool.Query{Session: "s"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
