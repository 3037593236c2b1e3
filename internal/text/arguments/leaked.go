package arguments

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// Leaked is a text that holds the markup in which a model writes a parameter of a call. Probably
// the model closed the text wrongly, so that the parameters behind it became part of the text.
type Leaked struct {
	Path string `json:"path"`           // of the text, as in the errors of Validate
	Name string `json:"name,omitempty"` // the parameter in the markup; empty: only the markup of the call's end
	// The tool declares a parameter of that name.
	Declared bool `json:"declared"`
}

const (
	// maxLeaked bounds the texts that are reported.
	maxLeaked = 20
	// maxTags bounds the tags of one text that are examined.
	maxTags = 1000
)

// The markup of parameters: of Claude, MiniMax and, with a prefix, DeepSeek; of Qwen; and of GLM.
const (
	prefixed = `(?:[^\s<>="/]{0,24}[:|｜])?`
	opening  = `<` + prefixed + `parameter(?:=| name=)["']?([^"'<>=]{1,128}?)["']?(?: [^<>]{0,64})?>`
	keyed    = `<arg_key>\s*([^<>]{1,128}?)\s*</arg_key>\s*<arg_value>`
	ending   = `</` + prefixed + `(?:parameter|invoke|function|function_calls|tool_call|tool_calls|tool_use)>`
)

var (
	anyTag = regexp.MustCompile(opening + `|` + keyed)
	// behindText matches what follows the wrong closing tag of a text up to its end.
	behindText = regexp.MustCompile(`^\s*(?:` + opening + `[^<]*(?:</` + prefixed + `parameter>)?\s*)*(?:` + ending + `\s*)*$`)
	element    = regexp.MustCompile(`^\s*<([^\s<>/="']{1,128})>`)
)

// Leaked returns the texts of arguments that hold the markup of a parameter that was not sent,
// ordered by path, at most 20. A parameter with its default counts as not sent, because a repair
// fills it in. The markup counts if the tool declares the parameter, or if it follows a closing tag
// with the name of the text, up to the end of the text. Leaked is quick for arguments without tags,
// and takes time in proportion to the size of others.
func (s *Schema) Leaked(p Parsed) []Leaked {
	canonical, _ := p.Parts()
	if !bytes.Contains(canonical, []byte("parameter")) && !bytes.Contains(canonical, []byte("arg_key")) && !bytes.Contains(canonical, []byte("</")) {
		return nil
	}
	f := leakFinder{absent: map[string]bool{}, arguments: p.Object()}
	u := speller{work: s.work(maxUndeclaredSteps)}
	for _, part := range u.all([]*jsonschema.Schema{s.compiled}) {
		for name, sub := range part.Properties {
			f.absent[name] = !sent(f.arguments, name, sub)
		}
	}
	f.visit(p.Value(), nil, "")
	return f.found
}

// leakFinder looks for markup in the texts of arguments.
type leakFinder struct {
	arguments map[string]any
	absent    map[string]bool // the declared parameters: whether each was not sent
	found     []Leaked
}

// visit examines the texts of a value. own is the name of the property that has it.
func (f *leakFinder) visit(v any, at []string, own string) {
	if len(f.found) == maxLeaked || len(at) > maxRepairDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			f.visit(v[name], append(slices.Clip(at), name), name)
		}
	case []any:
		for i, item := range v {
			f.visit(item, append(slices.Clip(at), strconv.Itoa(i)), own)
		}
	case string:
		if name, leaks := f.markup(v, own); leaks {
			_, declared := f.absent[name]
			f.found = append(f.found, Leaked{Path: jsontext.Path(at), Name: name, Declared: declared})
		}
	}
}

// markup returns the first parameter whose markup a text holds.
func (f *leakFinder) markup(text, own string) (name string, leaks bool) {
	if strings.Contains(text, "parameter") || strings.Contains(text, "arg_key") {
		for _, tag := range anyTag.FindAllStringSubmatch(text, maxTags) {
			if name := tag[1] + tag[2]; f.absent[name] {
				return name, true
			}
		}
	}
	closing := "</" + own + ">"
	end := strings.LastIndex(text, closing)
	if own == "" || end < 0 {
		return "", false
	}
	rest := text[end+len(closing):]
	if tag := element.FindStringSubmatch(rest); tag != nil && f.absent[tag[1]] {
		return tag[1], true
	}
	if strings.TrimSpace(rest) == "" || !behindText.MatchString(rest) {
		return "", false
	}
	tag := anyTag.FindStringSubmatch(rest)
	if tag == nil {
		return "", true
	}
	_, isSent := f.arguments[tag[1]]
	return tag[1], !isSent
}

// Warning says what the text holds and what the tool did with it, for a model that reads it beside
// the result.
func (l Leaked) Warning() string {
	return l.what() + "; the tool got the text as it was sent, with the markup. If this was not meant, correct what the call did" + l.then(", and ")
}

func (l Leaked) what() string {
	if l.Name == "" {
		return l.Path + ": ends in the markup of a call"
	}
	which := "was not sent"
	if !l.Declared {
		which = "the tool does not have"
	}
	return l.Path + ": holds the markup of a parameter " + jsontext.Quote(l.Name) + ", which " + which
}

// then returns the advice that follows a separator; empty if there is none.
func (l Leaked) then(separator string) string {
	if !l.Declared {
		return ""
	}
	return separator + "send " + jsontext.Quote(l.Name) + " as a parameter of its own"
}

// leakage returns a sentence for each text that holds the markup of a parameter.
func leakage(all []Leaked) []string {
	var words []string
	for _, l := range all {
		words = append(words, l.what()+l.then("; "))
	}
	return words
}
