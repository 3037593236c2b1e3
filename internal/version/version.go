// Package version holds the version of this source tree: of the programs, of the SDKs and of the
// contracts. It does not know the version of a peer.
//
// The Python package, the npm package and the files of a release carry the same version. A test of
// the root package compares them, and `make release` refuses to build a different version.
package version

import (
	"runtime/debug"

	"github.com/toolhost/toolhost/tool"
)

// Number is the semantic version of the source tree. Between two releases it is the version of the
// last release.
const Number = "0.1.0"

// The contracts of the source tree, by the names of their protobuf packages. A name ends with the
// major version of the contract.
const (
	PluginContract = "toolhost.plugin.v1" // between toolhost and a plugin
	HostAPI        = "toolhost.v1"        // between toolhost and its callers
	AgentAPI       = "agentd.v1"          // between agentd and its callers
	// between toolhost, its plugins and servers of workspaces
	WorkspaceContract = "toolhost.workspace.v1"
)

// commit is the commit of the source tree, with "-dirty" if files were changed. A build sets it
// with the linker flag -X. It is empty in other builds.
var commit string

// unknown is the commit of a build that does not contain one, such as a build from an archive.
const unknown = "unknown"

// Info returns the version of the running program.
func Info() tool.VersionInfo {
	return tool.VersionInfo{
		Version:   Number,
		Commit:    commitOf(commit, debug.ReadBuildInfo),
		Contracts: tool.Contracts{Plugin: PluginContract, Host: HostAPI, Agent: AgentAPI, Workspace: WorkspaceContract},
	}
}

// commitOf returns the commit that the linker set. If the linker set none, it returns the commit
// that the go command recorded in the build.
func commitOf(linked string, read func() (*debug.BuildInfo, bool)) string {
	if linked != "" {
		return linked
	}
	info, ok := read()
	if !ok {
		return unknown
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	switch {
	case revision == "":
		return unknown
	case settings["vcs.modified"] == "true":
		return revision + "-dirty"
	}
	return revision
}
