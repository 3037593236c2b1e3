package arguments

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/pattern"
)

// What a schema may be, so that compiling it takes less than about a second whoever wrote it. The validator's compiler
// takes time that grows with the square of the number of parts, and with the cube of their depth. A schema that a model
// can work with has some hundred parts.
const (
	// maxSchemaDepth bounds how deep objects and arrays are nested. An object's property is two levels below it.
	maxSchemaDepth = 100
	// maxSchemaParts bounds the objects, arrays and constants true and false: each may be a schema.
	maxSchemaParts = 4096
	// maxSchemaValues bounds all values, such as the texts of an enum.
	maxSchemaValues = 1 << 15
	// maxPlaces bounds the bytes of the paths of all parts together: the compiler keeps each.
	maxPlaces = 1 << 22
	// maxPatterns bounds the sizes of all patterns together, in characters that they match or choose from when their
	// repetitions are written out.
	maxPatterns = 1 << 17
)

// bounds goes through a schema before it is compiled.
type bounds struct {
	parts, values, places int
	size, texts           int            // of all patterns: their sizes, and their lengths in bytes
	patterns              map[string]int // their sizes
}

// take counts a value at a depth, whose path has so many bytes. It returns an error in words for the schema's author.
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
	if b.texts += len(text); b.texts <= maxPatterns { // to parse more takes too long already
		size = pattern.Size(text) // the compiler refuses what is no pattern
	}
	b.patterns[text] = size
	if b.size += size; b.size > maxPatterns || b.texts > maxPatterns {
		return fmt.Errorf("its patterns are too large: written out, their repetitions are more than %d characters, the last of them in %s", maxPatterns, cut(text))
	}
	return nil
}
