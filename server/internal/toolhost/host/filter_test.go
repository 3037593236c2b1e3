package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// filterFunc is the implementation of a filter.
type filterFunc func(ctx context.Context, q filterjson.Request) (tool.Result, error)

// filterPlugin is a pluginwire.Handler of filters. It records the requests.
type filterPlugin struct {
	filters map[string]filterFunc

	mu    sync.Mutex
	last  host.Process // the process that was launched last
	asked []string     // "name phase tool"
	calls []string     // the call ids of the requests
}

// filterPluginName is the name of the plugin that has the filters of a test.
const filterPluginName = "filters"

func (p *filterPlugin) Describe(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
	d := tool.Description{Name: filterPluginName, Version: "1"}
	for name := range p.filters {
		d.Filters = append(d.Filters, tool.Filter{
			Name: name, Before: !strings.HasPrefix(name, "after"), After: !strings.HasPrefix(name, "before"),
		})
	}
	return d, nil
}

func (p *filterPlugin) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	for {
		text, complete, err := call.NextArguments(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if !complete {
			continue
		}
		q, err := filterjson.DecodeRequest(text)
		if err != nil {
			return tool.Result{}, err
		}
		start := call.Start()
		p.mu.Lock()
		p.asked = append(p.asked, fmt.Sprintf("%s %s %s", start.Tool, q.Phase, q.Tool))
		p.calls = append(p.calls, start.CallID)
		p.mu.Unlock()
		if len(start.Secrets) > 0 || len(start.Values) > 0 {
			return tool.Result{}, errors.New("a filter was given secrets or values")
		}
		return p.filters[start.Tool](ctx, q)
	}
}

// questions returns the requests so far, and forgets them.
func (p *filterPlugin) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// newFilterRig returns a host with a plugin that has the tools, and another plugin that has the
// filters. uses configures the filters.
func newFilterRig(t *testing.T, tools []hosttest.Tool, filters map[string]filterFunc, change func(*host.Config), uses ...host.Filter) (*rig, *filterPlugin) {
	t.Helper()
	filtering := &filterPlugin{filters: filters}
	served := map[string]pluginwire.Handler{hosttest.PluginName: hosttest.NewPlugin(tools), filterPluginName: filtering}
	var r *rig
	r = newRig(t, tools, func(cfg *host.Config) {
		cfg.Catalog = openCatalogOf(t, served)
		cfg.Filters = uses
		cfg.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
			if r.launch != nil {
				return r.launch(ctx, p, instance)
			}
			process, err := r.start(ctx, served[p.Info.Name])
			if p.Info.Name == filterPluginName && err == nil {
				filtering.mu.Lock()
				filtering.last = process
				filtering.mu.Unlock()
			}
			return process, err
		}
		if change != nil {
			change(cfg)
		}
	})
	return r, filtering
}

// end ends the process that was launched last.
func (p *filterPlugin) end(exit tool.Exit) {
	p.mu.Lock()
	process := p.last
	p.mu.Unlock()
	process.(*hosttest.Process).End(exit)
}

// openCatalogOf returns a catalog of plugins by name.
func openCatalogOf(t *testing.T, plugins map[string]pluginwire.Handler) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	for name := range plugins {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return openCatalogIn(t, dir, plugins)
}

