package serverpackage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// npmLock is the part of a package-lock.json that decides whether it pins everything.
type npmLock struct {
	Packages map[string]npmPackage `json:"packages"` // by path; "" is the folder itself
}

type npmPackage struct {
	Version          string            `json:"version"`
	Integrity        string            `json:"integrity"`
	Link             bool              `json:"link"`     // a link to a folder
	InBundle         bool              `json:"inBundle"` // a part of the archive of another package
	HasInstallScript bool              `json:"hasInstallScript"`
	Bin              map[string]string `json:"bin"`
	Dependencies     map[string]string `json:"dependencies"`
}

const (
	npmManifest = "package.json"
	npmPins     = "package-lock.json"
	modules     = "node_modules/"
)

// installNPM resolves the package into a package-lock.json, checks it, and installs what it pins.
// npm compares each archive with its hash.
func (r *Request) installNPM(ctx context.Context, dir string, o Options) (*Installed, error) {
	if err := missing("npm", "install Node.js with npm"); err != nil {
		return nil, err
	}
	if err := r.resolveNPM(ctx, dir, o); err != nil {
		return nil, err
	}
	lock, err := readNPMLock(filepath.Join(dir, npmPins))
	if err != nil {
		return nil, err
	}
	name, scripts, err := lock.check(o.SkipScripts)
	if err != nil {
		return nil, err
	}
	top := lock.Packages[modules+name]
	program, target, err := choose(top.Bin, r.Program, path.Base(name))
	if err != nil {
		return nil, err
	}
	_, stderr, err := run(ctx, dir, "npm", "ci", "--ignore-scripts", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
	if err != nil {
		return nil, npmError(err, stderr)
	}
	command, err := npmCommand(dir, program, path.Join(modules+name, target))
	if err != nil {
		return nil, err
	}
	return &Installed{
		Name: name, Version: top.Version, Packages: len(lock.Packages) - 1, Pins: npmPins,
		Command: append(command, r.Args...), Skipped: scripts,
	}, nil
}

// resolveNPM writes package.json and package-lock.json. With Options.Lock, both say what that file
// says.
func (r *Request) resolveNPM(ctx context.Context, dir string, o Options) error {
	own := map[string]any{"name": "toolhost-mcp-server", "private": true}
	if o.Lock != "" {
		lock, err := readNPMLock(o.Lock)
		if err != nil {
			return err
		}
		name := r.Spec
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name = name[:at]
		}
		if _, pinned := lock.Packages[""].Dependencies[name]; !pinned || len(lock.Packages[""].Dependencies) != 1 {
			return fmt.Errorf("%s pins other packages than %s", o.Lock, name)
		}
		own["dependencies"] = lock.Packages[""].Dependencies
		data, err := os.ReadFile(o.Lock)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, npmPins), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(own, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, npmManifest), append(text, '\n'), 0o644)
	}
	if err != nil || o.Lock != "" {
		return err
	}
	_, stderr, err := run(ctx, dir, "npm", "install", "--package-lock-only", "--ignore-scripts", "--save-exact", "--no-audit", "--no-fund",
		"--loglevel=error", "--", r.Spec)
	if err != nil {
		return npmError(err, stderr)
	}
	return nil
}

func readNPMLock(file string) (*npmLock, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lock npmLock
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return &lock, nil
}

// check returns the one package that the folder depends on, and the packages with install scripts. It
// fails if a package has no hash.
func (l *npmLock) check(skipScripts bool) (name string, scripts []string, err error) {
	for at := range l.Packages[""].Dependencies {
		name = at
	}
	if _, ok := l.Packages[modules+name]; !ok || name == "" {
		return "", nil, errors.New("npm did not say which package it installs")
	}
	var loose []string
	for at, p := range l.Packages {
		if at == "" || p.InBundle {
			continue
		}
		shown := at[strings.LastIndex(at, modules)+len(modules):] + "@" + p.Version
		if p.Integrity == "" || p.Link || !strings.HasPrefix(at, modules) {
			loose = append(loose, shown)
		}
		if p.HasInstallScript {
			scripts = append(scripts, shown)
		}
	}
	slices.Sort(loose)
	slices.Sort(scripts)
	switch {
	case len(loose) > 0:
		return "", nil, fmt.Errorf("no hash pins %s: it comes from a repository, a URL or a folder", strings.Join(loose, ", "))
	case len(scripts) > 0 && !skipScripts:
		return "", nil, fmt.Errorf("toolhost runs no code during an installation, and %s wants to run a script; "+
			"--skip-install-scripts installs it without the script", strings.Join(scripts, ", "))
	}
	return name, scripts, nil
}

// npmCommand returns the command that runs a program of a package: with node, unless the first line
// of the file names another interpreter, or the file is for the machine.
func npmCommand(dir, program, target string) ([]string, error) {
	if !filepath.IsLocal(target) {
		return nil, fmt.Errorf("the program %s is outside of the package", program)
	}
	file, err := os.Open(filepath.Join(dir, target))
	if err != nil {
		return nil, fmt.Errorf("the program %s is not in the package: %w", program, err)
	}
	defer file.Close()
	line, err := bufio.NewReader(io.LimitReader(file, 200)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	script := slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(target))
	if strings.HasPrefix(line, "#!") && !strings.Contains(line, "node") || !strings.HasPrefix(line, "#!") && !script {
		return []string{"./" + target}, os.Chmod(filepath.Join(dir, target), 0o755)
	}
	return []string{"node", target}, nil
}

// npmError returns the error of npm in few words.
func npmError(err error, stderr string) error {
	stderr = strings.ReplaceAll(stderr, "npm error ", "")
	switch {
	case strings.Contains(stderr, "code E404"):
		return errors.New("npm has no such package")
	case strings.Contains(stderr, "code ETARGET"):
		return errors.New("npm has no such version of the package")
	case strings.Contains(stderr, "code EINTEGRITY"):
		return errors.New("the content of a package does not have the hash of the lock file")
	}
	if index := strings.Index(stderr, "A complete log of this run"); index >= 0 {
		stderr = stderr[:index]
	}
	return fmt.Errorf("npm failed: %w: %s", err, lastLines(stderr, 4))
}

func listed(programs map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
}
