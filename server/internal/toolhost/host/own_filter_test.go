package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// ownPluginName is the plugin of the suite's tools and of filters that it applies to them.
const ownPluginName = hosttest.PluginName

// selfFiltering is a plugin that applies its filters to some of its tools.
type selfFiltering struct {
	pluginOfBoth
	applied map[string][]string // the tools, by filter
}

func (p *selfFiltering) Describe(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
	d, err := p.pluginOfBoth.Describe(ctx, req)
	d.Name = ownPluginName
	slices.SortFunc(d.Filters, func(a, b tool.Filter) int { return strings.Compare(a.Name, b.Name) })
	for i := range d.Filters {
		d.Filters[i].Tools = p.applied[d.Filters[i].Name]
	}
	return d, err
}

// newOwnRig returns a host with a plugin that applies filters to its own tools, and another plugin
// with filters that the operator may use.
func newOwnRig(t *testing.T, applied map[string][]string, filters, others map[string]filterFunc, change func(*host.Config), uses ...host.Filter) (r *rig, own, other *filterPlugin) {
	t.Helper()
	own, other = &filterPlugin{filters: filters}, &filterPlugin{filters: others}
	self := &selfFiltering{pluginOfBoth{own, hosttest.NewPlugin(hosttest.Tools())}, applied}
	r = newServedRig(t, map[string]pluginwire.Handler{ownPluginName: self, filterPluginName: other}, func(cfg *host.Config) {
		cfg.Filters = uses
		start := cfg.Launch
		cfg.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
			process, err := start(ctx, p, instance)
			if p.Info.Name == ownPluginName && err == nil {
				own.mu.Lock()
				own.last = process
				own.mu.Unlock()
			}
			return process, err
		}
		if change != nil {
			change(cfg)
		}
	})
	return r, own, other
}

// newServedRig returns a host with plugins by name.
func newServedRig(t *testing.T, served map[string]pluginwire.Handler, change func(*host.Config)) (r *rig) {
	t.Helper()
	return newRig(t, nil, func(cfg *host.Config) {
		cfg.Catalog = openCatalogOf(t, served)
		cfg.Launch = func(ctx context.Context, p *catalog.Plugin, _ string) (host.Process, error) {
			return r.start(ctx, served[p.Info.Name])
		}
		if change != nil {
			change(cfg)
		}
	})
}

// A plugin's own filters run closest to the tool, without a word of the operator, and see only the
// calls of the tools to which the plugin applies them.
func TestOwnFiltersAreTheInnermost(t *testing.T) {
	r, own, other := newOwnRig(t, map[string][]string{"mine": {"echo"}, "second": {"echo"}},
		map[string]filterFunc{"mine": marks("mine"), "second": marks("second")}, map[string]filterFunc{"operator": marks("operator")},
		nil, host.Filter{Name: "operator"})
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "x operator mine second second mine operator" {
		t.Errorf("got %q, %v", got.Result.Text(), got.Err)
	}
	outcome(t, r, call("count", `{"key":"k"}`))
	want := []string{"mine before echo", "second before echo", "second after echo", "mine after echo"}
	if diff := cmp.Diff(want, own.questions()); diff != "" {
		t.Errorf("the plugin's own were asked (-want +got):\n%s", diff)
	}
	if n := len(other.questions()); n != 3 { // what it makes of count's arguments does not fit, so that count has no result
		t.Errorf("the operator's was asked %d times", n)
	}
}

// A filter that the operator configures for a tool to which its plugin applies it runs once, and is
// not optional.
func TestOwnFilterThatTheOperatorUsesToo(t *testing.T) {
	r, own, _ := newOwnRig(t, map[string][]string{"mine": {"echo"}}, map[string]filterFunc{"mine": marks("mine")}, nil, nil,
		host.Filter{Name: "mine", Optional: true})
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Result.Text() != "x mine mine" {
		t.Errorf("got %q, %v", got.Result.Text(), got.Err)
	}
	if got := outcome(t, r, call("count", `{"key":"k"}`)); got.Err != nil {
		t.Errorf("a call to which only the operator applies it: %v", got.Err)
	}
	want := []string{"mine before echo", "mine after echo", "mine before count"}
	if diff := cmp.Diff(want, own.questions()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// If an own filter fails, the call ends with an error, like one with a filter of the operator.
func TestFailingOwnFilters(t *testing.T) {
	var current *filterPlugin
	for name, failure := range failures(&current) {
		for phase, filter := range map[string]string{"before": "before_it", "after": "after_it"} {
			for _, called := range []string{"echo", "count"} {
				if name == "twice the same" && phase == "after" {
					continue
				}
				t.Run(name+" "+phase+" "+called, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r, own, _ := newOwnRig(t, map[string][]string{filter: {called}}, map[string]filterFunc{filter: failure.run}, nil, nil)
						r.wire.MaxResultBytes = largestAnswer
						current = own
						got := outcome(t, r, call(called, map[string]string{"echo": `{"text":"1"}`, "count": `{"key":"k"}`}[called]))
						checkFailed(t, got, phase, called, ownPluginName+"."+filter, failure.says)
						if got.Err != nil && !strings.Contains(got.Err.Message, "which the plugin applies") {
							t.Errorf("the error is %v", got.Err)
						}
					})
				})
			}
		}
	}
}

// An own filter cannot relax the policy: the rules and the approval see the arguments that it made.
func TestOwnFiltersAndThePolicy(t *testing.T) {
	change := says(filterjson.Answer{Arguments: []byte(`{"text":"forbidden"}`)})
	rules, err := policy.Compile([]policy.Rule{{Name: "no", When: `arguments.text == "forbidden"`, Then: policy.Deny}})
	if err != nil {
		t.Fatal(err)
	}
	r, _, _ := newOwnRig(t, map[string][]string{"before_it": {"echo"}}, map[string]filterFunc{"before_it": change}, nil,
		func(cfg *host.Config) { cfg.Policy = rules })
	if got := outcome(t, r, call("echo", `{"text":"harmless"}`)); got.Err == nil || got.Err.Kind != tool.KindDenied {
		t.Errorf("got %+v, %v", got.Result, got.Err)
	}
}

// A small call of a tool with an own filter is not made past the filter, and no preview is.
func TestNothingPassesAnOwnFilter(t *testing.T) {
	r, own, _ := newOwnRig(t, map[string][]string{"mine": {"echo", "preview"}}, map[string]filterFunc{"mine": marks("mine")}, nil, nil)
	for range 3 { // the first call starts the process
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "x mine mine" {
			t.Errorf("got %q, %v", got.Result.Text(), got.Err)
		}
	}
	e, err := r.Open(t.Context(), call("preview", `{"text":`), false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Send(t.Context(), []byte(`"x"}`), true); err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Status != nil && ev.Status.State == tool.StatusWait {
			t.Errorf("there was a preview: %+v", ev.Status)
		}
		if ev.Ended != nil {
			break
		}
	}
	if n := len(own.questions()); n != 8 {
		t.Errorf("the filter was asked %d times", n)
	}
}
