package arguments

import "strconv"

// place is what a value in the text of a schema is: a schema, an object of schemas by name, or
// data. The items of an array have the array's place.
type place int

const (
	ofSchema place = iota
	ofSchemas
	ofData
)

// member returns the place of a member of an object.
func (p place) member(name string) place {
	if p != ofSchema {
		return map[place]place{ofSchemas: ofSchema, ofData: ofData}[p]
	}
	switch name {
	case "default", "const", "enum", "example", "examples":
		return ofData
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return ofSchemas
	}
	return ofSchema
}

// eachSchema calls visit for each schema in a document that is an object, those within it first,
// with its JSON pointer for the fragment of a URL. visit may change the schema.
func eachSchema(doc any, pointer string, visit func(pointer string, schema map[string]any)) {
	eachIn(doc, ofSchema, pointer, visit)
}

func eachIn(value any, p place, pointer string, visit func(pointer string, schema map[string]any)) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			eachIn(item, p, pointer+"/"+strconv.Itoa(i), visit)
		}
	case map[string]any:
		if p == ofData {
			return
		}
		for name, member := range value {
			eachIn(member, p.member(name), pointer+"/"+pointerToken(name), visit)
		}
		if p == ofSchema {
			visit(pointer, value)
		}
	}
}
