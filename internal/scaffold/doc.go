// Package scaffold writes the small repository that a new plugin begins with: a tool, its test, what builds, tests and
// installs them, a README, and the SDK.
//
// It owns the files, which are templates beside the code, one folder for each language, the form in which a repository
// carries an SDK, and which names are allowed. It runs nothing: the repository's Makefile does, when its author asks for
// it.
//
// The SDKs are not published. So that a repository builds on every machine, it names nothing outside of itself: the SDK
// is in its folder third_party, for Go as a module, for Python as a wheel, and for TypeScript as sources, which the
// repository compiles. What the SDK itself needs comes from the languages' public registries.
package scaffold
