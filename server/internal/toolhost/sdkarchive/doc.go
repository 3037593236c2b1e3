// Package sdkarchive makes the SDKs' packages in the formats of their ecosystems: a wheel and a
// source distribution for Python, a tarball for npm, and for Go the part of the module that a
// plugin needs. `toolhost new` writes these packages into a new repository, and a release publishes
// them.
//
// The package owns the contents and the formats. Its callers decide where the packages go. It runs
// no commands, so that toolhost can make the packages on a machine without Python and Node.
//
// The same sources always result in the same bytes: files have a fixed order, time, owner and mode.
package sdkarchive
