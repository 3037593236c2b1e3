// Package chaos lets a real toolhost run for a while under callers, operators and accidents all at once, and checks what
// must hold whatever happens: every call ends once and in time, calls of plugins that were left alone never fail, and in
// the end nothing is left behind. It holds tests only; `make chaos` runs them for longer.
package chaos
