// Package e2e tests whole scenarios with real binaries: as a person at a terminal, as a caller, and
// as an operator who kills processes. It has only tests.
package e2e
