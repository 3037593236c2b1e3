package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// asValues returns parameters for SQLite: int64, float64, bool, string or nil.
func asValues(parameters []json.RawMessage) ([]any, error) {
	values := make([]any, len(parameters))
	for i, raw := range parameters {
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			values[i] = n
			continue
		}
		if err := json.Unmarshal(raw, &values[i]); err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
	}
	return values, nil
}

// asTexts returns parameters for PostgreSQL: texts, which the server parses as the required types,
// or nil.
func asTexts(parameters []json.RawMessage) ([]*string, error) {
	texts := make([]*string, len(parameters))
	for i, raw := range parameters {
		switch raw[0] {
		case 'n':
		case '"':
			if err := json.Unmarshal(raw, &texts[i]); err != nil {
				return nil, fmt.Errorf("parameter %d: %w", i+1, err)
			}
		default:
			text := string(raw)
			texts[i] = &text
		}
	}
	return texts, nil
}
