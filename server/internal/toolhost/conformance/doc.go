// Package conformance examines a plugin in any language. It starts the plugin several times as
// toolhost would, and exchanges single frames of the plugin contract with it. The report says for
// each check whether it passes, which part of the contract it belongs to, and how to fix a failure.
// It also gives advice on matters that the contract does not regulate, such as descriptions of
// tools.
//
// The package owns the checks, their stable ids, and the decision what a failure is. It does not
// own the start and sandbox of a process (server/internal/toolhost/process), the meaning of schemas
// (internal/text/arguments), the choice of the plugin, or the display of a report
// (server/internal/toolhost/commands/author). It does not use pluginwire.Conn, which tolerates and
// hides violations that a check must see.
//
// It calls tools that may be called twice by their declaration, and tools that the caller names;
// see Config.Tool.
package conformance
