//go:build more

package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/tool"
)

// whoIs returns the principal of a token at a node, or the error.
func (n *ledgerNode) whoIs(t *testing.T, token string) (string, error) {
	t.Helper()
	c, err := client.Dial(n.addr, client.WithToken(token), client.AllowPlainToken())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	caller, err := c.WhoAmI(t.Context())
	return caller.Principal, err
}

// A token that is made at one toolhost is valid at another one, and is revoked at both. Without
// their database, they do not know what is valid, and their own user is still served.
func TestTokensOfAllNodes(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 2)
	flags := func(n *ledgerNode) []string {
		return []string{"--config", filepath.Join(n.home, "toolhost.yaml"), "--state", n.state}
	}
	tokens := map[string]string{}
	for _, name := range []string{"ci", "kept"} {
		tokens[name] = nodes[0].issue(t, "toolhost", append(flags(nodes[0]), name)...)
		eventually.Holds(t, "both know "+name, func() bool {
			at0, err0 := nodes[0].whoIs(t, tokens[name])
			at1, err1 := nodes[1].whoIs(t, tokens[name])
			return err0 == nil && err1 == nil && at0 == name && at1 == at0
		})
	}
	nodes[0].do(t, append([]string{"token", "revoke", tokens["ci"]}, flags(nodes[0])...)...).says(t, " of ci at all toolhosts within 10 seconds")
	for _, n := range nodes {
		eventually.Holds(t, "the token is refused", func() bool {
			_, err := n.whoIs(t, tokens["ci"])
			return err != nil && strings.Contains(err.Error(), "not authenticated")
		})
		if _, err := n.whoIs(t, tokens["kept"]); err != nil {
			t.Errorf("another token: %v", err)
		}
	}
	server.Stop()
	eventually.Holds(t, "the node does not know whether the token is valid", func() bool {
		_, err := nodes[1].whoIs(t, tokens["kept"])
		return tool.KindOf(err) == tool.KindUnavailable && strings.Contains(err.Error(), "the database with its tokens")
	})
	if _, err := nodes[1].calls.WhoAmI(t.Context()); err != nil {
		t.Errorf("the user of the toolhost: %v", err)
	}
	server.Resume(t)
	eventually.Holds(t, "the token is valid again", func() bool {
		_, err := nodes[1].whoIs(t, tokens["kept"])
		return err == nil
	})
}

// Tokens in the state folder are neither read into the database, where one of them may have been
// revoked, nor silently ignored.
func TestTokensOfTheFolder(t *testing.T) {
	server := postgrestest.Start(t)
	node := startLedgerNodes(t, server.URL(server.Create(t)), 1)[0]
	node.stop(t)
	file := tokenstore.Path("toolhost", node.state)
	write(t, file, "{}", 0o600)
	if why := node.fails(t); !strings.Contains(why, file) || !strings.Contains(why, "move the file away") {
		t.Errorf("it says %s", why)
	}
}
