package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfABuild(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}
	for name, test := range map[string]struct {
		module   string
		settings []debug.BuildSetting
		want     string
	}{
		"a module's version": {"v1.2.3", []debug.BuildSetting{revision}, "v1.2.3"},
		"a commit":           {"(devel)", []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "abc"},
		"changed files":      {"(devel)", []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}, "abc+dirty"},
		"nothing known":      {"", nil, "devel"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: test.module}, Settings: test.settings}
		if got := versionOf(info); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
