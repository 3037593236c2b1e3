package version

import (
	"runtime/debug"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
)

func TestCommitOfABuild(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}
	for name, test := range map[string]struct {
		linked   string
		settings []debug.BuildSetting
		none     bool
		want     string
	}{
		"linked":        {linked: "def-dirty", settings: []debug.BuildSetting{revision}, want: "def-dirty"},
		"recorded":      {settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, want: "abc"},
		"changed files": {settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}, want: "abc-dirty"},
		"no commit":     {want: "unknown"},
		"no build info": {none: true, want: "unknown"},
	} {
		read := func() (*debug.BuildInfo, bool) { return &debug.BuildInfo{Settings: test.settings}, !test.none }
		if got := commitOf(test.linked, read); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestContractsAreProtobufPackages(t *testing.T) {
	for name, got := range map[string]string{
		PluginContract: string(pluginv1.File_toolhost_plugin_v1_plugin_proto.Package()),
		HostAPI:        string(toolhostv1.File_toolhost_v1_tool_service_proto.Package()),
		AgentAPI:       string(agentdv1.File_agentd_v1_agent_service_proto.Package()),
	} {
		if got != name {
			t.Errorf("the contract is the protobuf package %s, and package version calls it %s", got, name)
		}
	}
}
