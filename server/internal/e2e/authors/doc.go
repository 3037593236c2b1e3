// Package authors tests the commands for authors: `toolhost dev`, `install` and `uninstall`. The
// package server/internal/e2e/docs tests the guide from an empty folder to a tool that a model
// uses, by executing the pages of the guide.
//
// All code is in test files.
package authors
