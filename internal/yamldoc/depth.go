package yamldoc

import "strings"

// maxDepth bounds how deep values may be nested: the parser's time grows with its square, so that some kilobytes of
// brackets would keep it for minutes.
const maxDepth = 100

// depth returns at most how deep values are nested by signs. What is nested by indentation needs so much white space
// that the size of a file bounds it. Signs in texts count too, which does no harm: few open a hundred brackets.
func depth(data []byte) int {
	open, deepest, run := 0, 0, 0
	lineStart := true
	for _, c := range data {
		switch {
		case c == '[' || c == '{':
			open++
			deepest = max(deepest, open)
		case (c == ']' || c == '}') && open > 0:
			open--
		}
		switch {
		case c == '\n':
			lineStart, run = true, 0
		case lineStart && strings.IndexByte("-?:", c) >= 0:
			run++
			deepest = max(deepest, run)
		case c != ' ' && c != '\t':
			lineStart = false
		}
	}
	return deepest
}