// openCatalogIn returns a catalog of the plugins in a folder. Each file gets the description of its
// handler.
func openCatalogIn(t *testing.T, dir string, plugins map[string]pluginwire.Handler) *catalog.Catalog {
	t.Helper()
	c, err := hosttest.LoadCatalog(t.Context(), catalog.Config{
		Folders: []string{dir}, StateDir: t.TempDir(),
		Describe: func(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
			return plugins[filepath.Base(p.Source)].Describe(ctx, pluginwire.DescribeRequest{})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// says returns a filter that always answers the same.
func says(a filterjson.Answer) filterFunc {
	return func(context.Context, filterjson.Request) (tool.Result, error) { return filterjson.EncodeAnswer(a) }
}

func saysText(text string) filterFunc {
	return func(context.Context, filterjson.Request) (tool.Result, error) {
		return tool.Result{Content: []tool.Content{tool.JSON(json.RawMessage(text))}}, nil
	}
}

// marks is a filter that adds its name to the text argument and to the result.
func marks(name string) filterFunc {
	return func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		if q.Phase == filterjson.After {
			result := tool.TextResult(q.Result.Text() + " " + name)
			return filterjson.EncodeAnswer(filterjson.Answer{Result: &result})
		}
		var in struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(q.Arguments, &in); err != nil {
			return tool.Result{}, err
		}
		changed, err := json.Marshal(map[string]string{"text": in.Text + " " + name})
		if err != nil {
			return tool.Result{}, err
		}
		return filterjson.EncodeAnswer(filterjson.Answer{Arguments: changed})
	}
}

// The host asks filters before a call in their order, and after it in the reverse order.
func TestFiltersStandAroundACall(t *testing.T) {
	r, p := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"outer": marks("outer"), "inner": marks("inner"), "before_last": saysText(`{}`)}, nil,
		host.Filter{Name: "outer"}, host.Filter{Name: "inner"}, host.Filter{Name: "before_last"})
	c := call("echo", `{"text":"x"}`)
	c.ID, c.Principal, c.Session = "once", "ada", "s"
	got := outcome(t, r, c)
	if got.Err != nil || got.Result.Text() != "x outer inner inner outer" || got.Result.Duration == 0 {
		t.Fatalf("got %+v, %v", got, got.Err)
	}
	if diff := cmp.Diff(map[string]string{"toolhost.filters": `["outer","inner"]`}, texts(got.Result.Metadata)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	want := []string{"outer before echo", "inner before echo", "before_last before echo", "inner after echo", "outer after echo"}
	if diff := cmp.Diff(want, p.questions()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	again := outcome(t, r, c)
	again.Replayed = false
	if diff := cmp.Diff(got, again); diff != "" || len(p.questions()) != 0 {
		t.Errorf("the same call again (-first +second), with %q asked:\n%s", p.asked, diff)
	}
	c.Arguments = []byte(`{"text":"x outer inner"}`)
	if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindConflict {
		t.Errorf("other arguments that filters come to the same with gave %+v", got)
	}
	stats, err := r.Stats(t.Context(), tool.StatsQuery{Plugin: filterPluginName})
	if err != nil || len(stats) != 3 || stats[1].Tool != "inner" || stats[1].Calls != 2 || stats[1].Succeeded != 2 {
		t.Errorf("the filters' statistics are %+v, %v", stats, err)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(p.calls)))) != 5 || slices.Contains(p.calls, "once") {
		t.Errorf("the filters' calls are %q; want an id of its own for each", p.calls)
	}
}

func TestFiltersSeeTheCall(t *testing.T) {
	var mu sync.Mutex
	var seen []filterjson.Request
	look := func(_ context.Context, q filterjson.Request) (tool.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, q)
		return tool.Result{}, nil
	}
	r, _ := newFilterRig(t, mirrors(), map[string]filterFunc{"look": look}, nil, host.Filter{Name: "look"})
	c := call("plain", almost)
	c.ID, c.Principal, c.Session, c.Context = "c1", "ada", "s", map[string]json.RawMessage{"note": json.RawMessage(`1`)}
	got := outcome(t, r, c)
	checkMirror(t, got, mended, mendings)
	want := filterjson.Request{
		Phase: filterjson.Before, CallID: "c1", Principal: "ada", Session: "s", Tool: "plain", Plugin: hosttest.PluginName,
		Arguments: json.RawMessage(`{"days":"99"}`),
	}
	after := want
	result := got.Result
	result.Metadata = map[string]json.RawMessage{"own": json.RawMessage(`1`)}
	after.Phase, after.Arguments, after.Result = filterjson.After, json.RawMessage(mended), &result
	if diff := cmp.Diff([]filterjson.Request{want, after}, seen); diff != "" {
		t.Errorf("the filter saw (-want +got):\n%s", diff)
	}
}

// A denial does not even start the tool's plugin, and the audit log has it.
func TestADenial(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	reason := "not on a Sunday"
	r, p := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"sunday": says(filterjson.Answer{Deny: &reason}), "inner": marks("inner")},
		func(cfg *host.Config) { cfg.Audit = log }, host.Filter{Name: "sunday"}, host.Filter{Name: "inner"})
	got := outcome(t, r, call("count", `{"key":"k"}`))
	if got.Err == nil || got.Err.Kind != tool.KindDenied || got.Err.Rule != "sunday" || !strings.Contains(got.Err.Message, reason) {
		t.Errorf("got %+v", got.Err)
	}
	if asked := p.questions(); len(asked) != 1 {
		t.Errorf("asked were %q", asked)
	}
	if n := r.started(); n != 1 {
		t.Errorf("%d processes were started; want the filter's alone", n)
	}
	if kept, err := os.ReadFile(file); err != nil || !strings.Contains(string(kept), `"rule":"sunday"`) || !strings.Contains(string(kept), reason) {
		t.Errorf("the audit log has %s, %v", kept, err)
	}
}

