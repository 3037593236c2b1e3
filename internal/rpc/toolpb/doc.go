// Package toolpb converts between the vocabulary of package tool and its protobuf form, toolhost.tool.v1, and maps
// failures to gRPC statuses and back. It is the only place that does either; it decides nothing and starts nothing.
//
// FromX takes an X of package tool and returns its message; ToX takes a message and returns an X of package tool. Both
// are total: nil messages and unknown enum values read as what the proto calls "not set", and what could not travel is
// made harmless, because one bad value must not end a stream that carries other calls: text becomes valid UTF-8,
// numbers become finite, times and durations out of range are left out.
//
// Byte slices are shared with the original, not copied. Whether bytes that should hold JSON do is for the receiver to
// check where it does not trust the sender.
package toolpb
