package sqlite

import (
	"errors"
	"strings"
)

var (
	errNothing = errors.New("the SQL is empty; send one SELECT statement")
	errSeveral = errors.New("only one statement can be sent at a time; send several calls, or join them in one SELECT")
)

// single returns the only statement of a text, without its semicolon and what follows, or an error.
// It splits the text like SQLite's tokenizer.
func single(text string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", errors.New("the SQL has a character NUL, which ends it for SQLite; leave it out")
	}
	end := ending(text)
	statement, rest := text[:end], text[end:]
	if blank(statement) {
		return "", errNothing
	}
	if !blank(rest) {
		return "", errSeveral
	}
	return statement, nil
}

// ending returns the end of the first statement: the first semicolon outside of quotes and
// comments, or the end of the text.
func ending(text string) int {
	for i := 0; i < len(text); i += width(text[i:]) {
		if text[i] == ';' {
			return i
		}
	}
	return len(text)
}

// blank reports whether a text has only space, comments and semicolons.
func blank(text string) bool {
	for i := 0; i < len(text); i += width(text[i:]) {
		if !strings.ContainsRune(" \t\n\f\r;", rune(text[i])) && width(text[i:]) < 2 || quoted(text[i]) {
			return false
		}
	}
	return true
}

func quoted(c byte) bool { return c == '\'' || c == '"' || c == '`' || c == '[' }

// width returns the length of the first token of a text: a quoted text, a comment, or one byte.
func width(text string) int {
	switch {
	case strings.HasPrefix(text, "--"):
		return through(text, "\n", 2)
	// at the end of the text it is a slash and a star
	case strings.HasPrefix(text, "/*") && len(text) > 2:
		return through(text, "*/", 2)
	case text[0] == '[':
		return through(text, "]", 1)
	case quoted(text[0]):
		// A doubled quote parses as two adjacent quoted texts, which end at the same place.
		return through(text, text[:1], 1)
	}
	return 1
}

// through returns the length of a text up to the end of a closing string, searched from an offset.
func through(text, closing string, from int) int {
	if i := strings.Index(text[from:], closing); i >= 0 {
		return from + i + len(closing)
	}
	return len(text)
}
