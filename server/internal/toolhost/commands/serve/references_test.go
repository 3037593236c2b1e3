package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// A name that no plugin has is a warning. A filter that every call has to pass and that no plugin
// has is an error, if all plugins have said what they have.
func TestReferencesToNames(t *testing.T) {
	all := catalog.Declared{Plugins: map[string]bool{"calculator": true}, Filters: map[string]bool{"redact": true}, Complete: true}
	some, none := all, catalog.Declared{Complete: true}
	some.Complete = false
	for name, tc := range map[string]struct {
		text     string
		known    catalog.Declared
		warns    string // empty: nothing
		refuses  string
		warnings int
	}{
		"all there":                    {"plugin: {calculator: {disabled: true}}\nfilters: [{filter: redact}]\n", all, "", "", 0},
		"a plugin":                     {"plugin: {calculatr: {disabled: true}}\n", all, `plugin.calculatr: no plugin "calculatr" is there, so that this has no effect; did you mean calculator?`, "", 1},
		"a grant of a secret":          {"secrets: {KEY: {env: KEY, plugins: [calculatr]}}\n", all, "secrets.KEY.plugins: no plugin", "", 1},
		"the plugin of a tool":         {"tools: {add: {plugin: calculatr}}\n", all, "tools.add.plugin: no plugin", "", 1},
		"a filter":                     {"filters: [{filter: redct}]\n", all, "", `filters[0].filter: no plugin has the filter "redct", so that every call that has to pass it would fail; did you mean redact?`, 0},
		"a filter that may be skipped": {"filters: [{filter: redct, when_it_fails: skip}]\n", all, "calls skip it", "", 1},
		"a filter that may come":       {"filters: [{filter: redct}]\n", some, "calls that have to pass it fail", "", 1},
		"no plugins yet":               {"filters: [{filter: redct}]\n", none, "calls that have to pass it fail", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse(filepath.Join(t.TempDir(), config.FileName), []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := checkReferences(&c, tc.known)
			if len(warnings) != tc.warnings || !strings.Contains(strings.Join(warnings, "\n"), tc.warns) {
				t.Errorf("the warnings are %q", warnings)
			}
			if tc.refuses == "" && err != nil || tc.refuses != "" && (err == nil || !strings.Contains(err.Error(), tc.refuses)) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// `config check` refuses folders and files that are not there, and says that names are not checked
// before toolhost has asked the plugins.
func TestReferencesToFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"plugins: [there, gone]\n":                                                                  "plugins[1]: there is no folder " + filepath.Join(dir, "gone"),
		"plugins: [there]\nworkspace: {folder: away}\n":                                             "workspace.folder: there is no folder " + filepath.Join(dir, "away"),
		"listeners: [{address: \"0.0.0.0:8443\", tls: {certificate: a.pem, key: there}}]\n":         "listeners[0].tls.certificate: there is no file " + filepath.Join(dir, "a.pem"),
		"http: {listen: \"0.0.0.0:8700\", tls: {certificate: there, key: a.key}}\n":                 "http.tls.key: there is no file " + filepath.Join(dir, "a.key"),
		"plugins: [there]\nworkspace: {folder: there}\nstate: state\nfilters: [{filter: redact}]\n": "",
	} {
		c, err := config.Parse(filepath.Join(dir, config.FileName), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		warnings, err := references(&c, func(string) string { return "" })
		if want != "" && (err == nil || err.Error() != want) || want == "" && (err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "not checked")) {
			t.Errorf("%q: %q, %v", text, warnings, err)
		}
	}
}

// `config check` warns of a person with two credentials, which the tokens tell.
func TestReferencesFindOnePerson(t *testing.T) {
	state := t.TempDir()
	c, err := config.Parse(filepath.Join(state, "toolhost.yaml"), []byte("state: "+state+"\nauth: {bindings: [{role: approver, principals: ['mail:ada@x']}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tokens := tokenstore.New("toolhost", state)
	defer tokens.Close()
	warned := func() string {
		t.Helper()
		warnings, err := references(&c, func(name string) string { return map[string]string{"HOME": state}[name] })
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(warnings, "\n")
	}
	const want = `- {certificate: "mail:ada@x", name: "ada"}`
	if got := warned(); strings.Contains(got, want) {
		t.Errorf("without a token: %s", got)
	}
	_, token, err := tokens.Create(t.Context(), tokenstore.Record{Name: "ada", Tenant: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if got := warned(); !strings.Contains(got, want) {
		t.Errorf("with a token: %s", got)
	}
	if _, err := tokens.Revoke(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	if got := warned(); strings.Contains(got, want) {
		t.Errorf("with a token that is revoked: %s", got)
	}
}
