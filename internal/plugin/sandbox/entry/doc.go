// Package entry makes the program that a plugin's process runs before its own: a list of system calls with fixed
// arguments, one after the other, and then the plugin's executable in its place, with the same arguments and environment.
// The first call that fails ends it, and which one that was is told through a socket. So what can only be done inside the
// new process is done there, in less than a millisecond and without a second toolhost.
//
// It is for Linux on amd64 and arm64. It does not know what the calls are good for: package sandbox does.
package entry
