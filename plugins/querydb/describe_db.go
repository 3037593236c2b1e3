package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

const describeDescription = `Lists the tables and views of a database that can be queried, with their columns, types, keys and comments. Use it before query_db where that tool's description does not show all tables, or when a query failed because a table or column is unknown. It returns no rows.`

// most is the limit of listed tables. It is more than a model can read.
const most = 500

type describeInput struct {
	Database string `json:"database"`
	Table    string `json:"table,omitempty"`
}

func describeTool(l *library) sdk.Tool {
	spec := sdk.Spec{
		Name:        "describe_db",
		Version:     "1.0.0",
		DisplayName: "Describe a database",
		Description: describeDescription,
		Category:    "data",
		InputSchema: describeSchema(nil),
		InputExamples: []sdk.InputExample{
			{Description: "all tables", Arguments: json.RawMessage(`{"database":"shop"}`)},
			{Description: "the tables about orders", Arguments: json.RawMessage(`{"database":"shop","table":"order"}`)},
		},
		Timeout:     maxCall,
		ReadOnly:    true,
		Idempotent:  true,
		ContextKeys: []string{keyTenant},
	}
	return sdk.Func(spec, l.describeDB).Dynamic(func(ctx context.Context) (sdk.Variant, error) {
		s, err := l.described(ctx)
		if s == nil {
			return sdk.Variant{}, err
		}
		names := s.file.Names(s.tenant)
		return sdk.Variant{Description: describeDescription + "\n\nThe databases: " + strings.Join(names, ", ") + ".", InputSchema: describeSchema(names)}, nil
	})
}

// describeDB returns one line per table.
func (l *library) describeDB(ctx context.Context, in describeInput) (string, error) {
	s, err := l.shelf(ctx)
	if err != nil {
		return "", err
	}
	database, err := s.find(in.Database)
	if err != nil {
		return "", err
	}
	schema, err := s.schema(ctx, database, most)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	listed := 0
	for _, table := range schema.Tables {
		if !strings.Contains(strings.ToLower(table.Name), strings.ToLower(in.Table)) {
			continue
		}
		listed++
		b.WriteString(tableLine(table, noLimit) + "\n")
	}
	switch {
	case listed == 0 && in.Table != "":
		return "", fmt.Errorf("none of the %d tables has %q in its name; leave table out to see all", len(schema.Tables), in.Table)
	case listed == 0:
		return "There are no tables that you may see.", nil
	}
	fmt.Fprintf(&b, "(tables: %d)", listed)
	if schema.More {
		fmt.Fprintf(&b, "\n(there are more than %d tables; the others can be found in information_schema.tables or sqlite_schema)", most)
	}
	return b.String(), nil
}
