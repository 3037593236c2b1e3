package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
	"github.com/toolhost/toolhost/sdk"
)

// queryDescription is for the model. The databases and their tables follow it if the tenant is
// known.
const queryDescription = `Runs one SELECT statement on a database and returns its columns and rows as JSON. Use it to look up, filter, join, count and sum what is stored there.
Nothing can be changed: other statements, and several in one call, are refused. You see only the data that you may see; do not try to get around that.
Write SQL in the dialect of the database (SQLite or PostgreSQL). Name columns instead of *, filter and aggregate in SQL, and add ORDER BY with LIMIT for the top few. truncated says if rows were left out.
Integers beyond ±2^53 and decimals are strings, and bytes are {"base64": …}.`

type queryInput struct {
	Database   string            `json:"database"`
	SQL        string            `json:"sql"`
	Parameters []json.RawMessage `json:"parameters,omitempty"`
	MaxRows    int               `json:"max_rows,omitempty"`
}

func queryTool(l *library) sdk.Tool {
	spec := sdk.Spec{
		Name:        "query_db",
		Version:     "1.0.0",
		DisplayName: "Query a database",
		Description: queryDescription,
		Category:    "data",
		InputSchema: querySchema(nil),
		InputExamples: []sdk.InputExample{
			{Description: "the five customers with the largest revenue",
				Arguments: json.RawMessage(`{"database":"shop","sql":"SELECT c.name, sum(o.total) AS revenue FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.name ORDER BY revenue DESC LIMIT 5"}`)},
			{Description: "a text as a parameter",
				Arguments: json.RawMessage(`{"database":"shop","sql":"SELECT id, name FROM customers WHERE name = $1","parameters":["O'Brien"]}`)},
		},
		Timeout:     maxCall,
		ReadOnly:    true,
		Idempotent:  true,
		ContextKeys: []string{keyTenant},
	}
	return sdk.Func(spec, l.queryDB).Dynamic(func(ctx context.Context) (sdk.Variant, error) {
		s, err := l.described(ctx)
		if s == nil {
			return sdk.Variant{}, err
		}
		names := s.file.Names(s.tenant)
		return sdk.Variant{Description: queryDescription + "\n\n" + s.overview(ctx), InputSchema: querySchema(names)}, nil
	})
}

// maxCall exceeds the time limit of every database, so that the model reads which limit applied.
const maxCall = 6 * time.Minute

// queryDB returns the answer as JSON, once: a model pays for each copy of a row.
func (l *library) queryDB(ctx context.Context, in queryInput) (sdk.Result, error) {
	s, err := l.shelf(ctx)
	if err != nil {
		return sdk.Result{}, err
	}
	database, err := s.find(in.Database)
	if err != nil {
		return sdk.Result{}, err
	}
	answer, err := s.query(ctx, database, in)
	if err != nil {
		return sdk.Result{}, err
	}
	return answerResult(answer)
}

func answerResult(answer rowset.Answer) (sdk.Result, error) {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil {
		return sdk.Result{}, fmt.Errorf("encoding the answer: %w", err)
	}
	result := sdk.Result{Content: []sdk.Content{sdk.JSON(bytes.TrimSpace(data.Bytes()))}}
	if answer.Truncated {
		result.Content = append(result.Content, sdk.Text(fmt.Sprintf(
			"[%d rows; there are more, cut at %s: narrow the query, aggregate, or page with ORDER BY and LIMIT … OFFSET]", len(answer.Rows), answer.Limit)))
	}
	return result, nil
}
