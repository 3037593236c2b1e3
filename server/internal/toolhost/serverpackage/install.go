package serverpackage

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Options say how Install works.
type Options struct {
	// Scratch is an empty folder for files that are needed during the installation only. Its path must
	// be short, because it is the run folder of processes. Required.
	Scratch string
	// Environ is the operator's environment. The registry's client gets only the settings for its
	// registry of it, and of the files that it names.
	Environ []string
	// SkipScripts installs packages that have an install script, without running the script. Without
	// it, Install fails for such a package.
	SkipScripts bool
	// Lock is the path of a file with pins, which Install uses in place of what the registry has now:
	// a package-lock.json of npm, or a requirements file with hashes. Empty: the registry decides.
	Lock string
}

// Installed is a package in its folder.
type Installed struct {
	Name, Version string
	Packages      int      // that are installed: the package and its dependencies
	Pins          string   // the name of the file in the folder that has the hash of each package
	Command       []string // runs the program in the folder; its first element is in the folder or in PATH
	Skipped       []string // packages whose install scripts did not run
}

// Install installs the package into dir, which must be an empty folder. It runs no code of the
// packages: npm and pip run in a sandbox, where they can start no program, and take only archives
// of the registry whose hash is known. It fails on a machine without such a sandbox, and when ctx
// ends. It may then leave files in dir and in Scratch.
func (r *Request) Install(ctx context.Context, dir string, o Options) (*Installed, error) {
	var done *Installed
	var err error
	if r.Registry == NPM {
		done, err = r.installNPM(ctx, dir, o)
	} else {
		done, err = r.installPyPI(ctx, dir, o)
	}
	if err != nil {
		return nil, fmt.Errorf("installing %s from %s: %w", r.Spec, r.Registry, err)
	}
	return done, nil
}

// lastLines returns the last lines of an output that are not empty, as one line.
func lastLines(output string, most int) string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}

// missing returns the error for a program that is not installed, or nil.
func missing(program, remedy string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("there is no %s in PATH; %s", program, remedy)
	}
	return nil
}

// choose returns the program of a package: the named one, else the one with the name of the
// package, else the only one.
func choose(programs map[string]string, named, name string) (program, target string, err error) {
	if named != "" {
		if target, ok := programs[named]; ok {
			return named, target, nil
		}
		return "", "", fmt.Errorf("the package has no program %s; it has %s", named, listed(programs))
	}
	if target, ok := programs[name]; ok {
		return name, target, nil
	}
	if len(programs) == 1 {
		for program, target := range programs {
			return program, target, nil
		}
	}
	if len(programs) == 0 {
		return "", "", errors.New("the package has no program")
	}
	return "", "", fmt.Errorf("the package has the programs %s; say which one, with npx -p PACKAGE PROGRAM or uvx --from PACKAGE PROGRAM", listed(programs))
}
