// Command bareplugin does the benchmark's work by go-plugin alone.
package main

import (
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/toolhost/toolhost/bench/internal/wire"
)

func main() {
	plugin.Serve(&plugin.ServeConfig{HandshakeConfig: wire.Handshake, Plugins: wire.Plugins(),
		GRPCServer: plugin.DefaultGRPCServer, Logger: hclog.NewNullLogger()})
}
