// Package intruders attacks the authentication and authorization of real servers: a toolhost and an
// agentd with TLS listeners, a token store and an issuer of JWTs. Each attack is a subtest. It
// shows what was sent, that the server answered nothing useful and executed nothing, and that the
// audit log has a line about it.
//
// The package contains only tests. Tests of server/internal/access/authn,
// server/internal/toolhost/hostserver and server/internal/agentd/agentserver try single credentials
// and requests in more variants.
package intruders
