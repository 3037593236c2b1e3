// Package pidns makes PID namespaces. All processes in one die with its first process, wherever
// they moved and whatever they did to their environment. Each has a mount namespace with its own
// /proc, so that its processes see only each other.
//
// The first process of a namespace is a program of a few instructions. It prepares /proc, lets the
// kernel reap orphans, and sleeps forever. A thread of toolhost enters the namespace and starts the
// plugin there as toolhost's child. So the plugin is not process 1, for which signals work
// differently and which gets all orphans. Its exit status and signals reach toolhost as they do
// without a namespace. No second toolhost takes memory for each plugin. docs/adr/0009 has the
// measurements.
//
// The package works on Linux on amd64 and arm64, as root. Without root, a PID namespace needs a
// user namespace, which a program with several threads cannot enter. The package does not decide
// which processes get a namespace.
package pidns
