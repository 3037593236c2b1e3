// Package fault is a plugin that misbehaves on request, for tests and chaos runs: before its handshake as its flags say,
// later as the arguments of a call say. Without flags it is a well-behaved plugin with one tool, "fault".
//
// A test can let its own binary play the plugin by calling Main, or build the executable below in folder faultplugin.
// The package is a fixture: nothing that ships imports it.
package fault
