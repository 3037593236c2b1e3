package main

import (
	"encoding/json"
	"strings"
)

// property is one property of a hand-written schema. The schema depends on the names of databases.
type property struct {
	name   string
	schema map[string]any
}

// querySchema returns the schema of query_db's arguments for the named databases, or nil if the
// databases are unknown.
func querySchema(names []string) json.RawMessage {
	return objectSchema([]string{"database", "sql"},
		databaseProperty(names),
		property{"sql", map[string]any{
			"type": "string", "minLength": 1, "maxLength": 100_000,
			"description": "one SELECT, VALUES or WITH … SELECT statement, in the database's dialect",
		}},
		property{"parameters", map[string]any{
			"type": "array", "maxItems": 100,
			"items":       map[string]any{"type": []string{"string", "number", "boolean", "null"}},
			"description": "the values of $1, $2, … (PostgreSQL) or ?1, ?2, … (SQLite) in the statement, in order. Put what a person typed here, not into the SQL",
		}},
		property{"max_rows", map[string]any{
			"type": "integer", "minimum": 1, "maximum": 10_000,
			"description": "return at most so many rows; the database's own limit also holds",
		}},
	)
}

// describeSchema is the same for describe_db.
func describeSchema(names []string) json.RawMessage {
	return objectSchema([]string{"database"},
		databaseProperty(names),
		property{"table", map[string]any{
			"type":        "string",
			"description": "list only tables whose name has this in it, in capitals or not; leave it out for all",
		}},
	)
}

func databaseProperty(names []string) property {
	p := property{"database", map[string]any{"type": "string", "description": "the name of the database, as listed in the tool's description"}}
	if len(names) > 0 {
		p.schema["enum"] = names
	}
	return p
}

// objectSchema keeps the order of properties, because models write arguments in that order.
func objectSchema(required []string, properties ...property) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range properties {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encoded(p.name))
		b.WriteByte(':')
		b.Write(encoded(p.schema))
	}
	b.WriteString(`},"required":`)
	b.Write(encoded(required))
	b.WriteString(`,"additionalProperties":false}`)
	return json.RawMessage(b.String())
}

// encoded encodes texts, numbers and lists of them as JSON, which cannot fail.
func encoded(value any) []byte {
	data, _ := json.Marshal(value)
	return data
}
