package console

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// maxShown bounds the characters of a call that a page shows. A person who cannot see the whole
	// call gets no button to approve it.
	maxShown = 64 << 10
	// maxDiffLines bounds a diff, as terminals do.
	maxDiffLines = 400
)

// shown returns foreign text as one line that a person can trust to be whole: what steers is an
// escape, and long runs of blanks are their number.
func shown(text string) string { return cli.CountBlanks(cli.OneLine(text)) }

// field is one argument of a call.
type field struct {
	Name  string
	Lines []string // never empty
	Notes []string // what a reader could miss
}

// telling are the names of arguments that tell most about a call, the most telling first. The
// others follow in their order.
var telling = []string{
	"command", "cmd", "method", "url", "host", "amount", "currency", "payee", "to", "recipient", "path", "file", "cwd", "folder", "network", "secret", "secrets",
	"query", "sql", "subject",
}

// fieldsOf returns the arguments of a call, and whether that is all of them. Arguments that are no
// JSON object are one field without a name.
func fieldsOf(arguments []byte) (fields []field, whole bool) {
	if len(arguments) > maxShown {
		return []field{{Lines: []string{shown(string(arguments[:maxShown])) + " …"}}}, false
	}
	members, ok := jsontext.Members(arguments)
	if !ok {
		return []field{{Lines: []string{shown(string(arguments))}}}, true
	}
	rank := func(m jsontext.Member) int {
		if i := slices.Index(telling, strings.ToLower(m.Name)); i >= 0 {
			return i
		}
		return len(telling)
	}
	slices.SortStableFunc(members, func(a, b jsontext.Member) int { return rank(a) - rank(b) })
	for _, m := range members {
		fields = append(fields, fieldOf(m))
	}
	return fields, true
}

func fieldOf(m jsontext.Member) field {
	f := field{Name: shown(m.Name)}
	var text string
	if !bytes.HasPrefix(m.Value, []byte(`"`)) || json.Unmarshal(m.Value, &text) != nil {
		var indented bytes.Buffer
		if json.Indent(&indented, m.Value, "", "  ") != nil {
			indented.Reset()
			indented.Write(m.Value)
		}
		text = indented.String()
	}
	f.Lines = linesOf(text)
	f.Notes = notesOf(text)
	return f
}

// linesOf returns the lines of a text, each as shown. Long runs of blank lines are their number:
// the buttons stay in view, and what follows the blanks would not.
func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(cli.CountBlankLines(text)) {
		lines = append(lines, shown(strings.TrimRight(line, "\r\n")))
	}
	if len(lines) == 0 {
		lines = []string{"(empty)"}
	}
	return lines
}

// maxNotes bounds the notes about one argument.
const maxNotes = 4

// notesOf says what a reader could miss in a text: the host that a URL really has, and words that
// mix two alphabets to look like others.
func notesOf(text string) (notes []string) {
	for _, word := range strings.Fields(text) {
		found := hostNotes(word)
		if r, ok := foreignLetter(word); ok {
			found = append(found, "“"+shown(clip(word, 80))+"” mixes alphabets: it has "+strconv.QuoteRuneToASCII(r))
		}
		if notes = append(notes, found...); len(notes) > maxNotes {
			return append(notes[:maxNotes], "there is more of this kind")
		}
	}
	return notes
}

// hostNotes returns the notes about the hosts of the URLs in a word.
func hostNotes(word string) (notes []string) {
	for i, rest := range strings.Split(word, "://") {
		if note := hostNote(rest); i > 0 && note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// hostNote returns the host of a URL whose text does not say it plainly; else "". rest is the URL
// behind its scheme. hostNote does not refuse what a parser would.
func hostNote(rest string) string {
	if end := strings.IndexAny(rest, `/?#"<>`); end >= 0 {
		rest = rest[:end]
	}
	// The name of a user may have these characters, a host not: they end a URL in a text.
	if end := strings.IndexAny(rest, `',;)`); end > strings.LastIndexByte(rest, '@') {
		rest = rest[:end]
	}
	if strings.Contains(rest, `\`) {
		return "the host is not clear: programs read the backslash in " + shown(clip(rest, 80)) + " in different ways"
	}
	at := strings.LastIndexByte(rest, '@')
	written := strings.ToLower(rest[at+1:])
	name, port := written, ""
	if colon := strings.LastIndexByte(written, ':'); colon > strings.LastIndexByte(written, ']') {
		name, port = written[:colon], written[colon:]
	}
	plain := name
	if decoded, err := url.PathUnescape(name); err == nil && !strings.HasPrefix(name, "[") {
		plain = strings.ToLower(decoded)
	}
	host, err := idna.Lookup.ToASCII(plain)
	if err != nil {
		host = strings.Trim(strconv.QuoteToASCII(plain), `"`)
	}
	if a, ok := ipv4Of(host); ok {
		host = a.String()
	}
	switch {
	case at >= 0:
		return "the host is " + shown(host+port) + "; what is before the @ is no host"
	case host != strings.TrimSuffix(name, "."):
		return "the host is " + shown(host+port)
	}
	return ""
}

// ipv4Of returns the IPv4 address that a host stands for. Besides four decimal numbers, browsers
// and the C library take fewer numbers, of which the last one fills the rest, octal and hexadecimal
// ones, and IPv6 addresses that contain one.
func ipv4Of(host string) (a netip.Addr, ok bool) {
	if inner, bracket := strings.CutPrefix(host, "["); bracket {
		a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return a.Unmap(), err == nil && a.Is4In6()
	}
	var bytes [4]byte
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	for i, part := range parts {
		base, digits := 10, part
		if hex, ok := strings.CutPrefix(part, "0x"); ok {
			base, digits = 16, "0"+hex
		} else if len(part) > 1 && part[0] == '0' {
			base = 8
		}
		n, err := strconv.ParseUint(digits, base, 32)
		last := i == len(parts)-1
		if err != nil || i > 3 || !last && n > 255 || last && n >= 1<<(8*(4-i)) {
			return a, false
		}
		if !last {
			bytes[i] = byte(n)
			continue
		}
		for j := 3; j >= i; j-- {
			bytes[j], n = byte(n), n>>8
		}
	}
	return netip.AddrFrom4(bytes), true
}

// foreignLetter returns a letter that looks like a Latin one in a word with Latin letters.
func foreignLetter(word string) (found rune, mixed bool) {
	latin := false
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case found == 0 && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
			found = r
		}
	}
	return found, latin && found != 0
}

// clip returns the first n bytes of a text, without a part of a character.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// diffLine is a line of a diff.
type diffLine struct{ Class, Text string }

// diffOf returns the lines of a diff, and how many more there are.
func diffOf(diff string) (lines []diffLine, more int) {
	for line := range strings.Lines(diff) {
		if len(lines) == maxDiffLines {
			more++
			continue
		}
		class := "same"
		switch {
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		}
		lines = append(lines, diffLine{class, shown(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))})
	}
	return lines, more
}
