// Package limits bounds what one plugin process and its descendants may use: memory, CPU,
// processes, open files and the size of files. It uses the mechanisms of the machine, and reports
// the mechanism of each limit: control groups (version 2 or 1) if they can be written, resource
// limits if the kernel enforces them, and otherwise a watchdog that measures the processes and
// kills them.
//
// Cgroups holds toolhost's own control groups, in which each instance gets a group. A Holder holds
// one instance. It is created before the process, starts the process inside the instance's groups,
// and kills what is left of the instance at the end.
//
// The package does not know plugins, and does not decide what a killed process means: package
// process does. It does not use RLIMIT_AS, because that bounds address space, of which a Go or Java
// program reserves far more than it uses. It does not use RLIMIT_NPROC, which counts per user and
// does not apply to root.
package limits
