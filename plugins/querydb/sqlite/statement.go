package sqlite

import (
	"errors"
	"strings"
)

var (
	errNothing = errors.New("the SQL is empty; send one SELECT statement")
	errSeveral = errors.New("only one statement can be sent at a time; send several calls, or join them in one SELECT")
)

// single returns the one statement of a text, without the semicolon that ends it and what comes after, or an error. It
// reads the text as SQLite's tokenizer does.
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

// ending returns where the first statement ends: at a semicolon that is in no quotes and no comment, or with the text.
func ending(text string) int {
	for i := 0; i < len(text); i += width(text[i:]) {
		if text[i] == ';' {
			return i
		}
	}
	return len(text)
}

// blank reports whether there is nothing in a text but space, comments and semicolons.
func blank(text string) bool {
	for i := 0; i < len(text); i += width(text[i:]) {
		if !strings.ContainsRune(" \t\n\f\r;", rune(text[i])) && width(text[i:]) < 2 || quoted(text[i]) {
			return false
		}
	}
	return true
}

func quoted(c byte) bool { return c == '\'' || c == '"' || c == '`' || c == '[' }

// width returns how many bytes belong together at the beginning of a text: what is quoted, a comment, or one byte.
func width(text string) int {
	switch {
	case strings.HasPrefix(text, "--"):
		return through(text, "\n", 2)
	case strings.HasPrefix(text, "/*") && len(text) > 2: // at the very end it is a slash and a star
		return through(text, "*/", 2)
	case text[0] == '[':
		return through(text, "]", 1)
	case quoted(text[0]):
		// A doubled quote reads as two quoted texts side by side, which ends at the same place.
		return through(text, text[:1], 1)
	}
	return 1
}

// through returns the length of a text up to the end of what closes it, which is looked for from a place on.
func through(text, closing string, from int) int {
	if i := strings.Index(text[from:], closing); i >= 0 {
		return from + i + len(closing)
	}
	return len(text)
}
