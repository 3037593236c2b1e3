// Command bareplugin is the benchmark's tool as a plugin of go-plugin without toolhost.
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
