package arguments

import "github.com/santhosh-tekuri/jsonschema/v6"

// formatsKeyword makes format an annotation at the root of a schema: toolhost refuses no text for
// it.
const formatsKeyword = "x-toolhost-formats"

// beyondStandard are formats that the validator knows and JSON Schema does not define. An author
// may mean something else by them.
var beyondStandard = []string{"semver", "period"}

// useFormats makes the compiler assert the standard formats in all drafts, or in none if the schema
// makes them annotations.
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
