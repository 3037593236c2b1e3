package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/install"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/serverpackage"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// adder makes plugins of MCP servers: it installs their packages, keeps their secrets, grants what
// the operator named, and installs the plugin. If a step fails, it undoes those before.
type adder struct {
	process cli.Process
	*install.Installer
	replace bool // an existing plugin of the name
	dryRun  bool // decide and check, and change nothing
}

// add adds a server.
func (a *adder) add(ctx context.Context, s *server) (done *added, err error) {
	if err := s.check(); err != nil {
		return nil, cli.Usage("%w", err)
	}
	options, folder, err := a.Options()
	if err != nil {
		return nil, err
	}
	if place := folder.Path(s.name); serve.Exists(place) && !a.replace {
		return nil, cli.Usage("there is a plugin %s already, %s; --replace replaces it", s.name, place)
	}
	request, err := recognize(s)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	done = &added{Plugin: s.name, Tools: []string{}, Secrets: []addedSecret{}, Grants: []string{}, Warnings: []string{}, url: s.url}
	if err := a.checkPlan(s, request, options.Config); err != nil {
		return nil, err
	}
	if a.dryRun {
		done.plan(s, request)
		return done, nil
	}
	scratch, err := serve.MakeScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Remove()) }()
	plugin := filepath.Join(scratch.Path, s.name)
	if err := a.fill(ctx, s, request, plugin, scratch.Path, done); err != nil {
		return nil, err
	}
	undo, err := a.prepare(ctx, s, options.Config, done)
	if err != nil {
		return nil, err
	}
	a.Refused = func(reason string) error { return refused(s, reason) }
	result, err := a.Install(ctx, plugin)
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	done.finish(result)
	now := options.Plugin(s.name).Sandbox
	done.Network = now.Network || s.requests.Network
	return done, nil
}

// recognize returns the package that the server's command runs, or nil.
func recognize(s *server) (*serverpackage.Request, error) {
	if s.url != "" {
		return nil, nil
	}
	request, err := serverpackage.Recognize(s.command)
	if err == nil && request == nil && s.lock != "" {
		err = errors.New("--lock-packages is for packages of npx and uvx")
	}
	return request, err
}

// checkPlan returns an error if the server's description, the configuration or the environment
// shows that the server cannot be added. A dry run and a real one both begin with it.
func (a *adder) checkPlan(s *server, request *serverpackage.Request, c config.Config) error {
	command := slices.Clone(s.command)
	if s.url == "" {
		command[0] = "program" // where it will be is not known yet
	}
	if _, err := s.manifest(command); err != nil {
		return err
	}
	for _, each := range s.allSecrets() {
		if err := mayUse(s.name, each, &c); err != nil {
			return err
		}
		if _, exists := c.Secrets[each.name]; !exists && each.variable != "" && a.process.Getenv(each.variable) == "" {
			return fmt.Errorf("the variable %s is not set here; set it, or write the value", each.variable)
		}
	}
	if request == nil && s.url == "" && s.folder == "" {
		if err := checkProgram(s.command[0]); err != nil {
			return fmt.Errorf("finding the program of the server: %w", err)
		}
	}
	return nil
}

// fill makes the folder of the plugin. A package is installed into the empty folder, so that
// nothing of the server's folder is there while its registry's client runs.
func (a *adder) fill(ctx context.Context, s *server, request *serverpackage.Request, plugin, scratch string, done *added) error {
	if err := os.Mkdir(plugin, 0o755); err != nil {
		return err
	}
	command := s.command
	var err error
	if request != nil {
		if command, err = a.installPackage(ctx, s, request, plugin, scratch, done); err != nil {
			return err
		}
	}
	if s.folder != "" {
		if err := addFolder(ctx, plugin, s.folder); err != nil {
			return fmt.Errorf("copying %s: %w", s.folder, err)
		}
	}
	if request == nil && s.url == "" {
		if command, err = plainCommand(ctx, s.command, plugin); err != nil {
			return fmt.Errorf("finding the program of the server: %w", err)
		}
		if !strings.ContainsRune(command[0], '/') {
			done.Warnings = append(done.Warnings, fmt.Sprintf("%s is looked up in PATH at each start; no digest covers it", command[0]))
		}
	}
	done.Command = command
	text, err := s.manifest(command)
	if err != nil {
		return err
	}
	place := filepath.Join(plugin, manifest.FileName) // the folder's own may be a link to another file
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	return os.WriteFile(place, text, 0o644)
}

