package escape_test

// otherTables are attempts with system calls of other tables: the filter of this architecture sees 32-bit programs as what
// they are, and there is no third table.
func otherTables() []attempt { return nil }
