package prove

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

// Each row is one call, and what the tally says of it.
func TestTally(t *testing.T) {
	done, failed := &answer{receipt: "r1"}, func(kind tool.Kind) *answer { return &answer{failure: kind} }
	for name, c := range map[string]struct {
		call           ended
		want           tally
		without, check bool // whether the promises hold
	}{
		"done":                      {ended{done, []string{"r1"}, false}, tally{Calls: 1}, true, true},
		"settled":                   {ended{done, []string{"r1"}, true}, tally{Calls: 1, Settled: 1}, true, true},
		"executed twice":            {ended{done, []string{"r1", "r2"}, false}, tally{Calls: 1, Doubled: 1}, false, false},
		"twice, and unknown":        {ended{failed(tool.KindOutcomeUnknown), []string{"r1", "r2"}, false}, tally{Calls: 1, Doubled: 1, Unknown: 1}, false, false},
		"done without an effect":    {ended{done, nil, false}, tally{Calls: 1, Lost: 1}, false, false},
		"the receipt of another":    {ended{done, []string{"r2"}, false}, tally{Calls: 1, Lost: 1}, false, false},
		"failed with an effect":     {ended{failed(tool.KindUnavailable), []string{"r1"}, false}, tally{Calls: 1, Lost: 1}, false, false},
		"failed":                    {ended{failed(tool.KindInternal), nil, false}, tally{Calls: 1, Lost: 1}, false, false},
		"unknown, and had happened": {ended{failed(tool.KindOutcomeUnknown), []string{"r1"}, false}, tally{Calls: 1, Unknown: 1}, true, false},
		"without an end":            {ended{nil, []string{"r1"}, false}, tally{Calls: 1, Stuck: 1}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got tally
			got.add(c.call)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.holds(false) != c.without || got.holds(true) != c.check {
				t.Errorf("the promises hold without a check: %v, with one: %v", got.holds(false), got.holds(true))
			}
			twice := got
			twice.plus(got)
			if twice.Calls != 2 || twice.Doubled+twice.Lost+twice.Unknown+twice.Settled+twice.Stuck != 2*(got.Doubled+got.Lost+got.Unknown+got.Settled+got.Stuck) {
				t.Errorf("twice %+v is %+v", got, twice)
			}
		})
	}
}

// A seed determines the plan, and every victim is killed at every place equally often.
func TestPlan(t *testing.T) {
	for _, agentd := range []bool{false, true} {
		kinds := 12
		if agentd {
			kinds = 16
		}
		kills := plan(2*kinds, 5, agentd)
		if !slices.Equal(kills, plan(2*kinds, 5, agentd)) || slices.Equal(kills, plan(2*kinds, 6, agentd)) {
			t.Error("the plan does not depend on the seed alone")
		}
		counted := map[string]int{}
		for _, k := range kills {
			counted[string(k.victim)+" "+string(k.at)]++
		}
		if len(counted) != kinds || slices.ContainsFunc(kills, func(k kill) bool { return counted[string(k.victim)+" "+string(k.at)] != 2 }) {
			t.Errorf("the plan is %v", counted)
		}
	}
}

// A first execution halts at its place with what has happened there, and a later one does not halt.
// The check knows whether there is an effect, and a draft is none.
func TestCounter(t *testing.T) {
	for at, has := range map[place][2]int{before: {0, 0}, during: {1, 0}, after: {0, 1}} {
		t.Run(string(at), func(t *testing.T) {
			dir := workFolder(t)
			count := func(name string) int {
				files, err := os.ReadDir(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				return len(files)
			}
			host := sdktest.New(t, counter(""))
			options := []sdktest.Option{sdktest.WithCallID("c"), sdktest.WithSession("s"), sdktest.WithWorkspace(dir)}
			job := `{"job":"` + string(at) + ` s a"}`
			first := make(chan string, 1)
			go func() { first <- host.Call(string(checked), job, options...).Text() }() // ends when the call is freed
			eventually.Holds(t, "the first execution halts", func() bool { return count(halted) == 1 })
			if now := [2]int{count(drafts), count(effects)}; now != has {
				t.Errorf("there are %v drafts and effects, want %v", now, has)
			}
			said, err := host.Settle(string(checked), job, options...)
			if happened := said.Verdict == sdk.VerdictHappened; err != nil || happened != (at == after) || happened && !strings.HasSuffix(onlyFile(t, dir, effects), said.Result.Text()) {
				t.Errorf("the check says %+v, %v", said, err)
			}
			if second := host.Call(string(unchecked), job, options...).Text(); second == "" {
				t.Error("the second execution has no receipt")
			}
			if err := os.WriteFile(filepath.Join(dir, freed, "s"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if receipt := <-first; receipt == "" || count(effects) != 2 {
				t.Errorf("the receipt is %q, and there are %d effects", receipt, count(effects))
			}
		})
	}
}

// A check that seals makes an execution that still runs have no effect. Otherwise it knows the
// receipt. A second execution under the same key is counted.
func TestSealing(t *testing.T) {
	dir := workFolder(t)
	host := sdktest.New(t, counter(""))
	of := func(id string) []sdktest.Option {
		return []sdktest.Option{sdktest.WithCallID(id), sdktest.WithSession("s"), sdktest.WithWorkspace(dir)}
	}
	check := func(id string, want sdk.Verdict) string {
		t.Helper()
		said, err := host.Settle(string(sealed), `{"job":""}`, of(id)...)
		if err != nil || said.Verdict != want {
			t.Fatalf("the check of %s says %+v, %v, want %v", id, said, err, want)
		}
		if said.Result == nil {
			return ""
		}
		return resultText(*said.Result)
	}
	first := make(chan *sdktest.Call, 1)
	go func() { first <- host.Call(string(sealed), `{"job":"during s a"}`, of("a")...) }() // ends when the call is freed
	await(t.Context(), filepath.Join(dir, halted, "s"))
	check("a", sdk.VerdictDidNotHappen)
	if err := os.WriteFile(filepath.Join(dir, freed, "s"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if call := <-first; !strings.Contains(call.Text(), errSealed.Error()) {
		t.Errorf("the execution that was sealed says %q", call.Text())
	}
	check("a", sdk.VerdictDidNotHappen)
	receipt := host.Call(string(sealed), `{"job":""}`, of("b")...).Text()
	if said := check("b", sdk.VerdictHappened); said != receipt || receipt == "" {
		t.Errorf("the check says %q of %q", said, receipt)
	}
	again := host.Call(string(sealed), `{"job":""}`, of("b")...).Text()
	found, err := receipts(filepath.Join(dir, effects), "s")
	if err == nil {
		slices.Sort(found["b"])
	}
	want := []string{receipt, again}
	slices.Sort(want)
	if err != nil || len(found) != 1 || !slices.Equal(found["b"], want) {
		t.Errorf("the receipts are %v, %v, want %v of b", found, err, want)
	}
}

// workFolder returns a folder for the plugin.
func workFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{drafts, effects, halted, freed} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// onlyFile returns the name of the only file in a folder.
func onlyFile(t *testing.T, names ...string) string {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(names...))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files[0].Name()
}
