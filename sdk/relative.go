package sdk

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// relativeTo returns a text in which absolute paths of files in a folder are relative to it, and the folder itself is ".".
// Tools pass on errors of the operating system, which name absolute paths. A model has no use for the part that leads to
// the workspace, and a reader of the conversation would learn from it how the machine is laid out.
func relativeTo(folder, text string) string {
	if folder == "" || filepath.Dir(folder) == folder {
		return text
	}
	text = cutFolder(filepath.Clean(folder), text)
	if resolved, err := filepath.EvalSymlinks(folder); err == nil && filepath.Dir(resolved) != resolved {
		text = cutFolder(resolved, text)
	}
	return text
}

// cutFolder takes a folder, which ends in no slash, out of a text wherever it stands as the beginning of a path.
func cutFolder(folder, text string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, folder)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		before, after := text[:at], text[at+len(folder):]
		if !beginsPath(before) || continuesName(after) {
			b.WriteString(before + folder)
			text = after
			continue
		}
		b.WriteString(strings.TrimSuffix(before, "file://"))
		if text = strings.TrimLeft(after, "/"); endsPath(text) {
			b.WriteString(".")
		}
	}
}

// beginsPath reports whether a path can begin after a text: after an element of a path it would go on.
func beginsPath(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.HasSuffix(before, "file://") || !strings.ContainsRune("/.-", last) && !inName(last)
}

// continuesName reports whether a text that follows a name belongs to the name. A full stop does if a name follows it.
func continuesName(after string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, ".-"))
	return inName(first)
}

// endsPath reports whether a path ends where the rest of a text begins.
func endsPath(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(first) || strings.ContainsRune("'\"`:;,)]}>", first)
}

// inName reports whether a character is one of those that names of files mostly consist of.
func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
