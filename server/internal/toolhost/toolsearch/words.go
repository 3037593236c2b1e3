package toolsearch

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words returns the words of a text in order, in lower case and without accents. A word in camel
// case becomes its parts and the whole: GitHub becomes git, hub and github. Text in a script
// without spaces becomes overlapping pairs of characters.
func words(text string) []string {
	var all []string
	for chunk := range strings.FieldsFuncSeq(norm.NFKC.String(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
	}) {
		parts := camelParts(chunk)
		for _, part := range parts {
			all = append(all, script(part)...)
		}
		if len(parts) > 1 {
			all = append(all, fold(chunk))
		}
	}
	return all
}

// camelParts splits readFile into read and File, and HTTPServer into HTTP and Server.
func camelParts(chunk string) []string {
	var parts []string
	runes, from := []rune(chunk), 0
	for i := 1; i < len(runes); i++ {
		begins := unicode.IsUpper(runes[i]) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]) && i-from > 1)
		if begins {
			parts, from = append(parts, string(runes[from:i])), i
		}
	}
	return append(parts, string(runes[from:]))
}

// script returns the words of a part that consists of letters and digits. It splits between scripts
// with and without spaces.
func script(part string) []string {
	dense := func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}
	var all []string
	for part != "" {
		end := strings.IndexFunc(part, dense)
		if end < 0 {
			end = len(part)
		}
		if end > 0 {
			all = append(all, fold(part[:end]))
			part = part[end:]
			continue
		}
		if end = strings.IndexFunc(part, func(r rune) bool { return !dense(r) }); end < 0 {
			end = len(part)
		}
		all = append(all, pairs(part[:end])...)
		part = part[end:]
	}
	return all
}

// pairs returns each two adjacent characters, or the only character.
func pairs(dense string) []string {
	runes := []rune(dense)
	if len(runes) == 1 {
		return []string{dense}
	}
	var all []string
	for i := range len(runes) - 1 {
		all = append(all, string(runes[i:i+2]))
	}
	return all
}

// fold returns a word in lower case and without accents.
func fold(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < 0x80
	}
	if ascii {
		return strings.ToLower(word)
	}
	bare := strings.Map(func(r rune) rune {
		// Accents of Latin, Greek and Cyrillic; in other scripts a mark makes another letter.
		if r >= 0x300 && r <= 0x36f {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(word))
	return strings.ReplaceAll(norm.NFC.String(bare), "ß", "ss")
}

// stem removes the endings by which the forms of an English word differ: files, filed, filing and
// file have one stem. The stem need not be a word. Queries and tools are stemmed alike, so that it
// does no harm to remove too much.
func stem(word string) string {
	if len(word) < 4 {
		return word
	}
	word = singular(word)
	for _, ending := range []string{"ing", "ed", "ion", "er", "or"} {
		rest, found := strings.CutSuffix(word, ending)
		if found && len(rest) > 2 && strings.ContainsAny(rest, "aeiouy") && (ending != "ion" || strings.HasSuffix(rest, "s") || strings.HasSuffix(rest, "t")) {
			word = undouble(rest)
			break
		}
	}
	if rest, found := strings.CutSuffix(word, "e"); found && len(rest) > 2 {
		word = rest
	}
	if rest, found := strings.CutSuffix(word, "y"); found && len(rest) > 2 {
		word = rest + "i" // copy and copied
	}
	return word
}

// singular returns the singular of an English noun.
func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		return strings.TrimSuffix(word, "es")
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	default:
		return strings.TrimSuffix(word, "s")
	}
}

// undouble turns runn into run.
func undouble(word string) string {
	n := len(word)
	if n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("aeiouls", rune(word[n-1])) {
		return word[:n-1]
	}
	return word
}

// isFunctionWord reports whether a word does not help to tell one tool from another.
func isFunctionWord(word string) bool {
	switch word {
	case "a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "every", "such",
		"i", "me", "my", "mine", "we", "us", "our", "you", "your", "he", "him", "his", "she", "her", "it", "its", "they", "them", "their",
		"who", "whom", "whose", "which", "what", "when", "where", "why", "how", "here", "there",
		"to", "of", "in", "on", "at", "for", "from", "with", "by", "into", "as", "about", "between", "until", "than", "then",
		"and", "or", "but", "if", "because", "so", "not", "no", "nor", "also", "too", "very", "just", "only", "now",
		"is", "are", "am", "be", "been", "being", "was", "were", "do", "does", "did", "done", "has", "have", "had", "having",
		"can", "could", "will", "would", "shall", "should", "may", "might", "must",
		"want", "need", "like", "please", "hello", "tool", "tools", "use", "using":
		return true
	default:
		return false
	}
}
