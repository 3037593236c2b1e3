// Package rowset has the answer of a query: columns, and rows of values in JSON without loss of
// precision, up to a limit.
//
// It owns the form of values and the limits. It does not know databases.
package rowset

// Column is one column of an answer.
type Column struct {
	// Name is the column's name in the query. Several columns may have the same name.
	Name string `json:"name"`
	// Type is the database's name of the type. Empty if the database does not know it.
	Type string `json:"type,omitempty"`
}

// Answer has the columns and rows of a query's answer, and says whether rows are missing. The zero
// value has no columns.
type Answer struct {
	// Columns are in the order of the query.
	Columns []Column `json:"columns"`
	// Rows have one value per column, as JSON: see Int, Float, Text, Blob and Decimal.
	Rows [][]Value `json:"rows"`
	// Truncated says that the query has more rows.
	Truncated bool `json:"truncated"`
	// Limit names the limit that truncated the answer. Empty if Truncated is false.
	Limit string `json:"limit,omitempty"`
}

// Table describes a table for a model.
type Table struct {
	// Name is the name for queries, with the schema if that is necessary.
	Name string `json:"name"`
	// Comment is the database's comment. It may be empty.
	Comment string `json:"comment,omitempty"`
	// Columns are in their order.
	Columns []TableColumn `json:"columns"`
}

// TableColumn is one column of a table.
type TableColumn struct {
	Name string `json:"name"`
	// Type is the declared type. Empty if there is none.
	Type string `json:"type,omitempty"`
	// Key is "primary key", "references TABLE", or both. Empty if neither applies.
	Key string `json:"key,omitempty"`
	// Comment is what the database says of it. May be empty.
	Comment string `json:"comment,omitempty"`
}

// Schema has the tables of a database, up to a limit.
type Schema struct {
	Tables []Table `json:"tables"`
	// More says that there are more tables.
	More bool `json:"more,omitempty"`
}
