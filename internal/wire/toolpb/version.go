package toolpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

// FromVersion converts the version of a program.
func FromVersion(v tool.VersionInfo) *toolv1.VersionInfo {
	return &toolv1.VersionInfo{
		Version: validText(v.Version), Commit: validText(v.Commit),
		Contracts: &toolv1.Contracts{Plugin: validText(v.Contracts.Plugin), Host: validText(v.Contracts.Host), Agent: validText(v.Contracts.Agent), Workspace: validText(v.Contracts.Workspace)},
	}
}

// ToVersion converts the version of a program.
func ToVersion(v *toolv1.VersionInfo) tool.VersionInfo {
	c := v.GetContracts()
	return tool.VersionInfo{
		Version: v.GetVersion(), Commit: v.GetCommit(),
		Contracts: tool.Contracts{Plugin: c.GetPlugin(), Host: c.GetHost(), Agent: c.GetAgent(), Workspace: c.GetWorkspace()},
	}
}

// FromSDK converts the SDK of a plugin.
func FromSDK(s *tool.SDKInfo) *toolv1.SdkInfo {
	if s == nil {
		return nil
	}
	return &toolv1.SdkInfo{Name: validText(s.Name), Version: validText(s.Version)}
}

// ToSDK converts the SDK of a plugin.
func ToSDK(s *toolv1.SdkInfo) *tool.SDKInfo {
	if s == nil {
		return nil
	}
	return &tool.SDKInfo{Name: s.GetName(), Version: s.GetVersion()}
}
