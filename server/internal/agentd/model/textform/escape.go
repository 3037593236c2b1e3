package textform

import (
	"bytes"
	"regexp"
	"strings"
)

// A text that contains a tag of the form, such as the documentation of the form, must not be read
// as a tag. In such a text, "&lt;" replaces the "<" of each tag. So that every text can be written,
// "&amp;" replaces the "&" of what already looks like such a replacement: &lt;use_tool becomes
// &amp;lt;use_tool. Everything else stays as it is, unlike in XML, because models make mistakes
// when they escape code. The invariant: unescape(escape(text)) == text, and escape(text) has no
// tag.

// The names of the form's elements.
const (
	elementCall     = "use_tool"
	elementArgument = "tool_arg"
	elementResult   = "tool_result"
)

const elements = elementCall + "|" + elementArgument + "|" + elementResult

var tagOrEscape = regexp.MustCompile(`(?:<|&(?:amp;)*lt;)/?(?:` + elements + `)`)

// escape returns a text without tags of the form.
func escape(text string) string {
	return tagOrEscape.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '<' {
			return "&lt;" + found[1:]
		}
		return "&amp;" + found[1:]
	})
}

// escaped are the ends of an escaped tag, from "lt;" on.
var escaped = func() (ends []string) {
	for name := range strings.SplitSeq(elements, "|") {
		ends = append(ends, "lt;"+name, "lt;/"+name)
	}
	return ends
}()

const amp = "amp;"

// unescape reads an escape at the start of text, which begins with "&". It returns what the first n
// bytes mean. n is 0 if more text is needed. verified is the number of bytes that an earlier call
// for the same text has already read; the caller stores it, so that a long text is read only once.
func unescape(text []byte, verified *int) (meaning []byte, n int) {
	at := max(*verified, 1)
	for bytes.HasPrefix(text[at:], []byte(amp)) {
		at += len(amp)
	}
	*verified = at
	rest := string(text[at:min(len(text), at+len("lt;/")+len(elements))])
	if strings.HasPrefix(amp, rest) {
		return nil, 0
	}
	for _, end := range escaped {
		switch {
		case strings.HasPrefix(rest, end) && at == 1:
			return []byte("<"), at + len("lt;")
		case strings.HasPrefix(rest, end):
			return append([]byte("&"), text[1+len(amp):at+len("lt;")]...), at + len("lt;")
		case strings.HasPrefix(end, rest):
			return nil, 0
		}
	}
	return text[:at], at
}
