// Package devloop builds a plugin's repository whenever it changes.
//
// It owns the choice of the build command, the detection of changes, and the loop. It does not know
// toolhost, and the caller's function decides what happens with a built plugin.
package devloop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// manifestName is the name of the file that makes a folder a plugin.
const manifestName = "plugin.yaml"

// Config describes the repository and how to build it.
type Config struct {
	Dir    string // path of the repository
	Output string // folder for the program that Go builds; `go build` creates it
	// Command is the command that builds the repository; its working directory is the repository.
	// If it is empty, Open chooses: a go.mod means `go build`, a Makefile with a target `build`
	// means `make build`, and a plugin.yaml alone needs no build.
	Command []string
	// Debug makes `go build` compile the repository's Go code without optimizations, so that a
	// debugger finds all lines and variables.
	Debug bool

	Interval time.Duration // time between two checks for changes; 0 means 300 ms
}

// Project is a plugin's repository. It is not safe for concurrent use.
type Project struct {
	dir     string
	command []string
	plugin  string // path of the built plugin; "" means that Build searches for it
	every   time.Duration
}

// Open chooses how to build a repository. It does not build. It returns an error if it finds no way
// to build and c.Command is empty.
func Open(c Config) (*Project, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the plugin's repository: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("opening the plugin's repository: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("opening the plugin's repository: %s is no folder", dir)
	}
	p := &Project{dir: dir, command: c.Command, every: c.Interval}
	if p.every == 0 {
		p.every = 300 * time.Millisecond
	}
	manifest := p.has(manifestName)
	if manifest {
		p.plugin = dir
	}
	switch {
	case len(p.command) > 0:
	case p.has("go.mod") && !manifest:
		p.plugin = filepath.Join(c.Output, filepath.Base(dir))
		p.command = []string{"go", "build", "-o", p.plugin}
		if c.Debug {
			p.command = append(p.command, "-gcflags=./...=-N -l")
		}
		p.command = append(p.command, ".")
	case p.hasTarget("build"):
		p.command = []string{"make", "build"}
	case !manifest:
		return nil, fmt.Errorf("it is not known how %s is built: it has neither a go.mod, nor a Makefile with a target build, nor a %s; "+
			"name a command with --build", dir, manifestName)
	}
	return p, nil
}

func (p *Project) has(name string) bool {
	info, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil && info.Mode().IsRegular()
}

// hasTarget reports whether the Makefile has a rule for the target.
func (p *Project) hasTarget(target string) bool {
	text, err := os.ReadFile(filepath.Join(p.dir, "Makefile"))
	if err != nil {
		return false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), target+":") {
			return true
		}
	}
	return false
}

// Command returns the build command as one line for people, or "" if the repository needs no build.
func (p *Project) Command() string { return strings.Join(p.command, " ") }

// Build builds the repository and returns the path of the plugin, an executable or a folder. The
// command prints to output. When ctx ends, Build kills the command and its process group.
func (p *Project) Build(ctx context.Context, output io.Writer) (string, error) {
	if len(p.command) > 0 {
		cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, output, output
		endWithGroup(cmd)
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("building by %q: %w", p.Command(), errors.Join(err, context.Cause(ctx)))
		}
	}
	if p.plugin != "" {
		return p.plugin, nil
	}
	return p.find()
}

// find returns the only plugin in the folder build. It returns an error if there is none or more
// than one.
func (p *Project) find() (string, error) {
	dir := filepath.Join(p.dir, "build")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for what was built: %w", err)
	}
	var found []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			info, err = os.Stat(filepath.Join(path, manifestName))
		} else if err == nil && info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if err == nil && info.Mode().IsRegular() {
			found = append(found, path)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d plugins were found in %s after the build; want one, or a %s in %s", len(found), dir, manifestName, p.dir)
	}
	return found[0], nil
}
