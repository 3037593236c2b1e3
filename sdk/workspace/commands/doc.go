// Package commands runs commands in local workspaces, as processes of this machine.
//
// It owns the processes of commands: it starts each command below a supervisor process, and ends
// everything that the command started when the command is over. It does not restrict commands: the
// sandbox around this process decides what a command may read, change and reach.
package commands
