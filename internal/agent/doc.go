// Package agent is the loop: it lets a model answer, has the tools called that the model asks for, and goes on until
// the run ends.
//
// It has two halves. The reducer is pure: State is what a run's journal folds to (Apply), and Next says from a State
// alone what has to be done. The driver (Agent, and one goroutine per run at work) does it and appends what happened.
// Nothing else decides, so a run that was interrupted anywhere goes on by folding its journal again.
//
// The package owns the words of a run: events, commands, stop reasons, limits. It does not know gRPC, SQL or any
// provider: models, tools and the journal come through interfaces, and internal/rpc/agentserver translates for callers.
package agent
