package agentd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/agent/agentconfig"
	"github.com/toolhost/toolhost/internal/authn/authconfig"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/model/provider"
	"github.com/toolhost/toolhost/internal/trust"
)

// references checks the files that a configuration names, for `config check`: the scripts of scripted
// models, instructions, response schemas, memory files, and the certificates of listeners. The error has what agentd
// does not start without, or what a model would read as an error.
func references(c *agentconfig.Config, getenv func(string) string) (warnings []string, err error) {
	errs := []error{scripts(c), authconfig.MissingFiles(c.Listeners)}
	s := &setup{process: cli.Process{Getenv: getenv}, config: *c}
	for _, read := range []func([]string) error{s.texts().readInstructions, s.texts().readSchemas, s.texts().readMemory} {
		err := read(nil)
		if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
			warnings = append(warnings, untrusted.Error())
		} else {
			errs = append(errs, err)
		}
	}
	return warnings, errors.Join(errs...)
}

// scripts reads the script of each scripted model.
func scripts(c *agentconfig.Config) error {
	named := map[string]string{} // the keys that name a model, by PROVIDER:NAME
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
	var errs []error
	for _, model := range slices.Sorted(maps.Keys(named)) {
		if !strings.HasPrefix(model, "scripted:") {
			continue
		}
		if _, err := provider.Open(provider.Choice{Model: model, Getenv: func(string) string { return "" }}); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", named[model], err))
		}
	}
	return errors.Join(errs...)
}
