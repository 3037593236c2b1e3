package commands

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
)

// `config check` reads the files that agentd or a model would otherwise be the first to read.
func TestReferences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.yaml": "turns:\n  - text: hello\n", "broken.yaml": "turns:\n  - txt: hello\n", "schema.json": "{\"type\": 1}", "empty.json": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"models: {m: {provider: scripted, model: good.yaml}}\nmodel: m\n":                                             "",
		"models: {m: {provider: scripted, model: broken.yaml}}\n":                                                     "models.m: ",
		"models: {m: {provider: scripted, model: none.yaml}}\n":                                                       "none.yaml",
		"agents: {a: {model: 'scripted:broken.yaml'}}\n":                                                              "agents.a: ",
		"model: 'scripted:" + dir + "/broken.yaml'\n":                                                                 "model: ",
		"agents: {a: {instructions_file: none.md}}\n":                                                                 "agents.a.instructions_file",
		"agents: {a: {response_schema_file: schema.json}}\n":                                                          "agents.a.response_schema_file",
		"agents: {a: {response_schema_file: empty.json}}\n":                                                           "is empty",
		"agents: {a: {instructions_file: pipe}}\n":                                                                    "pipe is no regular file",
		"models: {m: {provider: scripted, model: pipe}}\n":                                                            "pipe is no regular file",
		"notify: {targets: {chat: {kind: slack, secret_url: {file: none.url}}}}\n":                                    "notify.targets.chat.secret_url",
		"memory: [none.md]\n":                                                                                         "none.md",
		"listeners: [{address: '0.0.0.0:8443', tls: {certificate: none.pem, key: good.yaml}}]\n":                      "listeners[0].tls.certificate",
		"http: {listen: '0.0.0.0:8700', tls: {certificate: good.yaml, key: none.key}}\n":                              "http.tls.key",
		"console: {listen: '0.0.0.0:8600', url: 'https://a.example', tls: {certificate: none.pem, key: good.yaml}}\n": "console.tls.certificate",
		"auth: {issuers: [{issuer: 'https://i.example', audience: [a]}]}\nconsole: {listen: '127.0.0.1:8600', url: 'https://a.example', " +
			"login: {issuer: 'https://i.example', client_id: a, client_secret_file: none}}\n": "console.login.client_secret_file",
	} {
		c, err := agentconfig.Parse(filepath.Join(dir, "agentd.yaml"), []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, err = references(&c, func(name string) string { return map[string]string{"HOME": dir}[name] })
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// `config check` warns of a person with two credentials, which the tokens tell.
func TestReferencesFindOnePerson(t *testing.T) {
	state := t.TempDir()
	c, err := agentconfig.Parse(filepath.Join(state, "agentd.yaml"), []byte("state: "+state+"\nauth: {bindings: [{role: approver, principals: ['mail:ada@x']}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tokens := tokenstore.New("agentd", state)
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
