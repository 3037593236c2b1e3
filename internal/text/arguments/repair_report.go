package arguments

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// Repair is one change that made arguments fit.
type Repair struct {
	// As in the errors of Validate, such as "filter.tags[2]".
	Path string `json:"path"`
	// The given value; empty: none; a long one is cut to a string.
	From json.RawMessage `json:"from,omitempty"`
	To   json.RawMessage `json:"to,omitempty"` // the new value; empty: none; cut likewise
	Why  string          `json:"why"`          // the reason, in a few words for people and models
}

// maxRepairs bounds the repairs that are listed. The last entry of a longer list says how many more
// there are.
const maxRepairs = 100

// maxTold bounds the bytes of a value that a list of repairs repeats.
const maxTold = 1 << 10

// compare lists the differences between given and repaired arguments, by path. aliasesOf has the
// other names of properties.
func compare(from, to any, aliasesOf map[string][]string) []Repair {
	c := comparison{aliasesOf: aliasesOf}
	c.values(nil, from, to)
	if more := c.found - len(c.repairs); more > 0 {
		c.repairs = append(c.repairs, Repair{Path: jsontext.Path(nil), Why: fmt.Sprintf("and %d more", more)})
	}
	return c.repairs
}

type comparison struct {
	aliasesOf map[string][]string
	repairs   []Repair
	found     int
}

func (c *comparison) values(at []string, from, to any) {
	switch from := from.(type) {
	case map[string]any:
		if to, ok := to.(map[string]any); ok {
			c.objects(at, from, to)
			return
		}
		if to, ok := to.([]any); ok && len(to) == 1 {
			c.add(at, jsontext.Text(from), jsontext.Text(to), "it was one object, where the schema says array of objects")
			c.values(append(at, "0"), from, to[0])
			return
		}
	case []any:
		if to, ok := to.([]any); ok && len(to) == len(from) {
			for i := range from {
				c.values(append(at, strconv.Itoa(i)), from[i], to[i])
			}
			return
		}
	}
	if !reflect.DeepEqual(from, to) {
		c.add(at, jsontext.Text(from), jsontext.Text(to), reason(from, to))
	}
}

func (c *comparison) objects(at []string, from, to map[string]any) {
	names := maps.Clone(from)
	maps.Copy(names, to)
	renamed := c.renamed(from, to, names)
	gathered := c.gathered(from, to, names)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := append(at, name)
		before, was := from[name]
		after, is := to[name]
		switch {
		case renamed[name] != nil:
			sent := from[renamed[name][0]]
			c.add(at, jsontext.Text(sent), jsontext.Text(sent), "it was sent as "+jsontext.Names(renamed[name])+", another name of it")
			c.values(at, sent, after)
		case gathered[name] != nil:
			c.add(at, jsontext.Text(gathered[name]), jsontext.Text(after), "the properties of its only item were sent in its place")
			if list, ok := after.([]any); ok && len(list) == 1 {
				c.values(append(at, "0"), gathered[name], list[0])
			}
		case !was:
			c.add(at, nil, jsontext.Text(after), "it was missing and has a default")
		case !is:
			c.add(at, jsontext.Text(before), nil, "it is optional and cannot be null")
		case before == nil && after != nil:
			c.add(at, jsontext.Text(before), jsontext.Text(after), "it cannot be null and has a default")
		default:
			c.values(at, before, after)
		}
	}
}

// renamed returns the other names under which properties were sent, and removes these from names.
func (c *comparison) renamed(from, to, names map[string]any) map[string][]string {
	renamed := map[string][]string{}
	for name, after := range to {
		if _, was := from[name]; was {
			continue
		}
		for _, other := range c.aliasesOf[name] {
			before, was := from[other]
			if _, is := to[other]; was && !is && (before != nil || after == nil) {
				renamed[name] = append(renamed[name], other)
				delete(names, other)
			}
		}
	}
	return renamed
}

// gathered returns the properties that became the only item of a list, and removes these from
// names.
func (c *comparison) gathered(from, to, names map[string]any) map[string]map[string]any {
	gathered := map[string]map[string]any{}
	for name := range to {
		if _, was := from[name]; was || !slices.Contains(c.aliasesOf[name], itsItem) {
			continue
		}
		item := map[string]any{}
		for sent := range names {
			if _, is := to[sent]; !is && from[sent] != nil {
				item[sent] = from[sent]
				delete(names, sent)
			}
		}
		if len(item) > 0 {
			gathered[name] = item
		}
	}
	return gathered
}

func (c *comparison) add(at []string, from, to json.RawMessage, why string) {
	c.found++
	if len(c.repairs) < maxRepairs {
		c.repairs = append(c.repairs, Repair{Path: jsontext.Path(at), From: told(from), To: told(to), Why: why})
	}
}

// told returns a value as a list of repairs shows it. A long value becomes a string with its
// beginning.
func told(value json.RawMessage) json.RawMessage {
	if len(value) <= maxTold {
		return value
	}
	return jsontext.Text(strings.ToValidUTF8(string(value[:maxTold]), "") + "…")
}

// reason says why one value became another.
func reason(from, to any) string {
	switch to := to.(type) {
	case json.Number:
	case string:
		if text, ok := from.(string); ok && !strings.EqualFold(text, to) {
			return whyInForm(text, to)
		}
		return "the schema has this value in another case"
	case []any:
		return "it was a string that holds the JSON of an array, where the schema says array"
	case map[string]any:
		return "it was a string that holds the JSON of an object, where the schema says object"
	default:
		return "the schema says boolean"
	}
	given, wasNumber := from.(json.Number)
	if text, ok := from.(string); ok {
		given = json.Number(strings.TrimSpace(text))
	}
	before, after := rat(given), rat(to.(json.Number))
	switch {
	case before == nil || after == nil || before.Cmp(after) != 0:
		return "it was out of bounds"
	case wasNumber:
		return "the schema says integer"
	default:
		return "it was a string that holds a number, where the schema says number or integer"
	}
}
