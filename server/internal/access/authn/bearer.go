package authn

import (
	"errors"
	"fmt"
	"strings"
)

// maxBearer is the maximum size in bytes of a bearer credential, of any kind.
const maxBearer = 8 << 10

// Bearer returns the bearer credential in the values of an RPC's metadata "authorization", or "" if
// there is none.
//
// It accepts exactly one value of the form "Bearer TOKEN". Proxies and servers differ in how they
// treat several values, other schemes and extra spaces. If two of them disagree about which
// credential counts, one of them checks what the other does not use. So everything unusual is an
// error.
func Bearer(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", errors.New("the metadata authorization has several values")
	}
	token, found := strings.CutPrefix(values[0], "Bearer ")
	switch {
	case !found:
		return "", errors.New("the metadata authorization does not begin with Bearer and a space")
	case token == "":
		return "", errors.New("the bearer credential is empty")
	case len(token) > maxBearer:
		return "", fmt.Errorf("the bearer credential has %d bytes, and at most %d are accepted", len(token), maxBearer)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || r == ',' || r == ';' || r == '"' }):
		return "", errors.New("the bearer credential has characters that no credential has")
	}
	return token, nil
}
