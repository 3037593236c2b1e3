// Package devloop builds a plugin's repository whenever it changes.
//
// It owns what a repository is built by, how changes are noticed, and the loop. It knows neither toolhost nor what becomes of
// what was built: that is for the function that it is given.
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

// manifestName makes a folder a plugin.
const manifestName = "plugin.yaml"

// Config says which repository is built, and how.
type Config struct {
	Dir    string // the repository
	Output string // a folder for what Go builds; made if it does not exist
	// Command builds the repository, in its folder. Empty: what the repository itself suggests. A go.mod means `go build`, a
	// Makefile with a target `build` means `make build`, and a plugin.yaml alone needs no building.
	Command []string
	// Debug builds the Go of the repository without optimisations, so that a debugger finds all its lines and variables.
	Debug bool

	Interval time.Duration // between two looks for changes; 0: 300 ms
}

// Project is a plugin's repository. It is used by one goroutine.
type Project struct {
	dir     string
	command []string
	plugin  string // what is built; empty: it is looked for
	every   time.Duration
}

// Open looks at a repository. It builds nothing.
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

// hasTarget reports whether the Makefile says how to make a target.
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

// Command returns what builds the repository, as a line to be read; empty if nothing has to be built.
func (p *Project) Command() string { return strings.Join(p.command, " ") }

// Build builds the repository and returns the plugin: an executable, or a folder. What the command prints goes to output.
// The command, and all that it has started, ends with ctx.
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

// find returns the only plugin in the folder build.
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
