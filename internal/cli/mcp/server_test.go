package mcp

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// Two variables never get one secret, and each name is valid.
func TestSecretNames(t *testing.T) {
	names := map[string]string{}
	long := strings.Repeat("x", 80)
	for _, variable := range []string{"TOKEN", "X.A", "X/A", "X A", long + "1", long + "2"} {
		name := secretName("p", variable)
		if other, taken := names[name]; taken {
			t.Errorf("%q and %q have the secret %q", variable, other, name)
		}
		if err := tool.CheckName(name); err != nil {
			t.Errorf("%q: %v", variable, err)
		}
		names[name] = variable
	}
	if names["p_TOKEN"] != "TOKEN" {
		t.Errorf("the names are %v, want p_TOKEN among them", names)
	}
}

// A header without a colon may be a token, which an error must not show.
func TestHeaderWithoutAColon(t *testing.T) {
	var s server
	flags := addFlags{headers: []string{"secret-token"}}
	err := flags.fill(&s, []string{"https://example.com/mcp"}, nil)
	if err == nil || strings.Contains(err.Error(), "secret-token") || !strings.Contains(err.Error(), "a colon") {
		t.Errorf("got %v", err)
	}
}
