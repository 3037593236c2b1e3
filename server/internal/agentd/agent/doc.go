// Package agent drives runs: it requests responses from a model, has a toolhost carry out the calls
// in them, and keeps everything that happens in a journal.
//
// Package loop decides what a run does next. An Agent has one goroutine for each run at work, which
// folds the run's journal into a loop.State, carries out the commands that loop.Next returns, and
// appends the events that result. No other code decides, so an interrupted run continues by folding
// its journal again. Package snapshot shortens the fold.
//
// The package does not know gRPC, SQL or a model provider: models, tools and the journal are
// interfaces, and server/internal/agentd/agentserver translates for remote callers.
package agent
