package serve

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/tool"
)

// Everything that the configuration can set for a tool reaches the catalog.
func TestOverridesLoseNothing(t *testing.T) {
	settings := config.ToolSettings{
		Disabled: new(true), Plugin: "p", Rename: "r", Description: "d", Category: "c", Tags: []string{"t"}, Dangerous: new(true),
		Strict: new(true), Serial: new(true), Parallel: new(true), Timeout: new(time.Second), RateLimitPerMinute: new(7), MaxConcurrent: new(3), MaxRetries: new(2), CostPerUse: new(0.5), Effects: []string{"k"},
		AgentRateLimitPerMinute: new(9), Agents: map[string]config.AgentLimits{"a": {RateLimitPerMinute: new(4)}, "b": {}},
	}
	for _, v := range []any{settings, overrides(map[string]config.ToolSettings{"x": settings})["x"]} {
		for i := range reflect.ValueOf(v).NumField() {
			if reflect.ValueOf(v).Field(i).IsZero() {
				t.Errorf("%T.%s is not set", v, reflect.TypeOf(v).Field(i).Name)
			}
		}
	}
	want := catalog.Overrides{
		"x": {
			Disabled: new(true), Plugin: "p", Rename: "r", Description: "d", Category: "c", Tags: []string{"t"}, Dangerous: new(true),
			Strict: new(true), Serial: new(true), Parallel: new(true), Timeout: new(time.Second), RateLimitPerMinute: new(uint32(7)), MaxConcurrent: new(3), MaxRetries: new(2), CostPerUse: new(0.5), Effects: []string{"k"},
			AgentRates: catalog.AgentRates{Each: new(9), Of: map[string]int{"a": 4}},
		},
		"p.y": {},
	}
	if diff := cmp.Diff(want, overrides(map[string]config.ToolSettings{"x": settings, "p.y": {}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConcurrencyIsByTheNameThatCallersUse(t *testing.T) {
	dir := t.TempDir()
	d := tool.Description{Name: "p", Tools: []tool.Spec{{Name: "a", Description: "x"}, {Name: "b", Description: "x"}}}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p"), data, 0o700); err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Open(catalog.Config{
		Folders: []string{dir}, StateDir: t.TempDir(),
		Describe:  func(context.Context, *catalog.Plugin) (tool.Description, error) { return d, nil },
		Overrides: overrides(map[string]config.ToolSettings{"a": {Rename: "z", MaxConcurrent: new(3)}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { known.Close() })
	if err := LoadPlugins(t.Context(), known, nil, 0); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"z": 3, "b": 0} {
		if got := known.Snapshot().Tool(name); got == nil || got.MaxConcurrent != want {
			t.Errorf("%s: %+v, want %d", name, got, want)
		}
	}
}