// installPackage installs the package of a server into the folder of the plugin, and returns the
// command that runs it.
func (a *adder) installPackage(ctx context.Context, s *server, request *serverpackage.Request, plugin, scratch string, done *added) ([]string, error) {
	fmt.Fprintf(a.process.Err(), "installing %s from %s\n", request.Spec, request.Registry)
	options := serverpackage.Options{Scratch: filepath.Join(scratch, "i"), Environ: os.Environ(), SkipScripts: s.noScripts, Lock: s.lock}
	if err := os.Mkdir(options.Scratch, 0o700); err != nil {
		return nil, err
	}
	installed, err := request.Install(ctx, plugin, options)
	if err != nil {
		return nil, err
	}
	done.Package = &addedPackage{
		Registry: request.Registry, Name: installed.Name, Version: installed.Version, Packages: installed.Packages, Pins: installed.Pins,
	}
	if len(installed.Skipped) > 0 {
		done.Warnings = append(done.Warnings, fmt.Sprintf("the install scripts of %s did not run", strings.Join(installed.Skipped, ", ")))
	}
	return installed.Command, nil
}

// prepare keeps the secrets of the server and adds what the plugin needs to the configuration. undo
// restores both.
func (a *adder) prepare(ctx context.Context, s *server, c config.Config, done *added) (undo func() error, err error) {
	var undoing []func() error
	undo = func() error {
		var errs []error
		for _, step := range slices.Backward(undoing) {
			errs = append(errs, step())
		}
		return errors.Join(errs...)
	}
	additions := grants(s, &c)
	for _, each := range s.allSecrets() {
		addition, file, err := a.secret(s.name, each, &c, &undoing)
		if err != nil {
			return nil, errors.Join(err, undo())
		}
		if addition != nil {
			additions = append(additions, *addition)
		}
		done.Secrets = append(done.Secrets, addedSecret{Name: each.name, File: file, Variable: each.variable})
	}
	if len(additions) == 0 {
		return undo, nil
	}
	change, err := serve.AddConfig(a.process.Getenv, a.ConfigFile(), additions)
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	undoing = append(undoing, func() error {
		return errors.Join(change.Undo(), a.Reload(context.WithoutCancel(ctx)))
	})
	a.WithConfig = true
	done.Config = change.Path
	for _, addition := range additions {
		done.Grants = append(done.Grants, addition.String())
	}
	return undo, nil
}

// secret writes the value of a secret into a file that only the user can read, and returns what the
// configuration needs for the secret. It returns nil if the configuration has it.
func (a *adder) secret(plugin string, each secret, c *config.Config, undoing *[]func() error) (*serve.Addition, string, error) {
	if err := mayUse(plugin, each, c); err != nil {
		return nil, "", err
	}
	known, exists := c.Secrets[each.name]
	if each.known || exists && (each.variable != "" || known.File == "") {
		return nil, known.File, nil
	}
	addition := &serve.Addition{Path: []string{"secrets", each.name}}
	if each.variable != "" {
		addition.Value = fmt.Sprintf("{plugins: [%s], env: %q}", plugin, each.variable)
		return addition, "", nil
	}
	folder := trust.ConfigDir(a.process.Getenv)
	if folder == "" {
		return nil, "", errors.New("there is no folder for the file of a secret; set HOME or XDG_CONFIG_HOME")
	}
	path := filepath.Join(folder, "secrets", each.name)
	if exists {
		path = known.File
	}
	restore, err := keep(path, each.value)
	if err != nil {
		return nil, "", fmt.Errorf("keeping the secret %s: %w", each.name, err)
	}
	*undoing = append(*undoing, restore)
	if exists {
		return nil, path, nil
	}
	addition.Value = fmt.Sprintf("{plugins: [%s], file: %q}", plugin, path)
	return addition, path, nil
}

