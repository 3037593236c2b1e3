package host_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func TestNothingOfAPluginThatIsSwitchedOffIsFound(t *testing.T) {
	off := false
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Disabled = func(string) bool { return off } })
	for _, want := range []int{1, 0} {
		matches, err := r.SearchTools(t.Context(), "echo", tool.Query{})
		if err != nil || len(matches) != want {
			t.Errorf("switched off %v: found %v, %v", off, matches, err)
		}
		rendered, err := r.RenderTools(t.Context(), tool.FormatMCP, tool.Query{Names: []string{"echo"}})
		if err != nil || len(rendered.Tools) != want {
			t.Errorf("switched off %v: rendered %v, %v", off, rendered.Tools, err)
		}
		off = true
	}
}

// The host builds the index at its start, and when the catalog has changed.
func TestIndexIsBuiltBeforeTheFirstSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newRelease(t)
		synctest.Wait()
		if !u.IsIndexed() {
			t.Error("nothing is indexed at the start")
		}
		u.put(filepath.Join(u.dir, "zoo"), `{"name":"zoo","version":"1","tools":[{"name":"zebras","description":"Counts zebras."}]}`)
		if _, err := u.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !u.IsIndexed() {
			t.Error("the catalog has changed, and its index is that of before")
		}
	})
}

// A search finds the tools of an added plugin, and no tools of a removed one.
func TestSearchFollowsTheCatalogue(t *testing.T) {
	u := newRelease(t)
	path := filepath.Join(u.dir, "zoo")
	for _, there := range []bool{false, true, false, true} {
		want := []string{}
		if there {
			u.put(path, `{"name":"zoo","version":"1","tools":[{"name":"zebras","description":"Counts zebras."}]}`)
			want = []string{"zebras"}
		} else if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		matches, err := u.SearchTools(t.Context(), "zebra", tool.Query{})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, m := range matches {
			got = append(got, m.Spec.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("there is a zoo: %v (-want +got):\n%s", there, diff)
		}
	}
}

func TestManySearchAtOnce(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			matches, err := r.SearchTools(t.Context(), "echo", tool.Query{})
			if err != nil || len(matches) != 1 {
				t.Errorf("found %v, %v", matches, err)
			}
		})
	}
	group.Wait()
}
