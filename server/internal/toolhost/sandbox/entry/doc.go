// Package entry makes the program that a plugin's process runs before the plugin: a list of system
// calls with constant arguments, and then the execution of the plugin with the same arguments and
// environment. The first call that fails ends the program, which reports the call on a socket. So
// the steps that only the new process can do are done there, in less than a millisecond and without
// a second toolhost process.
//
// The package works on Linux on amd64 and arm64. It does not know what the calls are for. Package
// sandbox does.
package entry
