// Package limits bounds what one plugin process and its descendants may use: memory, CPU,
// processes, open files and the size of files. It uses the mechanisms that the machine has, and
// reports the one of each limit: control groups (version 2 or 1) where they can be written,
// resource limits where the kernel enforces them, and else a watchdog that looks and kills.
//
// Cgroups holds toolhost's own control groups, in which each instance gets a group. A Holder holds
// one instance: it is made before the process, lets the process be started inside its groups, and
// kills all that is left of the instance.
//
// The package starts no process, knows no plugin, and decides nothing about a process that was
// killed: package process does. It does not use RLIMIT_AS, because that bounds address space, of
// which a Go or Java program reserves far more than it uses. It does not use RLIMIT_NPROC, which
// counts per user and not at all for root.
package limits
