// Package target holds the servers that a user of a command line has given names: their addresses
// and how to reach them. It has the commands `target` of toolhost and agentd, and it decides which
// server a command uses.
//
// It owns the file of targets. The file names other files and a command that prints a token, but
// holds no secret. Whoever can write it decides where commands send a token and which command runs,
// so a file that others, or tools, can write is refused.
package target
