// Package rowset holds what a query answers: columns, and rows of values that JSON keeps exactly, up to a limit.
//
// It owns how values are written, how much of them is kept and how they are shown as a table. It knows no database.
package rowset

// Column is one column of an answer.
type Column struct {
	// Name is what the query calls it. Several columns may have the same.
	Name string `json:"name"`
	// Type is the database's word for what is in it; empty where the database does not know.
	Type string `json:"type,omitempty"`
}

// Answer is what a query answered. The zero value is an answer without columns.
type Answer struct {
	// Columns are in the order of the query.
	Columns []Column `json:"columns"`
	// Rows have a value for each column, as JSON: see Int, Float, Text, Blob and Decimal.
	Rows [][]Value `json:"rows"`
	// Truncated says that there were more rows than are here.
	Truncated bool `json:"truncated"`
	// Limit says which limit that was, in words; empty if Truncated is false.
	Limit string `json:"limit,omitempty"`
}

// Table is a table that can be queried, as a model is told of it.
type Table struct {
	// Name is how a query names it, with its schema where that is needed.
	Name string `json:"name"`
	// Comment is what the database says of it. May be empty.
	Comment string `json:"comment,omitempty"`
	// Columns are in their order.
	Columns []TableColumn `json:"columns"`
}

// TableColumn is one column of a table.
type TableColumn struct {
	Name string `json:"name"`
	// Type is as it was declared; empty where it was not.
	Type string `json:"type,omitempty"`
	// Key says what the column is for: "primary key", "references TABLE", or both; empty if neither.
	Key string `json:"key,omitempty"`
	// Comment is what the database says of it. May be empty.
	Comment string `json:"comment,omitempty"`
}

// Schema is the tables of a database, as far as they were read.
type Schema struct {
	Tables []Table `json:"tables"`
	// More says that there are tables beyond those.
	More bool `json:"more,omitempty"`
}
