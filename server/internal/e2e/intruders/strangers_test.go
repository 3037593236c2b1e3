package intruders_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// guess is the request of a stranger: a call that would be seen if it were executed.
func guess(headers ...string) request {
	return request{tools + "Call", headers, []proto.Message{&toolhostv1.CallRequest{
		Tool: "counterplugin_write", Arguments: []byte(`{"key":"x"}`), Options: &toolhostv1.CallOptions{Session: "s"},
	}}, nil}
}

// strangers are attacks with bad metadata and bad tokens.
func (w *world) strangers(t *testing.T) []attack {
	t.Helper()
	ada, eve := w.tokens["ada"], w.tokens["eve"]
	id, secret := strings.Split(ada, "_")[1], strings.Split(ada, "_")[2]
	if _, err := w.toolhost.Revoke(t.Context(), strings.Split(w.tokens["lost"], "_")[1]); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the short token expires", func() bool {
		_, err := w.toolhost.Verify(t.Context(), w.tokens["short"])
		return err != nil
	})
	forwarded := []string{
		"x-forwarded-for", "127.0.0.1", "forwarded", "for=127.0.0.1", "x-real-ip", "127.0.0.1", "x-forwarded-user", "root", "x-remote-user", "root",
		"x-forwarded-client-cert", "URI=spiffe://acme/ns/ci", "x-principal", "boss", "toolhost-principal", "boss", "on-behalf-of", "red/ada",
	}
	unknown := func(to, name string) attack {
		return stranger(to, name, "nothing identifies the caller", guess(forwarded...))
	}
	return []attack{
		stranger("tls", "nothing", "nothing identifies the caller", guess()),
		stranger("unix-tokens", "nothing, at a socket for tokens", "nothing identifies the caller", guess()).from("unix"),
		unknown("tls", "names in the metadata of proxies"),
		unknown("tokens", "names in the metadata of proxies, at a listener for tokens"),
		stranger("tls", "the token in another header", "nothing identifies the caller", guess("proxy-authorization", "Bearer "+ada, "x-authorization", "Bearer "+ada, "cookie", "authorization="+ada)),
		stranger("tls", "an empty header", "does not begin with Bearer", guess("authorization", "")),
		stranger("tls", "an empty token", "", guess("authorization", "Bearer ")),
		stranger("tls", "another scheme", "does not begin with Bearer", guess("authorization", "Basic cm9vdDpyb290")),
		stranger("tls", "the scheme in lower case", "does not begin with Bearer", guess("authorization", "bearer "+eve)),
		stranger("tls", "two spaces", "characters that no credential has", guess("authorization", "Bearer  "+eve)),
		stranger("tls", "a good and a forged token", "several values", guess("authorization", "Bearer "+eve, "authorization", "Bearer forged")),
		stranger("tls", "a good and an empty token", "several values", guess("authorization", "Bearer "+eve, "authorization", "")),
		stranger("tls", "two tokens in one value", "characters that no credential has", guess("authorization", "Bearer "+eve+", Bearer "+ada)),
		stranger("tls", "a token with a parameter", "characters that no credential has", guess("authorization", "Bearer "+eve+";scope=admin")),
		stranger("tls", "a huge token", "at most", guess("authorization", "Bearer "+strings.Repeat("A", 9<<10))),
		stranger("tls", "a truncated token", "is truncated", guess(bearer(ada[:len(ada)-1])...)),
		stranger("tls", "the id of a token", "ill-formed", guess(bearer("toolhost_"+id)...)),
		stranger("tls", "a token with a letter of the secret changed", "is mistyped", guess(bearer("toolhost_"+id+"_"+flip(secret))...)),
		stranger("tls", "the secret of a token with the id of another", "is mistyped", guess(bearer("toolhost_"+strings.Split(eve, "_")[1]+"_"+secret)...)),
		stranger("tls", "the id in upper case", "ill-formed", guess(bearer("toolhost_"+strings.ToUpper(id)+"_"+secret)...)),
		stranger("tls", "a token of another toolhost", "is unknown", guess(bearer(w.tokens["elsewhere"])...)),
		stranger("tls", "a token of agentd", "of another program", guess(bearer(w.tokens["ada at agentd"])...)),
		stranger("tls", "the hash in the token file", "truncated", guess(bearer("toolhost_"+id+"_"+w.hash(t, id))...)),
		stranger("tls", "a revoked token", "was revoked at", guess(bearer(w.tokens["lost"])...)),
		stranger("tls", "an expired token", "expired at", guess(bearer(w.tokens["short"])...)),
		stranger("unix", "a revoked token of the server's own user", "was revoked at", guess(bearer(w.tokens["lost"])...)).from("unix"),
		stranger("plain", "a forged token at a plain listener", "is unknown", guess(bearer(w.tokens["elsewhere"])...)),
		stranger("mutual", "a token at a listener for certificates", "does not accept a credential of the kind token", guess(bearer(ada)...)).with(w, t, "spiffe://acme/ns/ci"),
		stranger("tls", "an RPC that does not exist", "nothing identifies the caller", request{method: admin + "Become"}),
		stranger("tls", "a service that does not exist", "nothing identifies the caller", request{method: "/toolhost.v2.Backdoor/Open"}),
		stranger("tls", "the descriptors", "nothing identifies the caller", request{method: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"}),
		stranger("agentd", "nothing, at agentd", "nothing identifies the caller", request{method: runs + "ListRuns", frames: []proto.Message{&agentdv1.ListRunsRequest{}}}),
		stranger("agentd", "a token of toolhost, at agentd", "of another program", ask(ada, runs+"ListRuns", &agentdv1.ListRunsRequest{})),
	}
}

// from sets where the audit log says that the attack came from.
func (a attack) from(where string) attack {
	a.line.From = where
	return a
}

// flip changes the first letter of a secret.
func flip(secret string) string {
	if secret[0] == 'A' {
		return "B" + secret[1:]
	}
	return "A" + secret[1:]
}

// hash returns what the file of tokens has of a token.
func (w *world) hash(t *testing.T, id string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.home, "state", "toolhost-tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, record, _ := bytes.Cut(data, []byte(id))
	return string(regexp.MustCompile(`[0-9a-f]{64}`).Find(record))
}
