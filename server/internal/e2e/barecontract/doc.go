// Package barecontract tests that an author can write a plugin from proto/toolhost/plugin/v1 alone,
// without an SDK. It makes one table of calls to three plugins: one in Python, one in Node, and one
// in Go that uses the SDK. It makes them over the wire and through a real toolhost.
//
// The package contains only tests; the plugins in Python and Node are in testdata. The tests have
// the build tag more, because they need Python and Node.
package barecontract
