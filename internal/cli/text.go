package cli

import (
	"fmt"
	"regexp"
	"strings"
)

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// shortDigest is enough of a digest to tell two executables apart.
func ShortDigest(digest string) string {
	const digits = 12
	_, hex, _ := strings.Cut(digest, ":")
	return hex[:min(len(hex), digits)]
}

var wholeDigest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// abbreviated returns a text for people with digests as short as in tables. What asks for all digits is -o json.
func ShortenDigests(text string) string { return wholeDigest.ReplaceAllStringFunc(text, ShortDigest) }

// dash stands for an empty cell, so that columns can be told apart.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func Were(what string, n int) string {
	if n == 1 {
		return what + " was"
	}
	return what + " were"
}

const Toolhost = "toolhost"