// mayUse returns an error if the configuration keeps a plugin from a secret.
func mayUse(plugin string, each secret, c *config.Config) error {
	known, exists := c.Secrets[each.name]
	switch {
	case exists && !slices.Contains(known.Plugins, plugin):
		return fmt.Errorf("the secret %s is not granted to the plugin %s: add the plugin to secrets.%s.plugins of toolhost.yaml", each.name, plugin, each.name)
	case each.known && !exists:
		return fmt.Errorf("there is no secret %s in toolhost.yaml", each.name)
	}
	return nil
}

// keep writes a secret's value to a file. restore puts back what was there.
func keep(path, value string) (restore func() error, err error) {
	before, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		restore = func() error { return os.Remove(path) }
	} else if err != nil {
		return nil, err
	} else {
		restore = func() error { return atomicfile.Write(path, before, 0o600) }
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return restore, atomicfile.Write(path, []byte(value+"\n"), 0o600)
}

// grants returns the keys of the configuration that grant what the operator named, and that are not
// granted yet.
func grants(s *server, c *config.Config) []serve.Addition {
	now := c.Plugin(s.name).Sandbox
	var all []serve.Addition
	add := func(key, value string) {
		all = append(all, serve.Addition{Path: []string{"plugin", s.name, "sandbox", key}, Value: value})
	}
	if s.requests.Network && !now.Network {
		add("network", "true")
	}
	if s.requests.Workspace != "" && s.requests.Workspace != now.Workspace {
		add("workspace", s.requests.Workspace)
	}
	for key, paths := range map[string]struct{ asked, granted []string }{"read": {s.requests.Read, now.Read}, "write": {s.requests.Write, now.Write}} {
		if len(paths.asked) == 0 || !slices.ContainsFunc(paths.asked, func(p string) bool { return !slices.Contains(paths.granted, p) }) {
			continue
		}
		quoted := make([]string, 0, len(paths.asked))
		for _, path := range paths.asked {
			quoted = append(quoted, fmt.Sprintf("%q", path))
		}
		add(key, "["+strings.Join(quoted, ", ")+"]")
	}
	if len(s.addresses) > 0 {
		quoted := make([]string, 0, len(s.addresses))
		for _, address := range s.addresses {
			quoted = append(quoted, fmt.Sprintf("%q", address))
		}
		all = append(all, serve.Addition{Path: []string{"plugin", s.name, "http", "addresses"}, Value: "[" + strings.Join(quoted, ", ") + "]"})
	}
	slices.SortFunc(all, func(x, y serve.Addition) int { return slices.Compare(x.Path, y.Path) })
	return all
}

// refused returns the error for a server that does not answer.
func refused(s *server, reason string) error {
	help := "; it starts in the sandbox without a network, without the workspace, and without your variables; name what it needs with --read PATH, --write PATH, --network and --env"
	switch {
	case strings.Contains(reason, "(HTTP status 401)"):
		help = "; `toolhost mcp add` writes mcp.oauth with --oauth, and mcp.headers with --header"
	case s.url != "" && strings.Contains(reason, ".http.addresses"):
		help = "; `toolhost mcp add` writes it with --address"
	case strings.Contains(reason, "beginning an MCP session:"), strings.Contains(reason, "it has no tool that can be used"):
		help = "" // it lives and answers
	case s.url != "":
		help = "; toolhost connects to public addresses only, and to those of --address"
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf("the server %s does not work, and nothing is changed: %s%s", s.name, reason, help)}
}
