package mcpauth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parseScopes returns the scopes in a text of a foreign server, without repetition. It fails if one
// is not a scope as RFC 6749 defines it.
func parseScopes(text string) ([]string, error) {
	if len(text) > maxText {
		return nil, errors.New("the server asks for too many scopes")
	}
	return checkScopes(strings.Fields(text))
}

func checkScopes(scopes []string) ([]string, error) {
	var out []string
	for _, s := range scopes {
		if s == "" || len(s) > maxForeign || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }) {
			return nil, fmt.Errorf("%q is not a scope", Foreign(s))
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) > maxScopes {
		return nil, fmt.Errorf("the server asks for more than %d scopes", maxScopes)
	}
	return out, nil
}

// union returns the scopes of both lists, in order.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// beyond returns the scopes that are not in permitted. An empty permitted permits everything.
func beyond(scopes, permitted []string) (out []string) {
	if len(permitted) == 0 {
		return nil
	}
	for _, s := range scopes {
		if !slices.Contains(permitted, s) {
			out = append(out, s)
		}
	}
	return out
}

// offlineAccess is the scope with which OpenID Connect servers grant a refresh token.
const offlineAccess = "offline_access"

// request returns the scopes that a login requests, by the order that MCP prescribes: those that
// the server named when it refused a request, or else those in the metadata of the resource, or
// else none. had are the scopes of the present login, which a person need not grant a second time.
func (s Server) request(had, challenged, listed, supported []string) ([]string, error) {
	scopes := challenged
	if len(scopes) == 0 {
		scopes = listed
	}
	if len(s.OAuth.Scopes) > 0 {
		if more := beyond(challenged, s.OAuth.Scopes); len(more) > 0 {
			return nil, fmt.Errorf("the server asks for the scopes %s, which mcp.oauth.scopes in plugin.yaml does not list", strings.Join(more, " "))
		}
		scopes = s.OAuth.Scopes
	}
	if scopes = union(had, scopes); s.OAuth.Grant != GrantClient && slices.Contains(supported, offlineAccess) {
		scopes = union(scopes, []string{offlineAccess})
	}
	return checkScopes(scopes)
}
