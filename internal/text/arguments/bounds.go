package arguments

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/internal/text/pattern"
)

// Bounds of a schema, so that compiling it takes less than about a second, whatever its author
// wrote. The time of the validator's compiler grows with the square of the number of parts and with
// the cube of their depth. A schema that a model can use has some hundred parts.
const (
	// maxSchemaDepth bounds the nesting of objects and arrays. A property is two levels below its
	// object.
	maxSchemaDepth = 100
	// maxSchemaParts bounds the objects, arrays, and constants true and false. Each of them may be
	// a schema.
	maxSchemaParts = 4096
	// maxSchemaValues bounds all values, such as the texts of an enum.
	maxSchemaValues = 1 << 15
	// maxPlaces bounds the total length of the paths of all parts in bytes. The compiler stores
	// each path.
	maxPlaces = 1 << 22
	// maxPatterns bounds the total size of all patterns, with their repetitions written out.
	maxPatterns = 1 << 17
)

// bounds walks through a schema before it is compiled.
type bounds struct {
	parts, values, places int
	// Of all patterns: their total size, and their total length in bytes.
	size, texts int
	patterns    map[string]int // the size of each pattern
}

// take counts a value at a depth. The path of the value has place bytes. The error is for the
// author of the schema.
func (b *bounds) take(value any, depth, place int) error {
	if b.values++; b.values > maxSchemaValues {
		return fmt.Errorf("it holds more than %d values; leave out what a model cannot choose from anyway", maxSchemaValues)
	}
	if depth > maxSchemaDepth {
		return fmt.Errorf("it is nested deeper than %d levels; put what is inside under $defs and refer to it with $ref", maxSchemaDepth)
	}
	var err error
	switch v := value.(type) {
	case bool:
		err = b.part(place)
	case map[string]any:
		if err = b.part(place); err == nil {
			err = b.object(v, depth, place)
		}
	case []any:
		err = b.part(place)
		for i := 0; i < len(v) && err == nil; i++ {
			err = b.take(v[i], depth+1, place+8)
		}
	}
	return err
}

func (b *bounds) part(place int) error {
	b.parts++
	b.places += place
	if b.parts > maxSchemaParts || b.places > maxPlaces {
		return fmt.Errorf("it has more than %d parts, or parts of very long names; make several tools of the one, or say less", maxSchemaParts)
	}
	return nil
}

func (b *bounds) object(v map[string]any, depth, place int) error {
	for name, part := range v {
		if err := b.take(part, depth+1, place+1+len(name)); err != nil {
			return err
		}
		text, isText := part.(string)
		byPattern, isObject := part.(map[string]any)
		switch {
		case name == "pattern" && isText:
			if err := b.pattern(text); err != nil {
				return err
			}
		case name == "patternProperties" && isObject:
			for text := range byPattern {
				if err := b.pattern(text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *bounds) pattern(text string) error {
	size := len(text)
	// Parsing a longer pattern would already take too long.
	if b.texts += len(text); b.texts <= maxPatterns {
		size = pattern.Size(text) // the compiler refuses an invalid pattern
	}
	b.patterns[text] = size
	if b.size += size; b.size > maxPatterns || b.texts > maxPatterns {
		return fmt.Errorf("its patterns are too large: written out, their repetitions are more than %d characters, the last of them in %s", maxPatterns, jsontext.Cut(text))
	}
	return nil
}
