// Package fleet asks the toolhosts of a fleet at the same time, each within a time of its own, and
// says what became of each. It does not know the questions. An answer is foreign data: fleet bounds
// its size and refuses values that have no JSON form, and a node's label is what the user calls it,
// never what it answers.
package fleet
