package commands

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// references checks the files that a configuration names, for `config check`: the scripts of
// scripted models, instructions, response schemas, memory files, and the certificates of listeners;
// and whether one person has several principals. The error has what agentd does not start without,
// or what a model would read as an error.
func references(c *agentconfig.Config, getenv func(string) string) (warnings []string, err error) {
	if err := regular(c); err != nil {
		return nil, err
	}
	errs := []error{
		scripts(c), authconfig.MissingFiles(c.Listeners, &c.HTTP), c.Nodes.Missing(), c.Console.TLS.Missing("console"),
		authconfig.Missing("console.login.client_secret_file", c.Console.Login.ClientSecretFile), missing(c.Notify.Files()), missing(c.Temporal.Files()),
	}
	files := &texts{getenv: getenv}
	for _, read := range files.readers() {
		err := read(c)
		if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
			warnings = append(warnings, untrusted.Error())
		} else {
			errs = append(errs, err)
		}
	}
	filled := *c
	if err := complete(&filled, getenv); err != nil {
		return warnings, errors.Join(append(errs, err)...)
	}
	warnings = append(warnings, credentials.SamePerson(program, filled.State, &c.Auth)...)
	return warnings, errors.Join(errs...)
}

// missing returns an error for each file that does not exist, by the key that names it.
func missing(files map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if _, err := os.Stat(files[key]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// regular refuses what is no regular file. A tool may have written the configuration, and to read a
// pipe could last for ever.
func regular(c *agentconfig.Config) error {
	paths := slices.Clone(c.Memory)
	for _, a := range c.Agents {
		paths = append(paths, append(slices.Clone(a.Memory), a.InstructionsFile, a.ResponseSchemaFile)...)
	}
	for model := range scripted(c) {
		paths = append(paths, strings.TrimPrefix(model, "scripted:"))
	}
	var errs []error
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if _, inWorkspace := agentconfig.WorkspaceFile(path); inWorkspace || path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			errs = append(errs, fmt.Errorf("%s is no regular file", path))
		}
	}
	return errors.Join(errs...)
}

// scripted returns the scripted models of a configuration, as scripted:FILE, with the key that
// names each.
func scripted(c *agentconfig.Config) map[string]string {
	named := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		named[c.Models[name].Provider+":"+c.Models[name].Model] = "models." + name
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		for _, model := range a.Models() {
			named[model] = "agents." + name
		}
	}
	named[c.Model] = "model"
	maps.DeleteFunc(named, func(model, _ string) bool { return !strings.HasPrefix(model, "scripted:") })
	return named
}

// scripts reads the script of each scripted model.
func scripts(c *agentconfig.Config) error {
	var errs []error
	named := scripted(c)
	for _, model := range slices.Sorted(maps.Keys(named)) {
		if _, err := provider.Open(provider.Choice{Model: model, Getenv: func(string) string { return "" }}); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", named[model], err))
		}
	}
	return errors.Join(errs...)
}
