// Package database tests agentd with its runs in a real PostgreSQL server.
//
// Its tests have the build tag more.
package database
