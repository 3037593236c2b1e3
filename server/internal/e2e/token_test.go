package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// dialWith returns a client of h that presents a token.
func dialWith(t *testing.T, h *toolhost, token string) *client.Client {
	t.Helper()
	c, err := client.Dial(h.addr, client.IgnoreEnvironment(), client.WithToken(token), client.AllowPlainToken())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// add calls a tool with arguments that it takes. A failed result is an error, too.
func add(t *testing.T, c *client.Client, name string) error {
	t.Helper()
	arguments := map[string]string{"calculator": `{"expression":"6*7"}`, "fs_list": `{"path":"."}`}[name]
	outcome, err := c.Call(t.Context(), tool.Call{Tool: name, Arguments: []byte(arguments)})
	if err == nil && outcome.Result.IsError {
		err = errors.New(outcome.Result.Text())
	}
	return err
}

// TestTokens lets a second team call one tool of a running toolhost with a token, until the token
// is revoked.
func TestTokens(t *testing.T) {
	h := prepare(t)
	putConfiguration(t, h, fmt.Sprintf(`auth:
  bindings:
    - {role: admin, principals: ["uid:%d"], tenants: [all]}
    - {role: caller, members_of: [red]}
`, os.Getuid()))
	h.serve(t)
	run := func(args ...string) string {
		t.Helper()
		out, err := command(t.Context(), h.home, nil, "toolhost", append([]string{"token"}, append(args, "--state", h.state)...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	token := run("create", "ci", "--tenant", "red", "--tools", "calculator")
	c := dialWith(t, h, token)
	tools, err := c.ListTools(t.Context(), tool.Query{})
	if err != nil || len(tools) != 1 || tools[0].Spec.Name != "calculator" {
		t.Errorf("the token sees %+v, %v", tools, err)
	}
	if err := add(t, c, "calculator"); err != nil {
		t.Error(err)
	}
	if err := add(t, c, "fs_list"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("a tool outside of the token's scope: %v", err)
	}
	if _, err := c.Admin().Plugins(t.Context()); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("listing plugins with the token: %v", err)
	}
	run("revoke", token)
	if err := add(t, c, "calculator"); err == nil {
		t.Error("an open stream of the revoked token takes a call")
	}
	if _, err := dialWith(t, h, token).ListTools(t.Context(), tool.Query{}); err == nil || strings.Contains(err.Error(), "revoked") {
		t.Errorf("a new connection with the revoked token: %v", err)
	}
	if log := h.stderr.String(); !strings.Contains(log, "was revoked at") || strings.Contains(log, token[20:]) {
		t.Errorf("the log does not have the reason, or has the token:\n%s", log)
	}
	file, err := os.ReadFile(filepath.Join(h.state, "toolhost-tokens.json"))
	if err != nil || strings.Contains(string(file), token[20:]) {
		t.Errorf("the file: %v", err)
	}
}

// TestIssuer lets a job of a CI service call tools with the JWT of its issuer, also after the
// issuer has rotated its keys.
func TestIssuer(t *testing.T) {
	issuer := &oidctest.Server{}
	var mu sync.Mutex // held while the keys are read or changed
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		issuer.ServeHTTP(w, r)
	}))
	defer server.Close()
	issuer.SetIssuer(server.URL)
	newKey := func(id string) func(subject string) string {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		issuer.PublicKeys = append(issuer.PublicKeys, oidctest.PublicKey{PublicKey: key.Public(), KeyID: id, Algorithm: "ES256"})
		return func(repository string) string {
			return oidctest.SignIDToken(key, id, "ES256", fmt.Sprintf(`{"iss":%q,"aud":"toolhost","sub":"job","repository":%q,"iat":%d,"exp":%d}`,
				server.URL, repository, time.Now().Unix(), time.Now().Add(time.Minute).Unix()))
		}
	}
	sign := newKey("k1")
	h := prepare(t)
	ca := filepath.Join(h.home, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	putConfiguration(t, h, fmt.Sprintf(`auth:
  issuers:
    - {issuer: %q, audience: [toolhost], ca: ca.pem}
  principals:
    - {issuer: %[1]q, claims: {repository: acme/*}, name: ci, tenant: acme}
  bindings:
    - {role: admin, principals: ["uid:%d"], tenants: [all]}
    - {role: caller, principals: [acme/ci]}
`, server.URL, os.Getuid()))
	h.serve(t)
	if err := add(t, dialWith(t, h, sign("acme/tools")), "calculator"); err != nil {
		t.Error(err)
	}
	if err := add(t, dialWith(t, h, sign("evil/tools")), "calculator"); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("a job of another repository: %v", err)
	}
	sign = newKey("k2")
	if err := add(t, dialWith(t, h, sign("acme/tools")), "calculator"); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}
