package postgres

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// columnType describes the values of a column.
type columnType struct {
	name    string
	oid     uint32
	element uint32 // element type of an array; 0 for other types
}

// kinds queries the names of types and the element types of arrays. A domain counts as its base
// type.
const kinds = `
SELECT pg_catalog.format_type(q.type, q.modifier),
	CASE WHEN t.typcategory = 'A' AND t.typlen = -1 AND e.typdelim = ',' THEN coalesce(nullif(e.typbasetype, 0), e.oid) ELSE 0 END
FROM ROWS FROM (
	pg_catalog.unnest(pg_catalog.string_to_array($1, ',')::pg_catalog.oid[]), pg_catalog.unnest(pg_catalog.string_to_array($2, ',')::pg_catalog.int4[])
) WITH ORDINALITY AS q(type, modifier, place)
LEFT JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) q.type LEFT JOIN pg_catalog.pg_type e ON e.oid OPERATOR(pg_catalog.=) t.typelem
ORDER BY q.place`

// types returns the types of columns. A query may have none.
func (s *session) types(ctx context.Context, fields []pgconn.FieldDescription) ([]columnType, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	var oids, modifiers []string
	for _, f := range fields {
		oids = append(oids, strconv.FormatUint(uint64(f.DataTypeOID), 10))
		modifiers = append(modifiers, strconv.Itoa(int(f.TypeModifier)))
	}
	rows, err := s.texts(ctx, kinds, strings.Join(oids, ","), strings.Join(modifiers, ","))
	if err != nil {
		return nil, err
	}
	types := make([]columnType, len(fields))
	for i, f := range fields {
		types[i] = columnType{name: rows[i][0], oid: f.DataTypeOID}
		if element, err := strconv.ParseUint(rows[i][1], 10, 32); err == nil {
			types[i].element = uint32(element)
		}
	}
	return types, nil
}

// encode converts a value in PostgreSQL's text format to JSON. nil is NULL.
func (t columnType) encode(value []byte) rowset.Value {
	switch {
	case value == nil:
		return rowset.Null()
	case t.element != 0:
		list, err := array(string(value), func(text string) rowset.Value { return scalar(text, t.element) })
		if err != nil {
			return rowset.Text(string(value))
		}
		return list
	}
	return scalar(string(value), t.oid)
}

func scalar(text string, oid uint32) rowset.Value {
	switch oid {
	case pgtype.BoolOID:
		return rowset.Bool(text == "t")
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return rowset.Int(n)
		}
	case pgtype.Float4OID, pgtype.Float8OID:
		// PostgreSQL writes the shortest text that identifies the number.
		if json.Valid([]byte(text)) {
			return rowset.Value(text)
		}
	case pgtype.JSONOID, pgtype.JSONBOID:
		if json.Valid([]byte(text)) {
			return rowset.Value(text)
		}
	case pgtype.ByteaOID:
		if data, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			return rowset.Blob(data)
		}
	case pgtype.NumericOID:
		return rowset.Decimal(text)
	}
	return rowset.Text(text)
}