// A filter can answer in place of the tool. The filters before it in the order see the answer as a
// result, and a repeated call gets the answer again.
func TestAnAnswer(t *testing.T) {
	cached := tool.TextResult("from the cache")
	cached.Metadata = map[string]json.RawMessage{"own": json.RawMessage(`1`), "toolhost.answered_by": json.RawMessage(`"me"`)}
	r, p := newFilterRig(t, hosttest.Tools(),
		map[string]filterFunc{"after_outer": marks("outer"), "cache": says(filterjson.Answer{Answer: &cached}), "inner": marks("inner")}, nil,
		host.Filter{Name: "after_outer"}, host.Filter{Name: "cache"}, host.Filter{Name: "inner"})
	c := call("count", `{"key":"k"}`)
	c.ID = "once"
	for i := range 2 {
		got := outcome(t, r, c)
		if got.Err != nil || got.Result.Text() != "from the cache outer" || got.Replayed != (i == 1) {
			t.Errorf("got %+v, %v", got, got.Err)
		}
		want := map[string]string{"toolhost.answered_by": `"cache"`, "toolhost.filters": `["after_outer"]`}
		if diff := cmp.Diff(want, texts(got.Result.Metadata)); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"cache before count", "after_outer after count"}, p.questions()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if n := r.started(); n != 1 {
		t.Errorf("%d processes were started; want the filters' alone", n)
	}
}

// Arguments from a filter are repaired and validated like those from a caller.
func TestChangedArguments(t *testing.T) {
	for name, tc := range map[string]struct{ arguments, want, repairs, filters string }{
		"repaired":    {`{"days":"99"}`, mended, mendings, `["before_change"]`},
		"the same":    {` {"units" : "si","days":3}`, `{"days":3,"units":"si"}`, "", ""},
		"as they are": {`{"units":"si","days":2}`, `{"days":2,"units":"si"}`, "", `["before_change"]`},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newFilterRig(t, mirrors(), map[string]filterFunc{"before_change": saysText(`{"arguments":` + tc.arguments + `}`)}, nil, host.Filter{Name: "before_change"})
			got := outcome(t, r, call("plain", `{"days":3,"units":"si"}`))
			if got.Result.Text() != tc.want || string(got.Result.Metadata["toolhost.filters"]) != tc.filters || string(got.Result.Metadata["toolhost.repairs"]) != tc.repairs {
				t.Errorf("got %s, %s, %v", got.Result.Text(), got.Result.Metadata, got.Err)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		r, _ := newFilterRig(t, mirrors(), map[string]filterFunc{"before_change": saysText(`{"arguments":{}}`)}, nil, host.Filter{Name: "before_change"})
		if got := outcome(t, r, call("plain", `{"days":3}`)); !got.Result.IsError || !strings.Contains(got.Result.Text(), "days") {
			t.Errorf("got %+v", got)
		}
	})
}

// The tool's usage, cost and duration stay if the filter sets none. toolhost removes metadata that
// a filter sets under toolhost's own keys.
func TestChangedResult(t *testing.T) {
	spend := hosttest.Tool{
		Spec: tool.Spec{Name: "spend", Description: "Costs something.", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			r := tool.TextResult("secret")
			r.Usage, r.Cost, r.IsError = tool.Usage{InputTokens: 7}, 1.5, true
			r.Effects = []tool.Effect{{Key: "k", Value: json.RawMessage(`1`)}}
			return r, nil
		},
	}
	other := tool.Result{Content: []tool.Content{tool.Text("public"), tool.JSON(json.RawMessage(`{"a":1}`))}, Cost: 2, Duration: 1e18}
	r, _ := newFilterRig(t, []hosttest.Tool{spend}, map[string]filterFunc{"after_redact": says(filterjson.Answer{Result: &other})}, nil, host.Filter{Name: "after_redact"})
	got := outcome(t, r, call("spend", ``)).Result
	if got.Text() != "public\n{\"a\":1}" || got.IsError || got.Usage.InputTokens != 7 || got.Cost != 2 || len(got.Effects) != 0 || got.Duration > 1e17 || got.Duration <= 0 {
		t.Errorf("got %+v", got)
	}
}

