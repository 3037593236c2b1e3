// Package launch starts the processes of plugins, and sessions with MCP servers: it gives each its
// environment, limits, sandbox, workspace and secrets by the configuration. A launch descends
// through it: Launch, then the record of running processes (exposure.go), the process's
// configuration (launch.go, limits.go, places.go, programs.go), its workspace, and package process.
//
// It does not know which files belong to toolhost: its caller names them as Places.
package launch
