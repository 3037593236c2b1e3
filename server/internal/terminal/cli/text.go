package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// Count returns a number with its noun, in the plural if needed: "1 tool", "2 tools".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ShortDigest returns enough hexadecimal digits of a digest to distinguish executables.
func ShortDigest(digest string) string {
	const digits = 12
	_, hex, _ := strings.Cut(digest, ":")
	return hex[:min(len(hex), digits)]
}

var wholeDigest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// ShortenDigests returns text with digests as short as ShortDigest makes them. -o json has all
// digits.
func ShortenDigests(text string) string { return wholeDigest.ReplaceAllStringFunc(text, ShortDigest) }

// Dash returns "-" for an empty cell, so that a reader can tell columns apart.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Were returns the text of the parameter what, followed by "was" if n is 1, and by "were"
// otherwise.
func Were(what string, n int) string {
	if n == 1 {
		return what + " was"
	}
	return what + " were"
}

const Toolhost = "toolhost"