// Filters apply by name, pattern and tag of tools.
func TestWhichCallsAreFiltered(t *testing.T) {
	for name, tc := range map[string]struct {
		use  host.Filter
		want []string // the requests for echo and count
	}{
		"all":             {host.Filter{}, []string{"f before echo", "f before count"}},
		"a name":          {host.Filter{Tools: []string{"echo"}}, []string{"f before echo"}},
		"a pattern":       {host.Filter{Tools: []string{"x", "c*t"}}, []string{"f before count"}},
		"another pattern": {host.Filter{Tools: []string{"?"}}, nil},
		"a broken one":    {host.Filter{Tools: []string{"[a"}}, []string{"f before echo", "f before count"}},
		"a tag":           {host.Filter{Tags: []string{"calm"}}, []string{"f before echo"}},
		"a tag or a name": {host.Filter{Tags: []string{"calm"}, Tools: []string{"count"}}, []string{"f before echo", "f before count"}},
		"another tag":     {host.Filter{Tags: []string{"nobody's"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.use.Name = "f"
			r, p := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"f": func(_ context.Context, q filterjson.Request) (tool.Result, error) {
				return tool.Result{}, nil
			}}, nil, tc.use)
			outcome(t, r, call("echo", `{"text":"x"}`))
			outcome(t, r, call("count", `{"key":"k"}`))
			asked := slices.DeleteFunc(p.questions(), func(q string) bool { return strings.Contains(q, "after") })
			if diff := cmp.Diff(tc.want, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// If the filter's plugin is also the tool's plugin, the host asks the filter only after the lease
// of the tool's call has ended.
func TestFiltersDoNotWaitForTheToolTheyFollow(t *testing.T) {
	p := &filterPlugin{filters: map[string]filterFunc{"own": marks("own")}}
	both := &pluginOfBoth{filterPlugin: p, plugin: hosttest.NewPlugin(hosttest.Tools())}
	r := newRig(t, hosttest.Tools(), func(cfg *host.Config) {
		cfg.Catalog = openCatalogOf(t, map[string]pluginwire.Handler{filterPluginName: both})
		cfg.Filters = []host.Filter{{Name: "own"}}
		cfg.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{MaxInstances: 1, MaxCallsPerInstance: 1} }
	})
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		return r.start(ctx, both)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "x own own" {
		t.Errorf("got %+v, %v", got.Result, got.Err)
	}
}

// If a tool allows only one call at a time, the next call begins while a filter still examines the
// result of the call before.
func TestFiltersDelayNoOtherCall(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{}, 2)
	r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"after_slow": func(ctx context.Context, _ filterjson.Request) (tool.Result, error) {
		entered <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return tool.Result{}, nil
	}}, func(cfg *host.Config) {
		cfg.Catalog.Configure(catalog.Overrides{"echo": {MaxConcurrent: new(1)}}, 0)
	}, host.Filter{Name: "after_slow", Tools: []string{"echo"}})
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil {
				t.Errorf("the call ended with %v", got.Err)
			}
		})
	}
	for range 2 {
		select {
		case <-entered:
		case <-t.Context().Done():
			t.Fatal("the second call waited for the filter of the first")
		}
	}
	close(release)
	callers.Wait()
}

// pluginOfBoth has filters and the tools of the suite.
type pluginOfBoth struct {
	*filterPlugin
	plugin *hosttest.Plugin
}

func (p *pluginOfBoth) Describe(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
	d, err := p.filterPlugin.Describe(ctx, req)
	if err != nil {
		return d, err
	}
	tools, err := p.plugin.Describe(ctx, req)
	d.Tools = tools.Tools
	return d, err
}

func (p *pluginOfBoth) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	if _, filter := p.filters[call.Start().Tool]; filter {
		return p.filterPlugin.Call(ctx, call)
	}
	return p.plugin.Call(ctx, call)
}

// A plugin previews no arguments that a filter has not seen.
func TestNoPreviewBeforeAFilter(t *testing.T) {
	r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"f": marks("f")}, nil, host.Filter{Name: "f", Tools: []string{"preview"}})
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
			if ev.Ended.Result.Text() != "x f f" {
				t.Errorf("got %+v", ev.Ended)
			}
			return
		}
	}
}

func TestPreviewBeforeAFilterThatOnlyFollows(t *testing.T) {
	r, _ := newFilterRig(t, mirrors(), map[string]filterFunc{"after": marks("f")}, nil, host.Filter{Name: "after"})
	e, err := r.Open(t.Context(), call("preview", `{"days":`), false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	untilStatus(t, e, "seen")
	if err := e.Send(t.Context(), []byte(`3,"units":"si"}`), true); err != nil {
		t.Fatal(err)
	}
	if got := end(t, e); got.Result.Text() != `{"days":3,"units":"si"} f` {
		t.Errorf("got %+v, %v", got, got.Err)
	}
}

// Each of many filtered calls gets the right answer.
func TestManyFilteredCalls(t *testing.T) {
	r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"outer": marks("outer"), "inner": marks("inner")}, nil,
		host.Filter{Name: "outer"}, host.Filter{Name: "inner"})
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			text := fmt.Sprint(i)
			if got := outcome(t, r, call("echo", `{"text":"`+text+`"}`)); got.Result.Text() != text+" outer inner inner outer" {
				t.Errorf("call %d: got %+v, %v", i, got.Result, got.Err)
			}
		})
	}
	callers.Wait()
	if stats, err := r.Stats(t.Context(), tool.StatsQuery{Plugin: filterPluginName}); err != nil || stats[0].Calls != 128 || stats[0].Succeeded != 128 {
		t.Errorf("the statistics are %+v, %v", stats, err)
	}
}
