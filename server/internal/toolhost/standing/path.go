package standing

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanPath returns a path in the form in which paths are compared: without "." and empty names. ok
// is false if the text is not a plain path relative to the workspace, or if programs could read it
// in different ways.
//
// The problem: toolhost compares texts, and the tool opens files. Each text that a tool could take
// to another place than path.Clean does must be refused: "..", also where a system cuts spaces and
// dots from the ends of names, backslashes and drives of Windows, home folders, and control
// characters. An argument that the tool does not declare as a path could be anything, so that it
// must also be free of everything that a shell or a template replaces.
func cleanPath(text string, declared bool) (clean string, ok bool) {
	if text == "" || path.IsAbs(text) || text[0] == '~' || !utf8.ValidString(text) || strings.ContainsRune(text, '\\') {
		return "", false
	}
	if strings.TrimSpace(text) != text || len(text) > 1 && text[1] == ':' || !declared && strings.ContainsRune("-+@", rune(text[0])) {
		return "", false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) || !declared && !plain(r) {
			return "", false
		}
	}
	for name := range strings.SplitSeq(text, "/") {
		if strings.Trim(name, ". ") == "" && name != "" && name != "." {
			return "", false
		}
	}
	return path.Clean(text), true
}

// plain reports whether a character stands for itself in every shell, template, option and list.
func plain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/+@", r)
}
