package planted

import (
	"strings"
	"testing"
)

// A plugin applies a filter to its own tool, and the operator configures nothing. An upgrade that
// takes the filter away, or puts another one in, leaves the tool out until the operator trusts it.
// This also holds if the plugin was replaced between two starts.
func TestAnUpgradeDoesNotChangeTheFiltersOfATool(t *testing.T) {
	const (
		filtered = `{"plugin": "keeper", "version": "1", "tools": [{"name": "keep"}, {"name": "peek"}], "filters": [{"name": "redact", "tools": ["keep"]}]}`
		open     = `{"plugin": "keeper", "version": "2", "tools": [{"name": "keep"}, {"name": "peek"}], "filters": [{"name": "redact"}]}`
		other    = `{"plugin": "keeper", "version": "3", "tools": [{"name": "keep"}, {"name": "peek"}], "filters": [{"name": "twist", "tools": ["peek", "keep"]}]}`
	)
	eachUser(t, func(t *testing.T, w *world) {
		plugins := w.path("plugins")
		w.plugin(t, "plugins/keeper", filtered)
		s := w.serve(t, "--plugins", plugins)
		s.do(t, "call", "keep", "{}").ends(t, 0, "hidden by redact")
		s.do(t, "call", "peek", "{}").ends(t, 0, "1")
		s.do(t, "plugins").ends(t, 0, "redact (own)")
		s.do(t, "why", "keeper").ends(t, 0, "own filter  redact, for calls of keep")
		s.do(t, "tools", "keep").ends(t, 0, "filters      redact")
		s.do(t, "stats").ends(t, 0, "keeper.redact")
		s.stop(t)

		leftOut := func(version string, changes ...string) {
			t.Helper()
			s.do(t, "call", "peek", "{}") // toolhost upgrades the plugin
			if r := s.do(t, "call", "keep", "{}"); r.code == 0 || !strings.Contains(r.output, "keep") {
				t.Errorf("version %s of the tool is called with %d\n%s", version, r.code, r.output)
			}
			s.do(t, "why", "keeper").ends(t, 0, "its tools", "are left out: the filters that it applies to their calls have changed", "toolhost trust --diff keeper")
			s.do(t, "trust", "--diff", "keeper", "--plugins", plugins).ends(t, 0, append(changes, "changed keeper")...)
			s.do(t, "trust", "keeper", "--plugins", plugins).ends(t, 0, "trusted keeper")
			s.do(t, "trust", "--diff", "keeper", "--plugins", plugins).ends(t, 0, "trusted keeper")
		}
		w.plugin(t, "plugins/keeper", open)
		s = w.serve(t, "--plugins", plugins)
		leftOut("2", "the tool keep: its calls no longer pass the plugin's filter redact (after)")
		s.do(t, "call", "keep", "{}").ends(t, 0, "2")

		w.plugin(t, "plugins/keeper", other)
		s.do(t, "reload").ends(t, 0)
		leftOut("3", "the tool keep: its calls now pass the plugin's filter twist (after)", "the tool peek: its calls now pass the plugin's filter twist (after)")
		for _, name := range []string{"keep", "peek"} {
			s.do(t, "call", name, "{}").ends(t, 0, "hidden by twist")
		}
	})
}
