// Package cli is what the command lines of toolhost and agentd share: how a command is run and fails, the exit codes,
// the -o flag, tables and JSON. It knows none of the commands.
package cli

import "io"

// Exit codes of both programs.
const (
	ExitOK             = 0 // it worked; of a call: there is a result
	ExitToolError      = 1 // the tool says that it failed; of what checks something: a check failed
	ExitUsage          = 2 // the command line is wrong
	ExitInfrastructure = 3 // the machinery failed
	ExitNoServer       = 4 // no server answers at the address
	ExitUntrusted      = 7 // a configuration file may have been written by a tool, and the operator has not trusted it
)

// Process is what a program gets from the operating system. All fields are required.
type Process struct {
	Args   []string // without the program's name
	Getenv func(string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}
