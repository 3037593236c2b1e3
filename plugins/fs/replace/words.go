package replace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	maxListed   = 10      // line numbers in a message
	maxNearest  = 3       // number of passages in a message
	maxPassage  = 12      // number of lines of a passage
	maxShown    = 200     // bytes of a line in a message
	maxCompared = 1 << 20 // bytes of a text that are searched for similar passages
	similar     = 0.5     // least similarity of two lines, from 0 to 1, for a passage to be shown
)

// tooMany is the error for a passage that occurs several times.
func tooMany(text string, found []int) error {
	lines := lineCounter{text: text, line: 1}
	var numbers []string
	for _, at := range found[:min(len(found), maxListed)] {
		numbers = append(numbers, strconv.Itoa(lines.at(at)))
	}
	more := ""
	if len(found) > maxListed {
		more = " and further ones"
	}
	return fmt.Errorf("old_text occurs %d times, from lines %s%s on; add lines around the one that you mean until it occurs once, or set replace_all to change all of them",
		len(found), strings.Join(numbers, ", "), more)
}

// notFound is the error for a missing passage. It shows similar passages.
func notFound(text, part string) error {
	const problem = "old_text occurs 0 times; it must be in the file to the letter, with its spaces and line breaks"
	text = text[:min(len(text), maxCompared)]
	if err := unlikeInLook(text, part); err != nil {
		return fmt.Errorf("%s: %w", problem, err)
	}
	lines := strings.Split(text, "\n")
	wanted := strings.Split(strings.Trim(part, "\n"), "\n")
	if at := unlikeInSpace(lines, wanted); at >= 0 {
		return fmt.Errorf("%s. Apart from white space it is there, so copy it from here:\n%s", problem, passage(lines, at, len(wanted), part))
	}
	near := nearest(lines, wanted)
	if len(near) == 0 {
		return fmt.Errorf("%s. No line is like it: is it the right file? read_file shows what is there", problem)
	}
	var b strings.Builder
	for _, at := range near {
		b.WriteString("\n" + passage(lines, at, len(wanted), part))
	}
	return fmt.Errorf("%s. The nearest lines:%s", problem, b.String())
}

// passage returns lines of a text with their numbers. Invisible characters that the wanted part
// lacks are escaped.
func passage(lines []string, at, count int, part string) string {
	var b strings.Builder
	end := min(at+count, at+maxPassage, len(lines))
	for i := max(at, 0); i < end; i++ {
		fmt.Fprintf(&b, "%6d: %s\n", i+1, escape(clip(lines[i]), part, invisible))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func clip(line string) string {
	if len(line) > maxShown {
		return strings.ToValidUTF8(line[:maxShown], "") + "…"
	}
	return line
}

// unlikeInSpace returns the index of the first lines that equal the wanted ones except for white
// space, or -1.
func unlikeInSpace(lines, wanted []string) int {
	bare := make([]string, len(wanted))
	for i, line := range wanted {
		bare[i] = strings.Join(strings.Fields(line), " ")
	}
	if strings.Join(bare, "") == "" {
		return -1
	}
	have := make([]string, len(lines))
	for i, line := range lines {
		have[i] = strings.Join(strings.Fields(line), " ")
	}
	for at := 0; at+len(bare) <= len(have); at++ {
		if slices.Equal(have[at:at+len(bare)], bare) {
			return at
		}
	}
	if len(bare) == 1 {
		return slices.IndexFunc(have, func(line string) bool { return strings.Contains(line, bare[0]) })
	}
	return -1
}

// nearest returns the starts of the most similar passages, best first. It searches for the longest
// wanted line, which is the most specific one.
func nearest(lines, wanted []string) []int {
	key := 0
	for i, line := range wanted {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(wanted[key])) {
			key = i
		}
	}
	pairs := pairsOf(wanted[key])
	type candidate struct {
		at    int
		score float64
	}
	var found []candidate
	for i, line := range lines {
		if score := pairs.likeness(line); score >= similar {
			found = append(found, candidate{at: max(0, i-key), score: score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var at []int
	for _, c := range found[:min(len(found), maxNearest)] {
		at = append(at, c.at)
	}
	return at
}

// pairs counts the pairs of adjacent bytes in a line.
type pairs struct {
	count map[[2]byte]int
	total int
}

func pairsOf(line string) pairs {
	line = strings.TrimSpace(line[:min(len(line), maxShown)])
	p := pairs{count: map[[2]byte]int{}}
	for i := 1; i < len(line); i++ {
		p.count[[2]byte{line[i-1], line[i]}]++
		p.total++
	}
	return p
}

// likeness returns the similarity of two lines, from 0 to 1.
func (p pairs) likeness(line string) float64 {
	line = strings.TrimSpace(line[:min(len(line), maxShown)])
	others := len(line) - 1
	// The similarity is highest if the longer line has all pairs of the shorter one.
	if p.total == 0 || others <= 0 || 2*float64(min(p.total, others)) < similar*float64(p.total+others) {
		return 0
	}
	seen := make(map[[2]byte]int, others)
	same := 0
	for i := 1; i < len(line); i++ {
		pair := [2]byte{line[i-1], line[i]}
		if seen[pair] < p.count[pair] {
			seen[pair]++
			same++
		}
	}
	return 2 * float64(same) / float64(p.total+others)
}
