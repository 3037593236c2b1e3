// Package scaffold writes the repository of a new plugin: a tool with a test, a Makefile that
// builds, tests and installs it, a README, and the SDK.
//
// It owns the files, which are templates with one folder for each language. It also owns the form
// in which a repository contains an SDK, and the rules for names. It runs no commands: the author
// runs the repository's Makefile.
//
// The SDKs are not published. The repository must build on every machine, so it refers to nothing
// outside of itself. Its folder third_party contains the SDK: for Go as a module, for Python as a
// wheel, and for TypeScript as sources, which the repository compiles. The dependencies of the SDK
// come from the public registries of the languages.
package scaffold
