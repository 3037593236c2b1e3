package intruders_test

import (
	"crypto/ecdsa"
	"encoding/json"
	"strings"
	"testing"
	"time"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// jwts are attacks with JWTs. The issuer's own tokens identify red/ci.
func (w *world) jwts(t *testing.T) []attack {
	t.Helper()
	i, now := w.issuer, time.Now()
	genuine := i.token(t, nil, nil)
	parts := strings.Split(genuine, ".")
	other := newKey(t)
	signed := func(key *ecdsa.PrivateKey, header, change members) string {
		return sign(t, key, encode(t, changed(members{"alg": "ES256", "kid": "k1", "typ": "JWT"}, header)), encode(t, i.claims(change)))
	}
	payload, err := json.Marshal(i.claims(nil))
	if err != nil {
		t.Fatal(err)
	}
	twice := strings.Replace(string(payload), `"sub":"job"`, `"sub":"job","sub":"root"`, 1)
	whole, err := json.Marshal(map[string]string{"protected": parts[0], "payload": parts[1], "signature": parts[2]})
	if err != nil {
		t.Fatal(err)
	}
	var attacks []attack
	for _, c := range []struct{ name, token, reason string }{
		{"algorithm none", encode(t, members{"alg": "none", "typ": "JWT"}) + "." + parts[1] + ".", ""},
		{"algorithm none in other letters", encode(t, members{"alg": "nOnE", "typ": "JWT"}) + "." + parts[1] + ".", ""},
		{"algorithm none with a signature", encode(t, members{"alg": "none", "kid": "k1"}) + "." + parts[1] + "." + parts[2], ""},
		{"the public key as the secret of HS256", i.keyed(t), ""},
		{"an algorithm of another kind of key", i.token(t, nil, members{"alg": "RS256"}), ""},
		{"expired", i.token(t, members{"iat": now.Add(-time.Hour).Unix(), "exp": now.Add(-time.Minute).Unix()}, nil), "it expired at"},
		{"without expiry", i.token(t, members{"exp": nil}, nil), "the claim exp"},
		{"valid for a year", i.token(t, members{"exp": now.Add(365 * 24 * time.Hour).Unix()}, nil), "it is valid for"},
		{"valid later", i.token(t, members{"nbf": now.Add(time.Hour).Unix()}, nil), "it is valid from"},
		{"issued in the future", i.token(t, members{"iat": now.Add(time.Hour).Unix(), "exp": now.Add(2 * time.Hour).Unix()}, nil), "issued in the future"},
		{"for another audience", i.token(t, members{"aud": "payroll"}, nil), "its audience is"},
		{"for agentd", i.token(t, members{"aud": []string{"agentd"}}, nil), "its audience is"},
		{"without audience", i.token(t, members{"aud": nil}, nil), "its audience is"},
		{"of an unknown issuer", signed(other, nil, members{"iss": "https://intruder.example"}), "which the configuration does not have"},
		{"of a similar issuer", i.token(t, members{"iss": i.url + "/ids/"}, nil), "which the configuration does not have"},
		{"of an issuer that the token's keys belong to, too", i.token(t, members{"iss": i.url + "/names"}, nil), "preferred_username"},
		{"with the key of an intruder", signed(other, nil, nil), "the signature is wrong"},
		{"with an unknown key", signed(other, members{"kid": "k2"}, nil), "k2"},
		{"with a key that is a path", signed(other, members{"kid": "../../../dev/null"}, nil), "dev/null"},
		{"with its own key", signed(other, members{"jwk": jwk(other, "k1")}, nil), "brings its own key"},
		{"with the place of its keys", signed(other, members{"jku": i.url + "/intruder/keys", "kid": "k3"}, nil), ""},
		{"with a critical extension", i.token(t, nil, members{"crit": []string{"exp"}}), ""},
		{"of another type", i.token(t, nil, members{"typ": "logout+jwt"}), "its type is"},
		{"with another payload", parts[0] + "." + encode(t, i.claims(members{"sub": "root"})) + "." + parts[2], "the signature is wrong"},
		{"without signature", parts[0] + "." + parts[1] + ".", ""},
		{"truncated", genuine[:len(genuine)-3], ""},
		{"with a claim twice", sign(t, i.key, parts[0], encode(t, twice)), ""},
		{"in JSON", string(whole), ""},
		{"encrypted", genuine + ".a.b", "no JWT in compact form"},
		{"named like a user of the machine", i.token(t, members{"iss": i.url + "/names", "preferred_username": "uid:0"}, nil), "reserved"},
		{"named like a principal of another issuer", i.token(t, members{"iss": i.url + "/names", "preferred_username": i.url + "/ids#job"}, nil), "reserved"},
		{"named with a line end", i.token(t, members{"iss": i.url + "/names", "preferred_username": "ada\n"}, nil), "printable"},
		{"with a list of names", i.token(t, members{"iss": i.url + "/names", "preferred_username": []string{"ada"}}, nil), "is not a text"},
		{"with a mail address that is not verified", i.token(t, members{"iss": i.url + "/mails", "email": "ada@example.org", "email_verified": false}, nil), "has not verified"},
	} {
		attacks = append(attacks, stranger("tls", "a JWT "+c.name, c.reason, guess(bearer(c.token)...)))
	}
	return append(attacks,
		stranger("tokens", "a JWT at a listener for tokens", "does not accept a credential of the kind jwt", guess(bearer(genuine)...)),
		stranger("agentd", "a JWT of toolhost, at agentd", "its audience is", ask(genuine, runs+"ListRuns", &agentdv1.ListRunsRequest{})),
	)
}
