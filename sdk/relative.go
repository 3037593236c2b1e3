package sdk

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// relativeTo returns a text in which absolute paths inside a folder are relative to it, and the
// folder itself is ".". Errors of the operating system name absolute paths, and tools return such
// errors. A model cannot use the path of the workspace, and the path would tell readers of the
// conversation how the machine is set up.
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

// cutFolder removes a folder, without a slash at its end, from each place of a text where it begins
// a path.
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

// beginsPath reports whether a path can begin after a text. It cannot after an element of a path,
// which it would continue.
func beginsPath(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.HasSuffix(before, "file://") || !strings.ContainsRune("/.-", last) && !inName(last)
}

// continuesName reports whether the text after a name belongs to the name. A full stop does if more
// of the name follows it.
func continuesName(after string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, ".-"))
	return inName(first)
}

// endsPath reports whether a path ends where the rest of a text begins.
func endsPath(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(first) || strings.ContainsRune("'\"`:;,)]}>", first)
}

// inName reports whether a character is usual in file names.
func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
