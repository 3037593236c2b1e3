// Package serve holds the commands `serve`, `config` and `policy`. It reads the options of a
// server from flags and toolhost.yaml, connects the parts of the server with each other, and runs
// them. Package host and the packages around it do the work.
package serve
