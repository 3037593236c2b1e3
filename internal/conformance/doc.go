// Package conformance examines a plugin, in whatever language it is written: it starts the plugin as a toolhost would,
// several times, speaks the plugin contract with it frame by frame, and reports check by check what holds, what does not,
// where the contract says it and how to mend it. It also gives advice on what the contract leaves to taste, such as how
// tools are described to models.
//
// It owns the checks, their names, which stay from version to version, and what counts as a finding. It does not own how a
// process is started and walled in (internal/plugin/process), what a schema means (internal/arguments), which plugin is meant, or
// how a report is shown (internal/cli/author). It speaks the contract by itself instead of through pluginwire.Conn, which forgives
// and hides what a check is to see.
//
// What it calls: tools that the contract lets anybody call twice, or that the caller names; see Config.Tool.
package conformance
