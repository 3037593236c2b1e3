// Package filterjson is the JSON that a filter is asked with and answers: both halves of what FilterSpec in
// proto/toolhost/plugin/v1/plugin.proto says.
//
// It owns the encoding alone, so that neither the host nor the sdk spells it out. It asks nobody, and decides nothing.
package filterjson
