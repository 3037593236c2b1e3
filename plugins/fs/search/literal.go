package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxLiterals limits the alternatives that are searched one by one. Each takes one pass over the
// text.
const maxLiterals = 12

// literal is a string to search for, with or without regard to case.
type literal struct {
	text []byte // lower-case ASCII if fold is set
	fold bool
	rare int // index of the byte of text that is rarest in common texts, if fold is set
}

// required returns literals such that every match of the expression contains at least one of them.
// exact reports whether each literal is a match by itself. No literals means that nothing is known.
func required(re *syntax.Regexp) (literals []literal, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		l, whole := newLiteral(re)
		if len(l.text) == 0 {
			return nil, false
		}
		return []literal{l}, whole
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		return required(re.Sub[0]) // one or more repetitions contain one
	case syntax.OpRepeat:
		if re.Min == 0 {
			return nil, false
		}
		literals, _ = required(re.Sub[0])
		return literals, false
	case syntax.OpConcat:
		return requiredInOrder(re.Sub)
	case syntax.OpAlternate:
		return requiredInAny(re.Sub)
	}
	return nil, false
}

// requiredInOrder returns the literals of the part with the most selective ones.
func requiredInOrder(parts []*syntax.Regexp) (best []literal, exact bool) {
	for _, part := range parts {
		literals, whole := required(part)
		if len(literals) > 0 && worth(literals) > worth(best) {
			best, exact = literals, whole && len(parts) == 1
		}
	}
	return best, exact
}

// worth estimates how selective literals are: the length of the shortest one, minus a cost for
// each.
func worth(literals []literal) int {
	if len(literals) == 0 {
		return -1 << 10
	}
	shortest := len(literals[0].text)
	for _, l := range literals {
		shortest = min(shortest, len(l.text))
	}
	return 4*min(shortest, 8) - len(literals)
}

func requiredInAny(alternatives []*syntax.Regexp) (all []literal, exact bool) {
	exact = true
	for _, alternative := range alternatives {
		literals, whole := required(alternative)
		if len(literals) == 0 || len(all)+len(literals) > maxLiterals {
			return nil, false
		}
		all = append(all, literals...)
		exact = exact && whole
	}
	return all, exact
}

// newLiteral returns the literal to search for in place of a literal of an expression, and whether
// the two are equivalent. If the expression ignores case, the new literal is the longest run of
// ASCII letters with exactly two cases. K and S have further cases in Unicode, so they end a run.
func newLiteral(re *syntax.Regexp) (l literal, whole bool) {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 || !strings.ContainsFunc(text, isLetter) {
		return literal{text: []byte(text)}, !strings.ContainsAny(text, "\r\n")
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }) {
		if len(part) > len(l.text) {
			l = literal{text: bytes.ToLower([]byte(part)), fold: true}
		}
	}
	for i := range l.text {
		if rarity(l.text[i]) > rarity(l.text[l.rare]) {
			l.rare = i
		}
	}
	return l, len(l.text) == len(text) && !strings.ContainsAny(text, "\r\n")
}

func isLetter(r rune) bool { return r >= utf8.RuneSelf || 'a' <= r|0x20 && r|0x20 <= 'z' }

// rarity ranks bytes by how rare they are in source code and prose.
func rarity(b byte) int {
	const common = " etaoinsrlcdpumfhg.,_()=\"bvyw0x1/:-k{};'*2T\tSICAN[]"
	if at := strings.IndexByte(common, b); at >= 0 {
		return at
	}
	return len(common)
}

// index returns the first offset of the literal, or -1.
func (l *literal) index(text []byte) int {
	if !l.fold {
		return bytes.Index(text, l.text)
	}
	lower := l.text[l.rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	last := len(text) - (len(l.text) - l.rare) // last possible offset of the rare byte
	// next offsets of the lower and the upper case; beyond last if there are none
	next := [2]int{-1, -1}
	for at := l.rare; at <= last; at++ {
		for i, b := range [2]byte{lower, upper} {
			if next[i] < at {
				next[i] = last + 1
				if n := bytes.IndexByte(text[at:last+1], b); n >= 0 {
					next[i] = at + n
				}
			}
		}
		at = min(next[0], next[1])
		if at <= last && equalFold(text[at-l.rare:][:len(l.text)], l.text) {
			return at - l.rare
		}
	}
	return -1
}

// equalFold reports whether a text equals a lower-case ASCII literal without regard to case.
func equalFold(text, lower []byte) bool {
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}
