package standing

import (
	"net/url"
	"strconv"
	"strings"
)

// originOf returns the origin of an http or https URL, in lower case and without the default port,
// and what follows it. ok is false if the text is no such URL, or if programs could read it in
// different ways.
//
// The problem: toolhost reads the URL, and the tool reads it again with another parser. So an
// authority may have only the characters that all parsers read alike. A user, an escape, a
// backslash, a space or a letter outside of ASCII is refused, although some of them are valid. A
// trailing dot stays, which makes it another host.
func originOf(text string) (origin, rest string, ok bool) {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] == 0x7f || text[i] == '\\' {
			return "", "", false
		}
	}
	scheme, after, found := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return "", "", false
	}
	authority := after
	if end := strings.IndexAny(after, "/?#"); end >= 0 {
		authority, rest = after[:end], after[end:]
	}
	authority = strings.ToLower(authority)
	if authority == "" || strings.Trim(authority, "abcdefghijklmnopqrstuvwxyz0123456789-._:[]") != "" {
		return "", "", false
	}
	parsed, err := url.Parse(scheme + "://" + authority)
	if err != nil || parsed.Host != authority || parsed.Hostname() == "" {
		return "", "", false
	}
	port := parsed.Port()
	if strings.HasSuffix(authority, ":") {
		return "", "", false
	}
	if port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || strconv.FormatUint(number, 10) != port || number == 0 {
			return "", "", false
		}
		if scheme == "http" && number == 80 || scheme == "https" && number == 443 {
			authority = strings.TrimSuffix(authority, ":"+port)
		}
	}
	return scheme + "://" + authority, rest, true
}

// plainURL reports whether what follows the origin of a URL stands for itself in every shell,
// template and list. An argument that the tool does not declare as a URL could be put into any of
// them.
func plainURL(rest string) bool {
	for _, r := range rest {
		if !plain(r) && !strings.ContainsRune("?#=%:~", r) {
			return false
		}
	}
	return true
}
