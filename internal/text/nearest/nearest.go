// Package nearest finds the names that resemble a misspelled name.
//
// It compares names without case and separators first: database.query, databaseQuery and
// database_query are the same words. Then it counts the wrong letters: missing, added, replaced, or
// swapped with their neighbor. The package does not know what the names stand for. Callers pass
// only names that may be shown.
package nearest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxName bounds the bytes of a name that are compared. Names of tools have at most 64.
	maxName = 128
	// maxWrong is the most letters of a name that may be wrong, however long the name is.
	maxWrong = 3
)

// Names returns the candidates that resemble a name, the nearest first, and those that are equally
// near ordered by name. The parameter most is the largest number of names to return. Names takes
// about a microsecond for each candidate.
func Names(name string, candidates []string, most int) []string {
	found := byLetters(name, candidates)
	if len(found) == 0 {
		found = byWords(name, candidates)
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name)) })
	names := make([]string, 0, min(most, len(found)))
	for _, f := range found[:min(most, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// Question returns a question with the candidates that resemble a name, followed by a space. It is
// empty if none does.
func Question(name string, candidates []string) string {
	const most = 3
	names := Names(name, candidates, most)
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	if len(names) == 0 {
		return ""
	}
	last := len(names) - 1
	if last == 0 {
		return "did you mean " + names[0] + "? "
	}
	return "did you mean " + strings.Join(names[:last], ", ") + " or " + names[last] + "? "
}

// near is a candidate that resembles the name.
type near struct {
	name     string
	distance int
}

// byLetters returns the candidates that differ in few letters.
func byLetters(name string, candidates []string) (found []near) {
	want, folded := appendFolded(nil, name), []rune{}
	if len(want) == 0 {
		return nil
	}
	for _, candidate := range candidates {
		folded = appendFolded(folded[:0], candidate)
		allowed := allowed(max(len(want), len(folded)))
		if d := Distance(want, folded, allowed); d <= allowed && len(folded) > 0 {
			found = append(found, near{candidate, d})
		}
	}
	return found
}

// allowed returns the number of letters of a name that may be wrong. A short name with a third of
// its letters wrong is another word.
func allowed(length int) int {
	if length == 3 {
		return 1
	}
	return min(maxWrong, length/4)
}

// byWords returns the candidates that have the words of a name in another order, or all but one of
// them.
func byWords(name string, candidates []string) (found []near) {
	want := words(name)
	for _, candidate := range candidates {
		few, many := want, words(candidate)
		if len(few) > len(many) {
			few, many = many, few
		}
		missing := len(many) - len(few)
		if len(few) < 2 || missing > 1 || slices.ContainsFunc(few, func(word string) bool { return !slices.Contains(many, word) }) {
			continue
		}
		found = append(found, near{candidate, missing})
	}
	return found
}

// Fold returns a name without case and separators. Names that differ only by those have equal
// results.
func Fold(name string) string { return string(appendFolded(nil, name)) }

// appendFolded appends Fold of a name.
func appendFolded(out []rune, name string) []rune {
	for _, r := range name[:min(len(name), maxName)] {
		if isPartOfWord(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

func isPartOfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// words splits a name at separators and in camel case, and folds the case.
func words(name string) []string {
	var all []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			all, word = append(all, string(word)), word[:0]
		}
	}
	var last rune
	for _, r := range name[:min(len(name), maxName)] {
		if !isPartOfWord(r) || unicode.IsUpper(r) && !unicode.IsUpper(last) {
			end()
		}
		if isPartOfWord(r) {
			word = append(word, unicode.ToLower(r))
		}
		last = r
	}
	end()
	return all
}

// Distance returns the number of letters to add, remove, replace, or swap with their neighbor to
// turn one text into the other. If the number exceeds the parameter most, Distance returns most+1.
// Its time is proportional to the length of the texts times most.
func Distance(a, b []rune, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	// rows[i%3][j] is the distance between the first i letters of a and the first j letters of b.
	// Only values near the diagonal can be small.
	var rows [3][]int
	var few [3 * 40]int
	for i := range rows {
		if rows[i] = few[i*40 : i*40]; len(b) < 40 {
			rows[i] = rows[i][:len(b)+1]
		} else {
			rows[i] = make([]int, len(b)+1)
		}
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, before := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		from, to := max(1, i-most), min(len(b), i+most)
		for j := range row {
			row[j] = most + 1
		}
		row[0] = i
		least := row[0]
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
	}
	return min(rows[len(a)%3][len(b)], most+1)
}
