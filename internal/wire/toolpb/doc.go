// Package toolpb converts between package tool and toolhost.tool.v1, and between errors and gRPC
// statuses. No other package does.
//
// FromX converts an X of package tool to its message, and ToX converts the message. Conversions
// never fail: a nil message and an unknown enumeration value become what the contract defines for
// unset values, and invalid UTF-8 is replaced. Byte slices are shared with the original.
package toolpb
