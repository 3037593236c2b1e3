package yamldoc

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/text/nearest"
)

// keysOf returns the keys of a struct, in the order of its fields.
func keysOf(t reflect.Type) []string {
	var keys []string
	for field := range t.Fields() {
		keys = append(keys, field.Tag.Get("yaml"))
	}
	return keys
}

// find returns the full name of the first key with a name in a struct or below it, or "".
func find(t reflect.Type, parent, name string) string {
	for field := range t.Fields() {
		key := Join(parent, field.Tag.Get("yaml"))
		if field.Tag.Get("yaml") == name {
			return key
		}
		if field.Type.Kind() == reflect.Struct {
			if found := find(field.Type, key, name); found != "" {
				return found
			}
		}
	}
	return ""
}

// Join returns the full name of a key below a parent. The parent of a key at the top of the file is
// "".
func Join(parent, key string) string {
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// ShownKey returns a key for an error: a simple name as it is, any other key in quotes and of
// bounded length, so that a file cannot forge the rest of the error.
func ShownKey(key string) string {
	simple := key != "" && len(key) <= 64 && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	if simple {
		return key
	}
	return strconv.Quote(string([]rune(key)[:min(60, len([]rune(key)))]))
}

// suggest returns the word that text probably means, or "". It also accepts a word that begins with
// text or that text begins with: "warning" means warn, and "max" means max_entries.
func suggest(text string, words []string) string {
	text = normal(text)
	best, distance := "", 3
	for _, word := range words {
		d := nearest.Distance([]rune(text), []rune(word), distance)
		if len(word) >= 3 && strings.HasPrefix(text, word) || len(text) >= 3 && strings.HasPrefix(word, text) {
			d = min(d, 2)
		}
		if d < distance && d < len(word)/2+1 {
			best, distance = word, d
		}
	}
	return best
}

// normal returns a word in the form of keys and choices.
func normal(word string) string {
	return strings.ReplaceAll(strings.ToLower(word), "-", "_")
}

// alternatives returns "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
