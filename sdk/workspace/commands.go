package workspace

import (
	"context"
	"io"
	"syscall"
)

// Commands runs commands in a workspace. Many goroutines may call Run at once.
//
// A remote workspace implements Commands if its server runs commands. Package commands runs those
// of a local one. A workspace in memory has none: no process could see its files.
type Commands interface {
	// Run runs a command and returns when no process is left that the command started. When ctx ends,
	// Run ends these processes: by SIGTERM, and soon after by SIGKILL.
	//
	// An *Error says that the command did not start, unless it wraps ErrUnknownOutcome: then the
	// command may have run, and may have had any effect. Whatever the command wrote before is
	// written to Stdout and Stderr.
	Run(ctx context.Context, c Command) (Exit, error)
}

// Command describes a command. Argv is required.
type Command struct {
	// Argv is the program and its arguments. A program without a slash is looked up in the PATH of the
	// machine that runs the command. If there is none, the error is ErrNoProgram, and Stdin may have
	// been read.
	Argv []string
	// Dir is the name of the folder in which the command starts. Empty means the workspace itself.
	// What the command can reach later does not depend on it.
	Dir string
	// Env are variables in addition to those of the machine that runs the command, which they replace.
	Env map[string]string
	// Stdin is read to its end before the command starts, with at most MaxStdin bytes. Nil means no
	// input.
	Stdin io.Reader
	// Stdout and Stderr receive the output, each from a goroutine that has ended when Run returns. Nil
	// discards it.
	Stdout, Stderr io.Writer
}

// MaxStdin is the largest standard input of a command, in bytes. It is the largest result of a
// call, and so the largest artifact.
const MaxStdin = 64 << 20

// Exit says how a command ended.
type Exit struct {
	// Code is the exit code if Signal is 0.
	Code int
	// Signal is the signal that ended the command. 0 means that none did.
	Signal syscall.Signal
	// Ended says that the command did not end by itself: ctx or a signal to its supervisor ended it.
	Ended bool
	// Left is the number of processes that the command left behind and that were ended.
	Left int
}
