package yamldoctest

// InBothFiles has links to the tables of docs/common-settings.md, by the type of a struct: those of
// the structs that toolhost.yaml and agentd.yaml share, and those of quotas.
var InBothFiles = map[string]string{
	"authconfig.Listener":      "[Its keys](common-settings.md#each-of-listeners).",
	"authconfig.Network":       "[Its keys](common-settings.md#network).",
	"authconfig.HTTP":          "[Its keys](common-settings.md#http).",
	"authconfig.Nodes":         "[Its keys](common-settings.md#nodes).",
	"authconfig.Auth":          "[Its keys](common-settings.md#auth).",
	"telemetryconfig.Settings": "[Its keys](common-settings.md#telemetry).",
	"config.Quotas":            "[Its keys](common-settings.md#quotas-of-toolhostyaml).",
	"agentconfig.Quotas":       "[Its keys](common-settings.md#quotas-of-agentdyaml).",
}
