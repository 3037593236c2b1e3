package main

import (
	"errors"
	"fmt"

	"golang.org/x/mod/modfile"
)

// otherToolchain returns a note if the running version of Go is not the one that builds releases,
// because another version results in other digests. tools/go.mod names the version of releases.
func otherToolchain(running string, read func(name string) ([]byte, error)) (note string, err error) {
	text, err := read("tools/go.mod")
	if err != nil {
		return "", err
	}
	parsed, err := modfile.Parse("tools/go.mod", text, nil)
	if err != nil {
		return "", err
	}
	if parsed.Toolchain == nil {
		return "", errors.New("tools/go.mod has no toolchain line, which names the version of Go that builds releases")
	}
	if wanted := parsed.Toolchain.Name; running != wanted {
		note = fmt.Sprintf("note: this is a build with %s; releases are built with %s, and their digests differ", running, wanted)
	}
	return note, nil
}
