// Package counts tests what a call costs in units that do not depend on the machine: allocations,
// bytes, messages and writes. A call goes from the client through toolhost's server and host to a
// plugin and back. Each bound is 10 % above the count at the time when it was set. A change that
// makes a call cheaper lowers the bound. A change that makes a call more expensive must state the
// reason.
//
// The programs in bench/ measure the time of calls and compare it with alternatives.
package counts
