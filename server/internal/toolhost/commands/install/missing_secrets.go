package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
)

// missingSecrets says which secrets tools of a plugin need that the configuration does not grant to
// the plugin. Until they are granted, calls of these tools fail.
func missingSecrets(p *catalog.Plugin, options serve.Options) []string {
	needed := map[string][]string{} // tools by the names of secrets
	for _, t := range p.Tools {
		for _, name := range t.Spec.RequiresAuth {
			if !slices.Contains(options.Secrets[name].Plugins, p.Info.Name) {
				needed[name] = append(needed[name], t.Spec.Name)
			}
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		add := fmt.Sprintf("add the plugin to secrets.%s.plugins of toolhost.yaml", name)
		if _, known := options.Secrets[name]; !known {
			add = fmt.Sprintf("in toolhost.yaml: secrets: {%s: {env: %s, plugins: [%s]}}", name, name, p.Info.Name)
		}
		all = append(all, fmt.Sprintf("the secret %s, which %s needs, is not granted; %s", name, strings.Join(needed[name], ", "), add))
	}
	return all
}
