// Package scaffold writes the small repository that a new plugin begins with: a tool, its test, what builds, tests and
// installs them, and a README.
//
// It owns the files, which are templates beside the code, one folder for each language, and which names are allowed. It
// runs nothing: the repository's Makefile does, when its author asks for it.
package scaffold
