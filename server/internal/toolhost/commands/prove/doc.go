// Package prove is the command `toolhost prove`: it kills processes in the middle of calls, and
// counts what became of the calls.
//
// It owns the lab, the plan of the kills, the plugin that counts, and the verdict. The counting
// does not rely on toolhost: each effect of the plugin is a file that only one execution can have
// made.
package prove
