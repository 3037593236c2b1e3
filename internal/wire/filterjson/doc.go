// Package filterjson encodes and decodes the JSON that toolhost and filters exchange; FilterSpec in
// proto/toolhost/plugin/v1/plugin.proto defines it. The host and the SDK both use it. It calls no
// filters and decides nothing.
package filterjson
