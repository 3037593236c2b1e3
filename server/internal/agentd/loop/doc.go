// Package loop is the pure part of the agent: it decides what a run does, and does nothing itself.
//
// State is what the events of a run's journal fold to (Apply). Next returns the commands that
// follow from a State alone: record an event, request a response from the model, carry out a tool
// call, or wait. The driver, package agent, carries the commands out and appends what happened. So
// a run that was interrupted at any place continues when its journal is folded again, and every
// decision can be tested without a model, a toolhost or a clock.
//
// The package owns the vocabulary of runs: tasks, events, commands, decisions, limits and stop
// reasons. It does no I/O, starts no goroutine and reads no clock: every time comes from an event
// or from the caller. It knows neither gRPC, nor the journal's store, nor a model provider.
// arch_test.go enforces this.
package loop
