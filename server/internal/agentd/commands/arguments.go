package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// maxArgumentDepth is the depth of arguments below which JSON is shown on one line. Deeper values
	// would have no columns left.
	maxArgumentDepth = 12
	// maxInlineList is the length of a list that is shown on one line, in bytes.
	maxInlineList = 72
	// maxBesideDiff is the number of lines of a text that is shown beside the diff of the tool. The
	// diff shows the rest.
	maxBesideDiff = 10
)

// shownLine is a line in a color.
type shownLine struct{ shade, text string }

// plainName matches the name of an argument that is shown without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_.$-]*$`)

// editNames are the names that tools use for the text that an edit replaces, and for the new text.
var editNames = map[string]string{"old_text": "new_text", "old_string": "new_string", "old_str": "new_str", "oldText": "newText"}

// writtenNames are the names that tools use for the content of a file that a call writes.
var writtenNames = map[string]bool{"content": true, "contents": true, "file_text": true, "new_content": true}

// shownArguments returns the arguments of a call as a person reads them: a command as a command,
// the texts of an edit as a diff, and other arguments like YAML. The model wrote the arguments. So
// a text stands on lines of its own only with marks that it cannot leave, and a text with
// characters that a person would not see stays JSON. A person approves all of it, so only a text
// that the diff of the tool repeats is shortened.
func shownArguments(p *client.PendingDecision) []shownLine {
	members, ok := jsontext.Members(p.Arguments)
	if !ok || len(members) == 0 {
		return []shownLine{{yellow, fmt.Sprintf("  %s %s", p.Tool, cli.CountBlanks(cli.OneLine(string(p.Arguments))))}}
	}
	a := &argumentLines{besideDiff: p.Diff != ""}
	a.add(yellow, "  "+p.Tool)
	a.object("    ", members, 0)
	for i := range a.lines {
		a.lines[i].text = cli.CountBlanks(a.lines[i].text)
	}
	return a.lines
}

const (
	// maxEditLines bounds what is shown of an edit that nobody decides about.
	maxEditLines = 20
	// maxEditBytes is the size of arguments from which no diff is made for that.
	maxEditBytes = 256 << 10
)

// shownEdit returns the arguments of a call that edits or writes a text, as shownArguments shows
// them, but no more than a few lines. nil: the call does neither.
func shownEdit(arguments string) []shownLine {
	if len(arguments) > maxEditBytes {
		return nil
	}
	members, _ := jsontext.Members([]byte(arguments))
	a := &argumentLines{}
	a.object("    ", members, 0)
	if a.edits == 0 {
		return nil
	}
	if more := len(a.lines) - maxEditLines; more > 1 {
		a.lines = append(a.lines[:maxEditLines], shownLine{dim, fmt.Sprintf("    │ and %d more lines", more)})
	}
	for i := range a.lines {
		a.lines[i].text = cli.ClipColumns(cli.OneLine(a.lines[i].text), diffWidth)
	}
	return a.lines
}

// argumentLines collects the lines of arguments.
type argumentLines struct {
	lines      []shownLine
	besideDiff bool // the tool shows a diff
	edits      int  // the texts that are shown as changes
}

func (a *argumentLines) add(shade, text string) {
	a.lines = append(a.lines, shownLine{shade, strings.ReplaceAll(text, "\t", "    ")})
}

// object adds the members of an object. The two texts of an edit become a diff.
func (a *argumentLines) object(indent string, members []jsontext.Member, depth int) {
	texts := make(map[string]string)
	for _, m := range members {
		var text string
		if json.Unmarshal(m.Value, &text) == nil && bytes.HasPrefix(m.Value, []byte(`"`)) {
			texts[m.Name] = text
		}
	}
	done := make(map[string]bool)
	for _, m := range members {
		before, isEdit := texts[m.Name]
		after, isWhole := texts[editNames[m.Name]]
		if isEdit && isWhole && a.edit(indent, m.Name, before, after) {
			done[editNames[m.Name]] = true
			continue
		}
		label := m.Name
		if !plainName.MatchString(label) {
			label = quoted(label)
		}
		if !done[m.Name] {
			a.value(indent, label+":", m.Name, m.Value, depth)
		}
	}
}

// edit adds the two texts of an edit as a diff. It reports false if the diff would not show them.
func (a *argumentLines) edit(indent, name, before, after string) bool {
	if hides(before) || hides(after) || before == after {
		return false
	}
	lines := string(diff.Diff("a", []byte(before), "b", []byte(after)))
	for range 3 { // the head, which has no names here
		_, lines, _ = strings.Cut(lines, "\n")
	}
	a.edits++
	a.add(yellow, fmt.Sprintf("%s%s, %s:", indent, name, editNames[name]))
	for line := range strings.Lines(lines) {
		a.add(diffShade(line), indent+"│ "+strings.TrimSuffix(line, "\n"))
	}
	return true
}

// value adds a value behind its label. name is empty for an element of a list.
func (a *argumentLines) value(indent, label, name string, value json.RawMessage, depth int) {
	short := indent + label + " " + oneLineJSON(value)
	if depth >= maxArgumentDepth {
		a.add(yellow, short)
		return
	}
	switch value[0] {
	case '"':
		var text string
		if json.Unmarshal(value, &text) != nil || !a.text(indent, label, name, text) {
			a.add(yellow, indent+label+" "+quoted(text))
		}
	case '{':
		members, _ := jsontext.Members(value)
		if len(members) == 0 {
			a.add(yellow, short)
			return
		}
		a.add(yellow, indent+label)
		a.object(indent+"  ", members, depth+1)
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || len(short) <= maxInlineList && !bytes.ContainsAny(value, "{\n") {
			a.add(yellow, short)
			return
		}
		a.add(yellow, indent+label)
		for _, element := range list {
			a.value(indent+"  ", "-", "", element, depth+1)
		}
	default:
		a.add(yellow, short)
	}
}

// text adds a text on lines of its own. It reports false for a text that belongs on one line.
func (a *argumentLines) text(indent, label, name, text string) bool {
	command, written := name == "command", writtenNames[name]
	if hides(text) || text == "" || !command && !strings.Contains(text, "\n") {
		return false
	}
	body, ended := strings.CutSuffix(text, "\n")
	lines := strings.Split(cli.CountBlankLines(body), "\n")
	if command {
		for i, line := range lines {
			mark := "$ "
			if i > 0 {
				mark = "> "
			}
			a.add(bold, indent+mark+line)
		}
		return true
	}
	style, mark, shade := " |", "│ ", yellow
	if !ended {
		style = " |-"
	}
	if written {
		mark, shade = "│ +", green
		a.edits++
	}
	a.add(yellow, indent+label+style)
	for i, line := range lines {
		if a.besideDiff && i == maxBesideDiff && len(lines) > maxBesideDiff+1 {
			a.add(dim, fmt.Sprintf("%s│ and %d more lines; the diff has them", indent, len(lines)-i))
			break
		}
		a.add(shade, indent+mark+line)
	}
	return true
}

// hides reports whether a person would not see each character of a text on lines of its own.
func hides(text string) bool { return cli.Visible(text) != text }

// quoted returns text as a JSON string without characters that control a terminal.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded
	return string(cli.EscapeJSON(bytes.TrimSpace(b.Bytes())))
}

// oneLineJSON returns JSON on one line, without characters that control a terminal.
func oneLineJSON(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return cli.OneLine(string(value))
	}
	return string(cli.EscapeJSON(b.Bytes()))
}
