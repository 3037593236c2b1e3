// Package console tests the pages of a real agentd in a real Chromium.
//
// Its tests have the build tag more. pictures_test.go makes the pictures of docs/console.md.
package console
