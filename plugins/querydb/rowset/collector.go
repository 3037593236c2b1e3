package rowset

import "fmt"

// Limits bound one answer.
type Limits struct {
	// Rows is how many rows there may be, at least 1.
	Rows int
	// Bytes is how many bytes the values of all rows may have in JSON, at least 1. A row that does not fit is left out.
	Bytes int
}

// Collector gathers rows up to a limit. The zero value keeps nothing; it is not safe for concurrent use.
type Collector struct {
	Limits Limits

	answer Answer
	bytes  int
}

// Add keeps a row. It reports false if the row is beyond a limit: then it was left out, and so must be all that come.
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

// CutBytes notes that a row was left out because it was too large.
func (c *Collector) CutBytes() { c.cut(fmt.Sprintf("the limit of %d bytes", c.Limits.Bytes)) }

func (c *Collector) cut(limit string) { c.answer.Truncated, c.answer.Limit = true, limit }

// Answer returns what was kept.
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
