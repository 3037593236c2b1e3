// Package boundary tests that a run survives the death of agentd, of toolhost, or of both. The
// tests send SIGKILL before and after each append to the journal. The run must continue as if
// nothing had happened.
//
// The package owns the run that is disturbed, the model that answers over HTTP, the person who
// decides, and the conditions that hold at the end. The plugin that counts executions is
// counterplugin. The package does not test single components; their own packages do.
package boundary
