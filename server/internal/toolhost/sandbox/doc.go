// Package sandbox confines a plugin process: the part of the file system that it sees, whether it
// has a network, the processes that it can reach, the privileges that it can gain, and the system
// calls that it may make.
//
// A Plan is made for one launch. It contains the layers of the sandbox. For each layer it says
// whether this machine supports it, or why not. It starts the process in these layers. The process
// itself sets up the layers, by system calls that it makes before it executes the plugin (package
// entry). The starting process does not change. docs/adr/0014 has the reasons.
//
// The package does not decide what a plugin is granted, and knows neither plugins nor the
// configuration. Package pidns makes PID namespaces; a Plan only learns whether there is one.
// Package limits bounds memory and other resources.
package sandbox
