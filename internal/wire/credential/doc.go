// Package credential holds what a client presents to a server and how it verifies the server: TLS,
// client certificates and bearer tokens.
//
// It owns reading and renewing them. It does not know services, and it does not decide when an RPC
// is repeated: package link does.
package credential
