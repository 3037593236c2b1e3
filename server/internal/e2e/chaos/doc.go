// Package chaos runs a real toolhost for a while under concurrent callers, admin commands and
// accidents. It checks what must hold in all cases: every call ends once and in time, calls of
// undisturbed plugins never fail, and nothing is left behind at the end. It contains only tests.
// `make chaos` runs them for longer.
package chaos
