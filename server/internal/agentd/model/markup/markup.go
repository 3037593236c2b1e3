// Package markup finds tool calls that a model wrote as text, in the markup of its own training.
// Servers turn such markup into calls. A server that does not know the model's markup, or a model
// that makes a mistake in it, delivers it as the text of a response.
//
// The package owns the dialects and the decision whether a text is a call or an answer. It parses
// no arguments: what a text might mean is not executed. Its tables name their sources: the chat
// templates of the models, the parsers of servers, and public reports.
//
// # Call or answer
//
// An answer may quote markup or explain it. So a text is a call only if its markup stands where a
// model calls: at the beginning of a line, outside of code, and at the beginning of the text or
// with the name of an offered tool. Tokens that only chat templates have also count where the text
// ends with them.
package markup

import (
	"regexp"
	"strings"
)

// Find returns the name of the dialect if a text is a call, and "" if it is an answer. tools are
// the names of the tools that the model was offered.
func Find(text string, tools []string) string {
	text = spelling.Replace(strings.TrimSpace(Plain(text)))
	if text == "" {
		return ""
	}
	for i := range fences {
		if fences[i].matches(text, tools) {
			return fences[i].name
		}
	}
	bare := withoutCode(text)
	for i := range dialects {
		d := &dialects[i]
		at := d.opener.FindStringIndex(bare)
		if at == nil {
			continue
		}
		first := strings.TrimSpace(bare[:at[0]]) == ""
		if first && !d.named || mentions(bare[at[0]:], tools) || d.token && endsWithMarkup(bare) {
			return d.name
		}
	}
	for i := range shapes {
		if shapes[i].matches(text, tools) {
			return shapes[i].name
		}
	}
	return ""
}

// spelling replaces characters that some models have in place of others: the tokens of DeepSeek
// have a wide bar and a block for a space.
var spelling = strings.NewReplacer("｜", "|", "▁", "_", "\r\n", "\n")

// thoughts are at the beginning of the text of models whose server does not separate them.
var thoughts = regexp.MustCompile(`(?s)^\s*<(think|thinking|thought|reasoning)>.*?</(?:think|thinking|thought|reasoning)>`)

// Plain returns the text of a response without a byte order mark and without thoughts before it.
func Plain(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if at := thoughts.FindStringIndex(text); at != nil {
		text = text[at[1]:]
	}
	return text
}

// whole matches one code fence around a whole text, also without its end.
var whole = regexp.MustCompile("(?s)^\\s*(?:```|~~~)[ \\t]*([A-Za-z0-9_+-]*)[ \\t]*\\n(.*?)\\n?[ \\t]*(?:(?:```|~~~)\\s*)?$")

// Unfenced returns the content of the one code fence that is around a whole text, or the text. A
// fence that the model did not close is accepted.
func Unfenced(text string) string {
	found := whole.FindStringSubmatch(text)
	if found == nil || strings.Contains(found[2], "\n```") || strings.Contains(found[2], "\n~~~") {
		return text
	}
	return found[2]
}

// code matches code in Markdown, in which markup is quoted.
var code = regexp.MustCompile("(?s)(?:^|\\n)[ \\t]*```.*?(?:\\n[ \\t]*```|$)|(?:^|\\n)[ \\t]*~~~.*?(?:\\n[ \\t]*~~~|$)|``[^`].*?``|`[^`\\n]+`")

// withoutCode returns a text with a mark in place of code, so that what follows it does not begin
// a line.
func withoutCode(text string) string {
	return code.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "`") {
			return "`"
		}
		return "\n`\n" // a block
	})
}

// closing matches what ends the markup of a call.
var closing = regexp.MustCompile(`(?:>|\]|\}|✿)\s*$`)

func endsWithMarkup(text string) bool { return closing.MatchString(text) }

// mentions reports whether a text has the name of an offered tool as a word.
func mentions(text string, tools []string) bool {
	for _, name := range tools {
		for rest := text; ; {
			before, after, found := strings.Cut(rest, name)
			if !found {
				break
			}
			if !endsInName(before) && !beginsWithName(after) {
				return true
			}
			rest = after
		}
	}
	return false
}

func endsInName(s string) bool { return s != "" && isName(s[len(s)-1]) }

func beginsWithName(s string) bool { return s != "" && isName(s[0]) }

func isName(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
