// Package intake bounds the memory of gRPC messages that are not complete, and of answers that are
// not read. gRPC stores both without a bound for all streams of a connection together. A Conn knows
// from the HTTP/2 frames that pass how much gRPC stores, and reserves that in a budget.
package intake
