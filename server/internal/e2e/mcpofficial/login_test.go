//go:build mcp

package mcpofficial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// credentials are what a scenario of OAuth gives its client.
type credentials struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	Issuer       string `json:"issuer"`
}

// oauthOf returns the keys of mcp.oauth for a scenario, and writes its secrets into files of the
// folder.
func oauthOf(ctx context.Context, home, server, scenario string) (map[string]string, error) {
	if !strings.HasPrefix(scenario, "auth/") {
		return nil, nil
	}
	var c credentials
	if text := os.Getenv(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return nil, err
		}
	}
	if c.ClientID == "" {
		return map[string]string{"client_metadata": "https://conformance-test.local/client-metadata.json"}, nil
	}
	if c.Issuer == "" {
		issuer, err := issuerOf(ctx, server)
		if err != nil {
			return nil, err
		}
		c.Issuer = issuer
	}
	keys := map[string]string{"client_id": c.ClientID, "issuer": c.Issuer}
	if c.ClientSecret != "" {
		keys["client_secret"] = "secret"
	}
	if c.PrivateKey != "" {
		keys["private_key"] = "key"
	}
	if strings.HasPrefix(scenario, "auth/client-credentials-") {
		keys["grant"] = "client_credentials"
	}
	return keys, errors.Join(
		os.WriteFile(filepath.Join(home, "secret"), []byte(c.ClientSecret+"\n"), 0o600),
		os.WriteFile(filepath.Join(home, "key"), []byte(c.PrivateKey+"\n"), 0o600),
	)
}

// issuerOf returns the authorization server of an MCP server, as an operator reads it in the
// documentation of the server.
func issuerOf(ctx context.Context, server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Scheme+"://"+u.Host+"/.well-known/oauth-protected-resource/mcp", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var metadata struct {
		Servers []string `json:"authorization_servers"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&metadata); err != nil || len(metadata.Servers) == 0 {
		return "", fmt.Errorf("no authorization server: %w", err)
	}
	return metadata.Servers[0], nil
}

// login logs in to the server, as a person does whose browser agrees to everything.
func login(ctx context.Context, c *client.Client) error {
	started, err := c.BeginLogin(ctx, plugin, "http://127.0.0.1:8912/callback")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, started.BrowserURL, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return fmt.Errorf("the page of the authorization server: %s: %w", resp.Status, err)
	}
	q := to.Query()
	_, err = c.FinishLogin(ctx, plugin, started.ID, tool.LoginAnswer{
		Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss"), Error: q.Get("error"),
	})
	return err
}

// useWithLogin calls the tools of a server that requires a login, each twice. It logs in when
// toolhost says that it has to, up to three times, as a person who then gives up.
func useWithLogin(ctx context.Context, c *client.Client) error {
	var last error
	for range 3 {
		tools, err := c.ListTools(ctx, tool.Query{})
		if err != nil {
			return err
		}
		last = nil
		if len(tools) == 0 {
			last = errors.New("the server offers no tools")
		}
		for _, t := range append(tools, tools...) {
			outcome, err := c.Call(ctx, tool.Call{Tool: t.Spec.Name, Arguments: json.RawMessage(`{}`)})
			if err == nil && outcome.Err != nil {
				err = outcome.Err
			}
			if err != nil {
				last = err
				break
			}
		}
		if last == nil {
			return nil
		}
		fmt.Fprintln(os.Stderr, "before a login:", last)
		if err := login(ctx, c); err != nil {
			return err
		}
		if _, err := c.Admin().ReloadPlugins(ctx); err != nil {
			return err
		}
	}
	return last
}
