// Package e2e tests whole scenarios with the real binaries: as a person at a terminal, as a caller and as an operator
// who kills processes. It holds tests only.
package e2e
