// Package crashoutput finds out why a process ended from the last lines of its standard error.
//
// A crash of a runtime prints the reason first and then a long trace of where it happened. The last
// lines of the output, which toolhost keeps, therefore rarely say why. The package recognizes how
// the runtimes of common languages begin such an explanation. It only guesses: every function
// returns the last lines if it recognizes nothing. A plugin writes these lines, so callers only
// show them to people.
package crashoutput

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// beginnings returns how runtimes begin to explain why they end a process.
func beginnings() []string {
	return []string{
		"panic: ", "fatal error: ", "runtime: out of memory", "SIG", // Go
		"Traceback (most recent call last)", "Fatal Python error: ", // Python
		"Uncaught ", "node:internal", // Node
		"thread '", "Exception in thread", "terminate called", // Rust, Java, C++
		"AddressSanitizer", "Segmentation fault",
	}
}

// announcements returns the beginnings that contain no reason. The reason is in the first line
// after them without an indent.
func announcements() []string {
	return []string{"Traceback (most recent call last)", "node:internal"}
}

// Explained reports whether the process said in its last lines why it ended.
func Explained(lines []string) bool { return explanation(lines) >= 0 }

// Excerpt returns at most n of the last lines: the lines from the beginning of the explanation, if
// there is one, else the last ones. It shares memory with lines.
func Excerpt(lines []string, n int) []string {
	begin := explanation(lines)
	if begin < 0 {
		begin = max(0, len(lines)-n)
	}
	return lines[begin:min(len(lines), begin+n)]
}

// Reason returns the line that best says why the process ended, such as "panic: boom" or "KeyError:
// 'a'". If no line does, it returns the last one, and "" if there is none.
func Reason(lines []string) string {
	if i := reason(lines); i >= 0 {
		return lines[i]
	}
	return ""
}

// Shorten returns at most limit bytes of the last lines, including a byte for each end of a line.
// It keeps the explanation first and the last lines second. Of the first line that does not fit, it
// keeps the beginning and the end.
func Shorten(lines []string, limit int) []string {
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	if size > limit {
		return shorten(lines, limit)
	}
	return lines
}

const leftOut = "[%d lines are left out]"

// LeftOut returns the line that replaces n others in tool.Exit.LastStderr.
func LeftOut(n int) string { return fmt.Sprintf(leftOut, n) }

// linesLeftOut returns the number of lines that a line of LeftOut replaces. It returns 0 for any
// other line.
func linesLeftOut(line string) int {
	n := 0
	if _, err := fmt.Sscanf(line, leftOut, &n); err != nil || line != LeftOut(n) {
		return 0
	}
	return n
}

// explanation returns the index of the line with the last beginning of an explanation, or -1. An
// indented beginning counts only if no other line has a beginning, because runtimes indent the
// causes of the last error.
func explanation(lines []string) int {
	indented := -1
	for i, line := range slices.Backward(lines) {
		switch {
		case begins(line) && i > 0 && begins(lines[i-1]): // the line before is the heading of this one
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

// reason returns the index of the line that Reason returns, or -1 if there is no line.
func reason(lines []string) int {
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

// shorten is Shorten for lines that are together larger than limit.
func shorten(lines []string, limit int) []string {
	notes := 2 * (len(LeftOut(len(lines))) + 10) // one after the beginning, one after the reason
	kept := map[int]string{}
	if begin := explanation(lines); begin >= 0 && limit > 2*notes {
		limit -= notes
		for _, i := range []int{reason(lines), begin} {
			if _, ok := kept[i]; !ok {
				kept[i] = clipMiddle(lines[i], limit/2)
				limit -= len(kept[i]) + 1
			}
		}
	}
	for i, line := range slices.Backward(lines) {
		if _, ok := kept[i]; ok || linesLeftOut(line) > 0 {
			continue
		}
		if len(line)+1 > limit {
			if len(kept) == 0 && limit > len(ellipsis) || limit > clippedLine {
				kept[i] = clipMiddle(line, limit-1)
			}
			break
		}
		kept[i] = line
		limit -= len(line) + 1
	}
	return withGaps(lines, kept)
}

// withGaps returns the kept lines in order, with a note in each gap between them.
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
			out = append(out, LeftOut(missing))
		}
		out, missing = append(out, text), 0
	}
	return out
}

const ellipsis = "…"

// clippedLine is the smallest number of bytes for which Shorten includes a part of a line after
// other lines. A shorter part contains too little information.
const clippedLine = 100

// clipMiddle shortens a line to at most limit bytes: it keeps the beginning and the end.
func clipMiddle(line string, limit int) string {
	if len(line) <= limit {
		return line
	}
	begin := clipLine(line, (limit+len(ellipsis))/2)
	end := len(line) - (limit - len(begin))
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	return begin + line[end:]
}

// clipLine shortens a line to at most limit bytes, at the end of a rune, and marks the cut.
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
