// Package pluginwire is the wire between toolhost and a plugin: the go-plugin handshake and both halves of the contract
// toolhost.plugin.v1, many calls on one stream. Conn is the host's half, Handler and ServerCall are the plugin's.
//
// The halves do not trust each other equally. The host's takes a plugin for a liar: what breaks the contract costs the
// call that it concerns, never another call, never memory without bound, never a panic. The plugin's trusts toolhost,
// but not the handler above it: a panic there costs one call.
//
// The package starts no process and knows none; it decides nothing about calls. See internal/plugin/process and internal/host.
package pluginwire
