// Package pidns makes PID namespaces: worlds of processes of which every member dies when the first one does, wherever it
// moved and whatever it did to its environment. Each has a mount namespace with a /proc of its own, so that its members
// see each other and nobody else.
//
// The first process of a namespace is a program of a few instructions, which prepares /proc, lets the kernel reap orphans
// and then sleeps for ever; the plugin is started beside it, as toolhost's own child, by a thread that entered the
// namespace. So the plugin is no process 1, to which signals mean something else and to which all orphans fall; its exit
// status and its signals come to toolhost as without a namespace; and there is no second toolhost in memory for each
// plugin. docs/adr/0008 has the figures.
//
// It is for Linux on amd64 and arm64, and for root: a namespace that is made without needs a user namespace, which a
// program of several threads cannot enter. The package does not decide whether there is to be a namespace.
package pidns
