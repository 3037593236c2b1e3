// Package commands holds the commands of agentd. `agentd run` works on one task, and `agentd chat`
// on one task after the other. `agentd serve` offers runs over gRPC. `runs` and `show` read the
// journal. `respond` and `cancel` talk to a server.
//
// The package owns flags, configuration, and what a person sees and types. Package agent runs the
// loop.
package commands
