// Package escape tries to get out of the sandbox: a real toolhost, the real plugins fs and shell, and a plugin that tries
// whatever a plugin could. Each attempt is a test of its own, which says what was tried and that it was denied; where this
// machine lacks the layer that would have denied it, the test says so, and checks that `toolhost ps` does, too.
//
// It holds tests only. docs/security.md says what follows from them.
package escape
