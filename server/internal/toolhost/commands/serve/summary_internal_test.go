package serve

import (
	"maps"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/tool"
)

// The digests of settings differ where the work of two toolhosts does, and nowhere else.
func TestDigestsOfSettings(t *testing.T) {
	digests := func(text string) map[string]string {
		t.Helper()
		c, err := config.Parse("/etc/toolhost/toolhost.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return digestsOf(&c)
	}
	const usual = "calls: {max_timeout: 1h}\nplugin: {fs: {env: {KEY: first}, max_queue: 7}}\nfilters: [{filter: f, tools: [a]}]\n"
	base := digests(usual)
	if got := slices.Sorted(maps.Keys(base)); !slices.Equal(got, []string{"calls", "filters", "plugin"}) {
		t.Errorf("digests of %v", got)
	}
	for name, test := range map[string]struct {
		text string
		want []string // the keys that differ
	}{
		"the same":          {usual, nil},
		"of the machine":    {usual + "state: /elsewhere\nrecords: postgres://a@db/x\nlog: {level: debug}\ntelemetry: {listen: 127.0.0.1:1}\n", nil},
		"a hidden value":    {"calls: {max_timeout: 1h}\nplugin: {fs: {env: {KEY: second}, max_queue: 7}}\nfilters: [{filter: f, tools: [a]}]\n", nil},
		"a plugin":          {"calls: {max_timeout: 1h}\nplugin: {fs: {max_queue: 8}}\nfilters: [{filter: f, tools: [a]}]\n", []string{"plugin"}},
		"a list":            {"calls: {max_timeout: 1h}\nplugin: {fs: {max_queue: 7}}\nfilters: [{filter: f, tools: [b]}]\n", []string{"filters"}},
		"one key more":      {usual + "quotas: {tenant: {call_ids: 5}}\n", []string{"quotas"}},
		"one key less":      {"plugin: {fs: {max_queue: 7}}\nfilters: [{filter: f, tools: [a]}]\n", []string{"calls"}},
		"the default value": {usual + "new_plugins: ask\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			other := digests(test.text)
			var differ []string
			all := maps.Clone(base)
			maps.Copy(all, other)
			for _, key := range slices.Sorted(maps.Keys(all)) {
				if base[key] != other[key] {
					differ = append(differ, key)
				}
			}
			if !slices.Equal(differ, test.want) {
				t.Errorf("%v differ, want %v", differ, test.want)
			}
		})
	}
}

func TestContentOfPlugin(t *testing.T) {
	for want, p := range map[string]catalog.Plugin{
		"1.0.0 sha256:0123456789ab":           {Digest: "sha256:0123456789abcdef", Info: tool.Description{Version: "1.0.0"}},
		"sha256:0123456789ab, not trusted":    {Digest: "sha256:0123456789abcdef", Problem: "it waits", Untrusted: true},
		"1.0.0 sha256:0123456789ab, not used": {Digest: "sha256:0123456789abcdef", Info: tool.Description{Version: "1.0.0"}, Problem: "its name is taken"},
		"sha256:, not used":                   {Problem: "it cannot be read"},
	} {
		if got := contentOf(&p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
