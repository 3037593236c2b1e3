// Package authors tests the commands of an author who has never seen this repository: `toolhost dev`, `install` and
// `uninstall`. The way from an empty folder to a tool that a model uses is tested by internal/e2e/docs, along the pages that
// tell it.
//
// All of it is in test files.
package authors
