// Package barecontract tests that a plugin can be written from proto/toolhost/plugin/v1 alone, without an SDK: it runs
// one table of calls against a plugin in Python, one in Node and one in Go that uses the sdk, over the wire and through
// a real toolhost. It holds tests only; the two plugins are in testdata. The tests
// have the build tag more, because they need Python and Node.
package barecontract
