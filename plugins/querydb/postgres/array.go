package postgres

import (
	"errors"
	"strings"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// deepest is PostgreSQL's limit of array dimensions.
const deepest = 6

var errArray = errors.New("this is no array")

// array parses PostgreSQL's text form of an array, such as {1,NULL,"a b"} or [0:1]={{1},{2}}. It
// returns nested lists, and calls element for each text. It drops the lower bounds of dimensions.
func array(text string, element func(text string) rowset.Value) (rowset.Value, error) {
	if strings.HasPrefix(text, "[") {
		_, after, found := strings.Cut(text, "]=")
		if !found {
			return nil, errArray
		}
		text = after
	}
	r := arrayReader{text: text, element: element}
	if err := r.list(1); err != nil {
		return nil, err
	}
	if r.at != len(text) {
		return nil, errArray
	}
	return rowset.Value(r.out.String()), nil
}

type arrayReader struct {
	text    string
	at      int
	out     strings.Builder
	element func(text string) rowset.Value
}

// next returns the next byte, or 0 at the end.
func (r *arrayReader) next() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *arrayReader) list(depth int) error {
	if r.next() != '{' || depth > deepest {
		return errArray
	}
	r.at++
	r.out.WriteByte('[')
	for first := true; r.next() != '}'; first = false {
		if !first {
			if r.next() != ',' {
				return errArray
			}
			r.at++
			r.out.WriteByte(',')
		}
		if err := r.item(depth); err != nil {
			return err
		}
	}
	r.at++
	r.out.WriteByte(']')
	return nil
}

func (r *arrayReader) item(depth int) error {
	switch r.next() {
	case '{':
		return r.list(depth + 1)
	case '"':
		return r.quoted()
	}
	from := r.at
	for r.at < len(r.text) && !strings.ContainsRune(`{},"`, rune(r.text[r.at])) {
		if r.text[r.at] == '\\' {
			return errArray // PostgreSQL quotes elements with escapes
		}
		r.at++
	}
	switch text := r.text[from:r.at]; text {
	case "":
		return errArray
	case "NULL":
		r.out.Write(rowset.Null())
	default:
		r.out.Write(r.element(text))
	}
	return nil
}

func (r *arrayReader) quoted() error {
	var b strings.Builder
	for r.at++; r.next() != '"'; r.at++ {
		if r.next() == '\\' {
			r.at++
		}
		if r.at >= len(r.text) {
			return errArray
		}
		b.WriteByte(r.text[r.at])
	}
	r.at++
	r.out.Write(r.element(b.String()))
	return nil
}
