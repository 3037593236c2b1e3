// Package boundary tests that a run is exact whatever is killed: agentd, toolhost or both die with SIGKILL before and
// after each append to the journal, and the run then goes on as if nothing had happened.
//
// It owns the run that is disturbed, the model that answers it over HTTP, the person who decides, and what must hold in
// the end; the plugin that counts is in counterplugin. It does not test single parts: those have tests of their own.
package boundary
