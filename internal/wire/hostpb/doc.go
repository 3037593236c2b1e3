// Package hostpb converts between package tool and toolhost.v1, the API of toolhost, for package
// hostserver, which serves it, and package client, which calls it. It also splits large results
// into pieces and joins them.
//
// FromX converts an X of package tool to its message, and ToX converts the message. Package toolpb
// converts the messages of toolhost.tool.v1. Its rules hold here too: conversions never fail,
// invalid values become valid ones, and byte slices are shared.
package hostpb
