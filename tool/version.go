package tool

// VersionInfo identifies a build of toolhost or agentd.
type VersionInfo struct {
	Version string `json:"version"` // a semantic version, such as 1.2.3
	// Commit is the commit that the program was built from, with "-dirty" if files were changed, or
	// "unknown".
	Commit    string    `json:"commit"`
	Contracts Contracts `json:"contracts"`
}

// SDKInfo identifies the SDK that a plugin uses, as the plugin declares it.
type SDKInfo struct {
	Name    string `json:"name"` // such as toolhost-go
	Version string `json:"version,omitempty"`
}

// Contracts are the contracts of a version, by the names of their protobuf packages. Each name ends
// with the major version of the contract. Both programs name all of them.
type Contracts struct {
	Plugin string `json:"plugin"` // between toolhost and plugins, such as toolhost.plugin.v1
	Host   string `json:"host"`   // between toolhost and its callers, such as toolhost.v1
	Agent  string `json:"agent"`  // between agentd and its callers, such as agentd.v1
	// between toolhost, its plugins and servers of workspaces, such as toolhost.workspace.v1; empty:
	// an older program
	Workspace string `json:"workspace,omitempty"`
}
