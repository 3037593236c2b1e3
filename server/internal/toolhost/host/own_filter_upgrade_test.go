package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// filteredRelease is a release whose versions apply filters to their tool.
type filteredRelease struct {
	*release
	runs    atomic.Int64  // executions of the tool
	entered chan struct{} // gets a value when the tool begins
}

func newFilteredRelease(t *testing.T, filters ...tool.Filter) *filteredRelease {
	t.Helper()
	u := &filteredRelease{entered: make(chan struct{}, 8)}
	u.release = newReleaseWith(t, func(cfg *host.Config) {
		cfg.Launch = func(ctx context.Context, p *catalog.Plugin, _ string) (host.Process, error) { return u.launch(ctx, p) }
	})
	u.upgrade("1", filters...)
	return u
}

// launch starts a version whose filters add its version to results.
func (u *filteredRelease) launch(ctx context.Context, p *catalog.Plugin) (host.Process, error) {
	own := &filterPlugin{filters: map[string]filterFunc{}}
	for _, f := range p.Info.Filters {
		own.filters[f.Name] = marks(f.Name + p.Info.Version)
	}
	version := hosttest.Tool{Spec: p.Info.Tools[0], Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
		u.runs.Add(1)
		select {
		case u.entered <- struct{}{}:
		default: // the test counts no further executions
		}
		if busy := u.busy; busy != nil {
			select {
			case <-busy:
			case <-ctx.Done():
			}
		}
		return tool.TextResult(p.Info.Version), nil
	}}
	return u.start(ctx, &pluginOfBoth{own, hosttest.NewPlugin([]hosttest.Tool{version})})
}

// upgrade replaces the plugin's file by a version with filters.
func (u *filteredRelease) upgrade(version string, filters ...tool.Filter) {
	u.t.Helper()
	var d tool.Description
	if err := json.Unmarshal([]byte(u.content(version)), &d); err != nil {
		u.t.Fatal(err)
	}
	d.Tools[0].InputSchema = json.RawMessage(`{"type":"object"}`) // also what the filters make
	d.Filters = filters
	data, err := json.Marshal(d)
	if err != nil {
		u.t.Fatal(err)
	}
	u.put(u.path, string(data))
	if done, err := u.Reload(u.t.Context()); err != nil || len(done.Failures) > 0 || len(done.Upgraded) != 1 {
		u.t.Fatalf("reload: %+v, %v", done, err)
	}
	u.untilEvent("upgrade_finished")
}

// redacts is a filter that the release applies to its tool.
func redacts(before, after bool) tool.Filter {
	return tool.Filter{Name: "redact", Before: before, After: after, Tools: []string{"version"}}
}

// No call fails during upgrades that keep the filters, and each result passes them.
func TestUpgradesUnderLoadKeepOwnFilters(t *testing.T) {
	u := newFilteredRelease(t, redacts(false, true))
	filtered := regexp.MustCompile(`^\d+ redact\d+$`)
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := outcome(t, u.rig, call("version", "{}")); got.Err != nil || !filtered.MatchString(got.Result.Text()) {
					t.Errorf("a call ended with %q, %v", got.Result.Text(), got.Err)
				}
			}
		})
	}
	for i := range 10 {
		u.upgrade(fmt.Sprint(i+2), redacts(false, true))
	}
	close(stop)
	callers.Wait()
}

// A call that began before an upgrade does not run the new tool without the filter that the new
// revision applies to it.
func TestUpgradeThatAddsAnOwnFilter(t *testing.T) {
	u := newFilteredRelease(t)
	e, err := u.Open(t.Context(), call("version", ""), false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	u.upgrade("2", redacts(false, true))
	if err := e.Send(t.Context(), []byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	got := end(t, e)
	if got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "was replaced during the call") || u.runs.Load() != 0 {
		t.Errorf("the call ended with %+v after %d executions", got, u.runs.Load())
	}
	if got := outcome(t, u.rig, call("version", "{}")); got.Err != nil || got.Result.Text() != "2 redact2" {
		t.Errorf("the repeated call ended with %+v", got)
	}
}

// A result of the old revision passes the filter of the old revision, or one of the new revision
// that is declared alike. Otherwise it is withheld.
func TestUpgradeWhileAFilteredToolRuns(t *testing.T) {
	for name, test := range map[string]struct {
		filters []tool.Filter
		want    string // the result; empty: it is withheld
	}{
		"the filter is gone":        {nil, ""},
		"it is not applied":         {[]tool.Filter{{Name: "redact", After: true}}, ""},
		"it has another phase":      {[]tool.Filter{redacts(true, false)}, ""},
		"it has one phase more":     {[]tool.Filter{redacts(true, true)}, ""},
		"it is declared as before":  {[]tool.Filter{redacts(false, true)}, "1 redact2"},
		"there is one that is free": {[]tool.Filter{redacts(false, true), {Name: "free", After: true}}, "1 redact2"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newFilteredRelease(t, redacts(false, true))
			u.busy = make(chan struct{})
			e := begin(t, u.rig, call("version", "{}"))
			<-u.entered
			u.upgrade("2", test.filters...)
			close(u.busy)
			got := end(t, e)
			if test.want != "" {
				if got.Err != nil || got.Result.Text() != test.want {
					t.Errorf("the call ended with %+v, %v", got.Result, got.Err)
				}
				return
			}
			if got.Err == nil || got.Err.Kind != tool.KindOutcomeUnknown || !strings.Contains(got.Err.Message, "its result is withheld") || len(got.Result.Content) > 0 {
				t.Errorf("the call ended with %+v, %v", got.Result, got.Err)
			}
		})
	}
}
