// Package cli holds what the command lines of toolhost and agentd share: running a command, errors
// and exit codes, the flag -o, tables, JSON, and the escaping of foreign text. It does not know the
// commands.
package cli

import "io"

// Exit codes of both programs.
const (
	ExitOK             = 0 // it worked; of a call: there is a result
	ExitToolError      = 1 // the tool says that it failed; of what checks something: a check failed
	ExitUsage          = 2 // the command line is wrong
	ExitInfrastructure = 3 // the machinery failed
	ExitNoServer       = 4 // no server answers at the address
	// a tool may have written a configuration file that the operator has not trusted
	ExitUntrusted = 7
)

// Process is what a program gets from the operating system. All fields are required.
type Process struct {
	Args   []string // without the program's name
	Getenv func(string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}
