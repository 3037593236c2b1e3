package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// page is a Markdown file with its fenced blocks.
type page struct {
	name   string
	blocks []block
}

// language returns the language of a page or example whose SDK needs a setup, according to its
// name. It returns "" for all others.
func (p page) language() string {
	for _, language := range []string{"python", "typescript"} {
		if strings.Contains(filepath.Base(p.name), language) || strings.Contains(filepath.Base(filepath.Dir(p.name)), language) {
			return language
		}
	}
	return ""
}

// installs reports whether the commands of the page install packages of npm and PyPI.
func (p page) installs() bool { return filepath.Base(p.name) == "mcp-servers.md" }

// onMachines reports whether the page has commands for more than one machine. Only
// TestPagesOnMachines can execute such a page.
func (p page) onMachines() bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool { return b.machine() != "" })
}

// documentsCheckout reports whether a comment in a script of the page says what $CHECKOUT is. Other
// pages run without that variable, because the quick start sets only $PLUGINS and $PATH.
func (p page) documentsCheckout() bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool { return strings.Contains(b.text, "# $CHECKOUT is ") })
}

// block is one fenced block.
type block struct {
	line     int
	language string
	words    []string // the words of the info string after the language
	text     string
}

func (b block) has(word string) bool {
	for _, w := range b.words {
		if w == word {
			return true
		}
	}
	return false
}

// machine returns the name of the machine on which the block is executed. "" is the first one.
func (b block) machine() string {
	for _, w := range b.words {
		if name, ok := strings.CutPrefix(w, "on="); ok {
			return name
		}
	}
	return ""
}

// file returns the name of the file whose content the block shows, or "".
func (b block) file() string {
	for _, w := range b.words {
		if b.language != "sh" && !strings.HasPrefix(w, "on=") {
			return w
		}
	}
	return ""
}

// exit returns the expected exit code of the script.
func (b block) exit() (int, error) {
	for _, w := range b.words {
		if code, ok := strings.CutPrefix(w, "exit="); ok {
			return strconv.Atoi(code)
		}
	}
	return 0, nil
}

// indented matches a command in an indented code block.
var indented = regexp.MustCompile(`^    (bin/)?(toolhost|agentd|make|go) [a-z]`)

// read parses a page. It returns an error for a fence that is not closed, a command outside of a
// fence, and an unknown word after sh.
func read(path string) (page, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return page{}, err
	}
	p := page{name: path}
	var open *block
	for i, line := range strings.SplitAfter(string(text), "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case open == nil && isFence:
			words := strings.Fields(fence)
			if len(words) == 0 {
				words = []string{"text"}
			}
			open = &block{line: i + 1, language: words[0], words: words[1:]}
		case open != nil && isFence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		case indented.MatchString(line):
			return page{}, fmt.Errorf("%s:%d: a command outside of a fence is not run", path, i+1)
		}
	}
	if open != nil {
		return page{}, fmt.Errorf("%s:%d: the block is not closed", path, open.line)
	}
	return p, p.check()
}

var scriptWord = regexp.MustCompile(`^(serve|no-run|exit=\d+|on=[a-z]+)$`)

func (p page) check() error {
	for _, b := range p.blocks {
		for _, w := range b.words {
			if b.language == "sh" && !scriptWord.MatchString(w) {
				return fmt.Errorf("%s:%d: %q says nothing of a script", p.name, b.line, w)
			}
		}
	}
	return nil
}

// matches reports whether text matches the output that a page shows. In shown, a line of three dots
// matches any lines, and … matches any text within a line.
func matches(shown, text string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i, part := range strings.Split(strings.TrimRight(line, " \n"), "…") {
			if i > 0 {
				pattern.WriteString(`.*?`)
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(` *\n`)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(text)
}
