// Package authors tests what an author does who has never seen this repository: from an empty folder outside of it to a
// tool that a model uses, in each language, by the commands that a person types, and no more than five.
//
// All of it is in test files. The SDKs are taken from this checkout, as a person would who has it; nothing is published.
package authors
