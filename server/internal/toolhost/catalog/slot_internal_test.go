package catalog

import (
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// A reading that began before the plugin described itself does not make the catalog forget the
// description and ask again.
func TestALateReadingKeepsTheDescription(t *testing.T) {
	asked := &Plugin{Source: "/p", Digest: "sha256:1", Info: tool.Description{Name: "p"}}
	described := *asked
	s := &slot{source: "/p", file: &described}
	s.apply(reading{source: "/p", file: asked.withProblem(problemPending)}, nil)
	if s.file != &described {
		t.Errorf("the slot has %+v, want what the plugin said", s.file)
	}
	changed := (&Plugin{Source: "/p", Digest: "sha256:2"}).withProblem(problemPending)
	if s.apply(reading{source: "/p", file: changed}, nil); s.file != changed {
		t.Errorf("the slot has %+v, want the changed file", s.file)
	}
}
