package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// beginnings are how runtimes begin to say why they end a process: what comes after is most often where, which tells
// less.
func beginnings() []string {
	return []string{
		"panic: ", "fatal error: ", "runtime: out of memory", "SIG", // Go
		"Traceback (most recent call last)", // Python
		"Uncaught ", "node:internal",        // Node
		"thread '", "Exception in thread", "terminate called", // Rust, Java, C++
		"AddressSanitizer", "Segmentation fault",
	}
}

// announcements are those beginnings that say nothing themselves: why is in the first line after them that is not
// indented.
func announcements() []string {
	return []string{"Traceback (most recent call last)", "node:internal"}
}

// Explained reports whether the process said among its last lines why it ended.
func (e Exit) Explained() bool { return explanation(e.LastStderr) >= 0 }

// Telling returns at most n of the last lines: those from where the process began to say why it ended, if it did, else
// the last ones. It shares them with e.
func (e Exit) Telling(n int) []string {
	begin := explanation(e.LastStderr)
	if begin < 0 {
		begin = max(0, len(e.LastStderr)-n)
	}
	return e.LastStderr[begin:min(len(e.LastStderr), begin+n)]
}

// MostTelling returns the one line that says most of why the process ended, such as "panic: boom" or "KeyError: 'a'"; the
// last one if none does, empty if there is none.
func (e Exit) MostTelling() string {
	if i := mostTelling(e.LastStderr); i >= 0 {
		return e.LastStderr[i]
	}
	return ""
}

// Shortened returns the exit with at most limit bytes of its last lines, the ends of lines counted. What says why the
// process ended stays first of all, then the last lines; a line that is too long by itself is clipped.
func (e Exit) Shortened(limit int) Exit {
	size := 0
	for _, line := range e.LastStderr {
		size += len(line) + 1
	}
	if size > limit {
		e.LastStderr = shortened(e.LastStderr, limit)
	}
	return e
}

const leftOut = "[%d lines are left out]"

// LinesLeftOut returns the line that stands for n others in Exit.LastStderr.
func LinesLeftOut(n int) string { return fmt.Sprintf(leftOut, n) }

// linesLeftOut returns for how many others a line of LinesLeftOut stands, 0 for any other line.
func linesLeftOut(line string) int {
	n := 0
	if _, err := fmt.Sscanf(line, leftOut, &n); err != nil || line != LinesLeftOut(n) {
		return 0
	}
	return n
}

// explanation returns the index of the line in which a process last began to say why it ended, -1 if none is. What
// begins no line counts only if nothing else does: runtimes indent there what led to it.
func explanation(lines []string) int {
	indented := -1
	for i, line := range slices.Backward(lines) {
		switch {
		case begins(line) && i > 0 && begins(lines[i-1]): // one says of what kind the other is
		case begins(line):
			return i
		case begins(strings.TrimSpace(line)):
			indented = i
		}
	}
	return indented
}

func begins(line string) bool {
	if word, rest, _ := strings.Cut(line, " "); strings.HasPrefix(word, "SIG") {
		return strings.HasSuffix(word, ":") && rest != ""
	}
	return slices.ContainsFunc(beginnings(), func(b string) bool { return strings.HasPrefix(line, b) })
}

// mostTelling returns the index of the line that MostTelling returns, -1 if there is none.
func mostTelling(lines []string) int {
	begin := explanation(lines)
	if begin < 0 {
		return len(lines) - 1
	}
	if !slices.ContainsFunc(announcements(), func(a string) bool { return strings.HasPrefix(lines[begin], a) }) {
		return begin
	}
	after := slices.IndexFunc(lines[begin+1:], func(line string) bool {
		return line != "" && strings.TrimLeft(line, " \t") == line && linesLeftOut(line) == 0
	})
	return begin + 1 + after // the beginning itself, if there is none
}

// shortened returns the most telling of lines that together are larger than limit.
func shortened(lines []string, limit int) []string {
	notes := 2 * (len(LinesLeftOut(len(lines))) + 10) // one after the beginning, one after what is most telling
	kept := map[int]string{}
	if begin := explanation(lines); begin >= 0 && limit > 2*notes {
		limit -= notes
		for _, i := range []int{mostTelling(lines), begin} {
			if _, ok := kept[i]; !ok {
				kept[i] = clipLine(lines[i], limit/2)
				limit -= len(kept[i]) + 1
			}
		}
	}
	for i, line := range slices.Backward(lines) {
		if _, ok := kept[i]; ok || linesLeftOut(line) > 0 {
			continue
		}
		if len(line)+1 > limit {
			if len(kept) == 0 && limit > len(ellipsis) {
				kept[i] = clipLine(line, limit-1)
			}
			break
		}
		kept[i] = line
		limit -= len(line) + 1
	}
	return withGaps(lines, kept)
}

// withGaps returns the kept lines in their order, and notes in the place of what is missing between them.
func withGaps(lines []string, kept map[int]string) []string {
	var out []string
	missing := 0
	for i, line := range lines {
		text, ok := kept[i]
		switch {
		case !ok:
			missing += max(1, linesLeftOut(line))
			continue
		case missing > 0 && len(out) > 0:
			out = append(out, LinesLeftOut(missing))
		}
		out, missing = append(out, text), 0
	}
	return out
}

const ellipsis = "…"

// clipLine shortens a line to at most limit bytes, at the end of a rune, and says so.
func clipLine(line string, limit int) string {
	if len(line) <= limit {
		return line
	}
	end := max(0, limit-len(ellipsis))
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + ellipsis
}
