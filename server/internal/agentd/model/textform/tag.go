package textform

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// tag is a tag of the form, or of a reasoning block.
type tag struct {
	element string
	end     bool   // it is a closing tag
	empty   bool   // it closes itself
	name    string // the attribute name
	valid   bool   // false: it has other attributes, or is not complete
}

// thoughts are the elements in which models write their reasoning.
var thoughts = []string{"think", "thinking"}

var tagNames = append(strings.Split(elements, "|"), thoughts...)

// maxTag is the most bytes of a tag. Names of tools and arguments are shorter.
const maxTag = 1 << 10

var (
	attributeName = regexp.MustCompile(`^\s+name\s*=\s*(?:"([^"]*)"|'([^']*)')\s*(/?)$`)
	noAttributes  = regexp.MustCompile(`^\s*$`)
)

// readTag reads a tag at the start of text, which begins with "<". It returns the tag's size; 0 if
// there is no tag, and -1 if more text is needed. final says that no more text follows.
func readTag(text []byte, final bool) (t tag, size int) {
	at := 1
	if at < len(text) && text[at] == '/' {
		t.end, at = true, at+1
	}
	begin := at
	for at < len(text) && at < maxTag && (text[at] == '_' || text[at] >= 'a' && text[at] <= 'z') {
		at++
	}
	t.element = string(text[begin:at])
	known := slices.Contains(tagNames, t.element)
	if at == len(text) && !(final && known) {
		if !final && slices.ContainsFunc(tagNames, func(name string) bool { return strings.HasPrefix(name, t.element) }) {
			return t, -1
		}
		return t, 0
	}
	if !known || at < len(text) && !strings.ContainsRune(" \t\r\n/>", rune(text[at])) {
		return t, 0
	}
	for i := at; i < len(text) && i < maxTag; i++ {
		if text[i] == '<' {
			return t, i
		}
		if text[i] == '>' {
			t.read(string(text[at:i]))
			return t, i + 1
		}
	}
	if !final && len(text) < maxTag {
		return t, -1
	}
	return t, min(len(text), maxTag)
}

// read reads the part of a tag after the element's name.
func (t *tag) read(attributes string) {
	if t.end || slices.Contains(thoughts, t.element) {
		t.valid = noAttributes.MatchString(attributes)
		return
	}
	if t.element == elementResult {
		t.valid = true
		return
	}
	if found := attributeName.FindStringSubmatch(attributes); found != nil {
		t.name, t.empty, t.valid = html.UnescapeString(found[1]+found[2]), found[3] != "", true
	}
}
