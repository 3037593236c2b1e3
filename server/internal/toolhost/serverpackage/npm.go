package serverpackage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// npmOptions keep npm from repositories, files and folders. An older npm, which does not know the
// first three, meets the guard instead. There is one for URLs, too, but npm then reads no bundles.
var npmOptions = []string{
	"--allow-git=none", "--allow-file=none", "--allow-directory=none",
	"--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error",
}

// installNPM resolves the package into a package-lock.json, checks it, and installs what it pins.
// npm compares each archive with its hash.
func (r *Request) installNPM(ctx context.Context, dir string, o Options) (*Installed, error) {
	if err := missing("npm", "install Node.js with npm"); err != nil {
		return nil, err
	}
	c, err := newNPM(ctx, r, dir, o)
	if err != nil {
		return nil, err
	}
	lock, err := r.resolveNPM(ctx, c, o)
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
	if err := lock.write(dir); err != nil {
		return nil, err
	}
	if _, stderr, err := c.run(ctx, dir, "npm", append([]string{"ci", "--omit=dev", "--prefer-offline"}, npmOptions...)...); err != nil {
		return nil, npmError(err, stderr)
	}
	if err := lock.compare(dir); err != nil {
		return nil, err
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

// newNPM returns npm with the operator's settings for its registry, and those of the scope of the
// package.
func newNPM(ctx context.Context, r *Request, dir string, o Options) (*client, error) {
	from := environment(o.Environ)
	node, _ := exec.LookPath("node")
	all, own := from.npm(node), filepath.Join(o.Scratch, "settings")
	rc, guard := filepath.Join(own, "npmrc"), filepath.Join(own, "guard.cjs")
	text, files := from.npmrc(all, nil)
	err := os.Mkdir(own, 0o700)
	if err == nil {
		err = errors.Join(os.WriteFile(rc, text, 0o600), os.WriteFile(guard, npmGuard, 0o600))
	}
	if err != nil {
		return nil, err
	}
	s := from.connection()
	s.read = append(append(s.read, own), files...)
	s.env = append(s.env, "NODE_OPTIONS=--require "+strconv.Quote(guard), "npm_config_userconfig="+rc,
		"npm_config_globalconfig="+filepath.Join(own, "none"), "npm_config_cache="+filepath.Join(o.Scratch, "work", "cache"))
	c, err := newClient(o.Scratch, dir, s)
	if err != nil || !slices.ContainsFunc(all, func(line setting) bool { return npmCredential.MatchString(line.key) }) {
		return c, err
	}
	keys := []string{"registry"}
	if scope, _, scoped := strings.Cut(r.Spec, "/"); scoped {
		keys = append(keys, scope+":registry")
	}
	var registries []string
	for _, key := range keys {
		value, stderr, err := c.run(ctx, c.dir, "npm", "config", "get", key)
		if err != nil {
			return nil, npmError(err, stderr)
		}
		registries = append(registries, value)
	}
	text, files = from.npmrc(all, registries)
	for _, file := range files {
		if !slices.Contains(c.read, file) {
			c.read = append(c.read, file)
		}
	}
	return c, os.WriteFile(rc, text, 0o600)
}

// resolveNPM returns the lock file that the registry has now, or the one of Options.Lock.
func (r *Request) resolveNPM(ctx context.Context, c *client, o Options) (*npmLock, error) {
	if o.Lock != "" {
		data, err := readLock(o.Lock)
		if err != nil {
			return nil, err
		}
		lock, err := parseNPMLock(o.Lock, data)
		if err != nil {
			return nil, err
		}
		name := r.Spec
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name = name[:at]
		}
		own := lock.Packages[""]
		if own == nil || len(own.Dependencies) != 1 || own.Dependencies[name] == "" {
			return nil, fmt.Errorf("%s pins other packages than %s", o.Lock, name)
		}
		return lock, nil
	}
	dir := filepath.Join(c.dir, "resolve") // empty, so that npm finds no settings there
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, npmManifest), []byte(`{"private": true}`), 0o600); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"install", "--package-lock-only", "--save-exact"}, npmOptions, []string{"--", r.Spec})
	if _, stderr, err := c.run(ctx, dir, "npm", args...); err != nil {
		return nil, npmError(err, stderr)
	}
	data, err := readLeft(dir, npmPins)
	if err != nil {
		return nil, err
	}
	return parseNPMLock(npmPins, data)
}

// npmCommand returns the command that runs a program of a package: with node, unless the first line
// of the file names another interpreter, or the file is for the machine.
func npmCommand(dir, program, target string) ([]string, error) {
	if !filepath.IsLocal(target) {
		return nil, fmt.Errorf("the program %s is outside of the package", program)
	}
	text, err := readLeft(dir, target)
	if err != nil {
		return nil, fmt.Errorf("the program %s is not in the package: %w", program, err)
	}
	line, err := bufio.NewReader(io.LimitReader(bytes.NewReader(text), 200)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	script := slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(target))
	if strings.HasPrefix(line, "#!") && !strings.Contains(line, "node") || !strings.HasPrefix(line, "#!") && !script {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		return []string{"./" + target}, errors.Join(root.Chmod(target, 0o755), root.Close())
	}
	return []string{"node", target}, nil
}

// npmError returns the error of npm in few words.
func npmError(err error, stderr string) error {
	stderr = strings.ReplaceAll(stderr, "npm error ", "")
	if index := strings.Index(stderr, "A complete log of this run"); index >= 0 {
		stderr = stderr[:index]
	}
	refused := guarded(stderr)
	for _, code := range []string{"EALLOWGIT", "EALLOWFILE", "EALLOWDIRECTORY"} {
		if strings.Contains(stderr, "code "+code) {
			refused = errors.New("a package needs one that is no archive of the registry: " + lastLines(stderr, 2))
		}
	}
	switch {
	case refused != nil:
		return refused
	case strings.Contains(stderr, "code E404"):
		return errors.New("npm has no such package")
	case strings.Contains(stderr, "code ETARGET"):
		return errors.New("npm has no such version of the package")
	case strings.Contains(stderr, "code EINTEGRITY"):
		return errors.New("the content of a package does not have the hash of the lock file")
	}
	return fmt.Errorf("npm failed: %w: %s", err, lastLines(stderr, 4))
}

func listed(programs map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
}
