package replace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
)

// maxExact limits the passage that a message has in full, in bytes.
const maxExact = 4000

// alike maps characters to those that a model writes for them, beyond Unicode's compatibility
// mapping.
var alike = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-")

// folded has a text in which characters that look alike are the same, and invisible ones are
// missing.
type folded struct {
	text  string
	whole string
}

// fold folds a text. Line ends stay.
func fold(text string) folded {
	f := folded{text: text}
	var b strings.Builder
	for _, piece := range f.pieces {
		b.WriteString(piece)
	}
	f.whole = b.String()
	return f
}

// pieces yields the offset of each piece in the text, and the folded piece.
func (f *folded) pieces(yield func(int, string) bool) {
	var it norm.Iter
	it.InitString(norm.NFKC, f.text)
	for !it.Done() {
		at := it.Pos()
		piece := strings.Map(func(r rune) rune {
			switch {
			case unicode.Is(unicode.Cf, r):
				return -1
			case unicode.Is(unicode.Zs, r):
				return ' '
			}
			return r
		}, string(it.Next()))
		if !yield(at, alike.Replace(piece)) {
			return
		}
	}
}

// original returns the range of the text for a range of the folded text.
func (f *folded) original(from, to int) (int, int) {
	start, end, length := -1, len(f.text), 0
	for at, piece := range f.pieces {
		if length >= to && end == len(f.text) {
			return start, at
		}
		if start < 0 && length+len(piece) > from {
			start = at
		}
		length += len(piece)
	}
	return max(start, 0), end
}

// unlikeInLook returns the error for a passage that is in the text with other characters that look
// the same, such as a no-break space or a decomposed letter. It is nil if there is none.
func unlikeInLook(text, part string) error {
	wanted := fold(part).whole
	if strings.TrimSpace(wanted) == "" {
		return nil
	}
	f := fold(text)
	at := strings.Index(f.whole, wanted)
	if at < 0 {
		return nil
	}
	times := ""
	if n := strings.Count(f.whole, wanted); n > 1 {
		times = fmt.Sprintf("; there are %d such places", n)
	}
	from, to := f.original(at, at+len(wanted))
	exact := text[from:to]
	line := 1 + strings.Count(text[:from], "\n")
	if len(exact) > maxExact {
		exact = strings.ToValidUTF8(exact[:maxExact], "") + "…"
	}
	itself := ""
	if own := differing(part, exact); own != "" {
		itself = ", where old_text has " + own
	}
	return fmt.Errorf("from line %d on, other characters that look the same are in the file%s%s. This is what is there, as JSON with these characters escaped, so give old_text as it is here:\n%s",
		line, itself, times, quoted(exact, part))
}

// differing lists the characters of a text that can be mistaken and that the other text lacks.
func differing(text, other string) string {
	var list []string
	for _, r := range text {
		if mistakable(r) && !strings.ContainsRune(other, r) && !slices.Contains(list, escaped(r)) {
			list = append(list, escaped(r))
		}
	}
	return strings.Join(list, ", ")
}

// mistakable reports whether a character looks like another one or is invisible.
func mistakable(r rune) bool {
	if r < 0x80 {
		return false
	}
	s := string(r)
	return invisible(r) || unicode.Is(unicode.Mn, r) || norm.NFKD.String(s) != s || alike.Replace(s) != s
}

// invisible reports whether a character is a space or nothing to see, other than the usual ones.
func invisible(r rune) bool { return r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Zs) }

// quoted returns a text as a JSON string in which the mistakable characters that the other text
// lacks are escaped.
func quoted(text, other string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return text // cannot happen
	}
	return escape(strings.TrimSuffix(b.String(), "\n"), other, mistakable)
}

// escape escapes characters of a kind that the other text lacks.
func escape(text, other string, kind func(rune) bool) string {
	var b strings.Builder
	for _, r := range text {
		if kind(r) && !strings.ContainsRune(other, r) {
			b.WriteString(escaped(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escaped returns the escape of a character in JSON.
func escaped(r rune) string {
	var b strings.Builder
	for _, unit := range utf16.AppendRune(nil, r) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}
