// Package pluginwire implements both ends of the contract toolhost.plugin.v1 between toolhost and a
// plugin, and the go-plugin handshake. Many calls share one stream. Conn is the host's end; Handler
// and ServerCall are the plugin's.
//
// The host's end does not trust the plugin. A violation of the contract ends the call that it
// concerns. It never affects another call, occupies unlimited memory, or causes a panic. The
// plugin's end trusts toolhost, but not the handler: a panic in the handler ends one call.
//
// The package starts no processes and makes no decisions about calls. See packages process and
// host.
package pluginwire
