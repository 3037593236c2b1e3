package rowset

import "fmt"

// Limits limits one answer.
type Limits struct {
	// Rows is the largest number of rows, at least 1.
	Rows int
	// Bytes is the largest size of all values as JSON, at least 1. A row that does not fit is
	// omitted.
	Bytes int
}

// Collector collects rows up to a limit. The zero value keeps none. It is not safe for concurrent
// use.
type Collector struct {
	Limits Limits

	answer Answer
	bytes  int
}

// Add adds a row. It returns false if the row exceeds a limit. The row is then omitted, and callers
// must not add more rows.
func (c *Collector) Add(row []Value) bool {
	if c.answer.Truncated {
		return false
	}
	if len(c.answer.Rows) >= c.Limits.Rows {
		c.cut(fmt.Sprintf("the limit of %d rows", c.Limits.Rows))
		return false
	}
	for _, value := range row {
		c.bytes += len(value) + 1
	}
	if c.bytes > c.Limits.Bytes {
		c.CutBytes()
		return false
	}
	c.answer.Rows = append(c.answer.Rows, row)
	return true
}

// CutBytes records that a row was omitted because it was too large.
func (c *Collector) CutBytes() { c.cut(fmt.Sprintf("the limit of %d bytes", c.Limits.Bytes)) }

func (c *Collector) cut(limit string) { c.answer.Truncated, c.answer.Limit = true, limit }

// Answer returns the collected rows.
func (c *Collector) Answer(columns []Column) Answer {
	a := c.answer
	if a.Columns = columns; a.Columns == nil {
		a.Columns = []Column{}
	}
	if a.Rows == nil {
		a.Rows = [][]Value{}
	}
	return a
}
