package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

func TestPermissionsAreThoseOfBothPlaces(t *testing.T) {
	p := &Plugin{
		Info: tool.Description{Permissions: tool.Permissions{Workspace: tool.AccessWrite, Read: []string{"/a", "relative"}, Write: []string{"/w"}}},
		Manifest: &manifest.Manifest{Permissions: manifest.Permissions{
			Network: true, Workspace: manifest.AccessRead, Read: []string{"/b"},
		}},
	}
	want := tool.Permissions{Network: true, Workspace: tool.AccessWrite, Read: []string{"/a", "/b"}, Write: []string{"/w"}}
	if diff := cmp.Diff(want, p.Permissions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Info.Permissions.Workspace = ""
	if got := p.Permissions().Workspace; got != tool.AccessRead {
		t.Errorf("the workspace is asked for to %q", got)
	}
	if got := (&Plugin{}).Permissions(); !got.IsZero() {
		t.Errorf("nothing is asked for, but %+v", got)
	}
}
