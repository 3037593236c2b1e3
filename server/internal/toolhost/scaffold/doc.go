// Package scaffold writes the repository of a new plugin: a tool with a test, a Makefile that
// builds, tests, checks and installs it, a CI job, a README, and the SDK. It also writes the
// repository of a new caller, a program that calls tools, and upgrades an existing repository to
// the SDK of this toolhost.
//
// It owns the files, which are templates with one folder for each language. It also owns the rules
// for names, and the ways in which a repository refers to an SDK. It runs no commands: the author
// runs the repository's Makefile.
//
// A repository must build on every machine, so it refers to nothing outside of itself. It names a
// released version of the SDK. Until the public registries have that version, its folder
// third_party contains the SDK as package sdkarchive makes it: for Go as a module, for Python as a
// wheel, and for TypeScript as an npm tarball. Whether the registries have it is a property of the
// build of toolhost, because an answer from the network would make the result depend on it.
package scaffold
