package arguments

import "github.com/santhosh-tekuri/jsonschema/v6"

// formatsKeyword says at the root of a schema that format is an annotation there: no text is refused for it.
const formatsKeyword = "x-toolhost-formats"

// beyondStandard are the formats that the validator knows and JSON Schema does not: what an author means by them is not known.
var beyondStandard = []string{"semver", "period"}

// useFormats has the standard formats asserted in all drafts, or in none if the schema says that they are annotations.
func useFormats(c *jsonschema.Compiler, doc any) {
	anything := func(any) error { return nil }
	free := beyondStandard
	if root, ok := doc.(map[string]any); ok && root[formatsKeyword] == "annotation" {
		free = append(free, "json-pointer", "relative-json-pointer", "uuid", "duration", "ipv4", "ipv6", "hostname", "email", "date", "time",
			"date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template")
	} else {
		c.AssertFormat()
	}
	for _, name := range free {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: anything})
	}
}
