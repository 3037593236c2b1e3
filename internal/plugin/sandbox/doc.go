// Package sandbox puts layers around a plugin process: what it sees of the file system, whether it has a network, which
// other processes it can reach, which privileges it can gain and which system calls it may make.
//
// A Plan is made for one launch: it says which layers there are, which of them this machine gives and why not the others,
// and starts the process behind them. The layers are put up by the process itself, by system calls that it makes before it
// becomes the plugin (package entry); what starts it stays as it is. docs/adr/0014 has the reasons.
//
// The package does not decide what a plugin is granted, and knows neither plugins nor the configuration. A PID namespace
// is package pidns's matter; a Plan is only told whether there is one. Bounds of memory and the like are package limits'.
package sandbox
