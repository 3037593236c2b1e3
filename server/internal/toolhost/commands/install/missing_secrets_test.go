package install

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/tool"
)

// An installation says which secrets its tools need and do not get.
func TestMissingSecrets(t *testing.T) {
	p := &catalog.Plugin{Info: tool.Description{Name: "weather"}}
	for name, secrets := range map[string][]string{"today": {"KEY", "TOKEN"}, "past": {"KEY", "ARCHIVE"}, "here": nil} {
		p.Tools = append(p.Tools, &catalog.Tool{Spec: tool.Spec{Name: name, RequiresAuth: secrets}})
	}
	options := serve.Options{Config: config.Default()}
	options.Secrets = map[string]config.Secret{"KEY": {Plugins: []string{"weather"}}, "TOKEN": {Plugins: []string{"other"}}}
	want := []string{
		"the secret ARCHIVE, which past needs, is not granted; in toolhost.yaml: secrets: {ARCHIVE: {env: ARCHIVE, plugins: [weather]}}",
		"the secret TOKEN, which today needs, is not granted; add the plugin to secrets.TOKEN.plugins of toolhost.yaml",
	}
	if diff := cmp.Diff(want, missingSecrets(p, options)); diff != "" {
		t.Error(diff)
	}
}
