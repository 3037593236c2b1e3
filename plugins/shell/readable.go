package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// readable returns the text of an output as a reader of a terminal sees it, and a note that says
// what was changed; empty: nothing. Records that end in NUL become lines. Of what a carriage return
// or backspaces overwrite in a line, such as the frames of a progress bar, only the last remains.
func readable(data []byte) (shown, note string) {
	var notes []string
	text := string(data)
	if strings.ContainsRune(text, 0) && isRecords(data) {
		with := "\n"
		if strings.Contains(text, "\n") {
			with = "␀\n"
		}
		text = strings.ReplaceAll(text, "\x00", with)
		notes = append(notes, fmt.Sprintf("NUL bytes separate its records; each is shown as %q", with))
	}
	if strings.ContainsAny(text, "\r\b") {
		var overwritten int
		if text, overwritten = lastFrames(text); overwritten > 0 {
			notes = append(notes, fmt.Sprintf(`%d texts that carriage returns or backspaces overwrote are left out; 2>&1 | tr '\r\b' '\n\n' shows them`, overwritten))
		}
	}
	if len(notes) == 0 {
		return text, ""
	}
	return text, "[" + strings.Join(notes, ". ") + ".]"
}

// isRecords reports whether data with NUL bytes is text whose records end in NUL, such as the
// output of find -print0, or have NUL between them, such as that of git log -z. One NUL within text
// is no sign of either. Text in UTF-16 also has NUL bytes, at half of its places.
func isRecords(data []byte) bool {
	ends := bytes.Count(data, []byte{0})
	if !utf8.Valid(data) || 2*ends >= len(data) || ends == 1 && data[len(data)-1] != 0 {
		return false
	}
	return !bytes.ContainsFunc(data, func(r rune) bool {
		return r != 0 && r < ' ' && !strings.ContainsRune("\t\n\r\b\f\x1b", r) || r == 0x7f
	})
}

// lastFrames returns a text in which each line has only its last frame with visible characters, and
// how many others there were. It keeps CR LF.
func lastFrames(text string) (shown string, overwritten int) {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\r\n")
		end := line[len(content):]
		if strings.HasSuffix(end, "\r\n") {
			end = "\r\n"
		} else {
			end = strings.TrimLeft(end, "\r")
		}
		frames := strings.Split(content, "\r")
		frame := ""
		for _, f := range frames {
			if frame != "" && isBlank(f) {
				continue
			}
			if frame != "" {
				overwritten++
			}
			frame = f
		}
		frame, back := backspaced(frame)
		overwritten += back
		b.WriteString(frame)
		b.WriteString(end)
	}
	return b.String(), overwritten
}

func isBlank(frame string) bool {
	if strings.Contains(frame, "\x1b") {
		frame = escape.ReplaceAllString(frame, "")
	}
	return strings.TrimSpace(frame) == ""
}

// backspaced returns a text as it looks after its backspaces, and how many different characters
// they overwrote: a bold letter is written twice.
func backspaced(text string) (shown string, overwritten int) {
	if !strings.Contains(text, "\b") {
		return text, 0
	}
	var out []rune
	at := 0 // where the next character goes
	for _, r := range text {
		switch {
		case r == '\b':
			at = max(0, at-1)
			continue
		case at == len(out):
			out = append(out, r)
		default:
			if out[at] != r && out[at] != ' ' && out[at] != '_' {
				overwritten++
			}
			out[at] = r
		}
		at++
	}
	return strings.TrimRight(string(out), " "), overwritten
}
