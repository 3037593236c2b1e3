// Package boundary tests that a run survives the death of agentd, of toolhost, or of both. The
// tests send SIGKILL before and after each append to the journal. The run must continue as if
// nothing had happened.
//
// The package owns the runs that are disturbed, the models that answer over HTTP, the person who
// decides, and the conditions that the end of a run must meet. The plugin that counts executions is
// counterplugin, and askplugin asks people. The package does not test single components; their own
// packages do.
package boundary
