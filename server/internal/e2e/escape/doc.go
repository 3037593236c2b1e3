// Package escape tries to get out of the sandbox of a real toolhost, with the real plugins fs and
// shell and with a plugin that makes any attempt. Each attempt is a subtest that shows what was
// tried and that it was denied. If this machine lacks the layer that would deny the attempt, the
// test says so, and checks that `toolhost ps` says so, too.
//
// The package contains only tests. docs/security.md describes the consequences.
package escape
