package cli

import (
	"slices"
	"strings"
)

// beginnings are how runtimes begin to say why they end: what comes after is where, which is less telling.
func beginnings() []string {
	return []string{
		"panic: ", "fatal error: ", "runtime: out of memory", "SIG", // Go
		"Traceback (most recent call last)", // Python
		"Uncaught ", "node:internal",        // Node
		"thread '", "Exception in thread", "terminate called", // Rust, Java, C++
		"AddressSanitizer", "Segmentation fault",
	}
}

// Telling returns at most n of the last lines that a process wrote before it crashed: those from where it began to say
// why, if it did, else the last ones.
func Telling(lines []string, n int) []string {
	begin := max(0, len(lines)-n)
	if i := explanation(lines); i >= 0 {
		begin = i
	}
	return lines[begin:min(len(lines), begin+n)]
}

// Explains reports whether a process said among these lines why it ended.
func Explains(lines []string) bool { return explanation(lines) >= 0 }

// explanation returns the index of the line in which a process began to say why it ended, -1 if none is.
func explanation(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		return slices.ContainsFunc(beginnings(), func(b string) bool { return strings.HasPrefix(strings.TrimSpace(line), b) })
	})
}
