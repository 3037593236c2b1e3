// Package limits bounds what one plugin process and all that it starts may use: memory, CPU, processes, open files and
// the size of files. It takes what the machine gives, which is told per limit, never guessed: control groups (version 2
// or 1) where they can be written, resource limits where the kernel heeds them, and a watchdog that looks and kills where
// there is nothing better.
//
// Cgroups is toolhost's own place among the control groups, in which each instance gets a group. Holder is what holds one
// instance: it is made before the process, lets it be started inside, and ends whatever is left of it.
//
// It starts no process, knows no plugin, and decides nothing about one that was ended: package process does. RLIMIT_AS
// is not used, for it counts address space, of which a Go or Java program reserves far more than it uses; nor is
// RLIMIT_NPROC, which counts per user and not at all for root.
package limits
