// Package languages tests that it does not matter in which language a tool or its caller is written: one table of calls
// is made by a caller in Go, one in Python and one in TypeScript, each of a plugin in each of these languages, and all
// nine pairs have to tell the same, byte for byte.
//
// The plugins and callers are written with the SDKs as their users write them; what they have in common is the table in
// cases_test.go and the form in which callers print what came of a call, which testdata/want.txt shows. The tests
// have the build tag more, because they need Python and Node. Plugins that know the contract alone are package barecontract's.
package languages
