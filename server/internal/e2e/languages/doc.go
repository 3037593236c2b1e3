// Package languages tests that the language of a tool and of its caller makes no difference. A
// caller in Go, one in Python and one in TypeScript make the same table of calls to a plugin in
// each of these languages. All nine pairs must print the same bytes.
//
// TestTrace makes agentd call a tool in each language, and follows the trace of the run to the
// spans that the tools create.
//
// The plugins and callers use the SDKs as authors do. They share the table in cases_test.go and the
// output format of the callers; testdata/want.txt contains the expected output. The tests have the
// build tag more, because they need Python and Node. The package barecontract tests plugins without
// an SDK.
package languages
