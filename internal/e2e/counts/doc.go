// Package counts holds tests of what a call costs in units that no machine changes: allocations, bytes, messages and writes,
// from the client through toolhost's server and host to a plugin and back. The bounds are a tenth above what was counted when
// they were set; who makes a call cheaper sets them lower, and who makes it dearer has to say why it is worth that.
//
// What calls cost in time, beside other ways to make them, is measured in bench/.
package counts
