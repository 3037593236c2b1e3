package arguments

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Settled reports that the arguments fit the schema, that Repair would not change them, and that
// none of them is Undeclared. False means that only Repair and Validate can tell. Settled does not
// allocate. By the schemas that tools usually have, it takes very little time.
func (s *Schema) Settled(p Parsed) bool {
	if p.form == nil || len(p.form.parts) == 0 {
		return false
	}
	j := judge{form: p.form, left: maxQuickSteps + quickStepsEach*len(p.form.parts) + quickCounts*len(p.form.canonical)/textStep}
	return j.settled(s.quick, 0, 0)
}

const (
	// maxQuickHops bounds the schemas that refer to each other and apply to one value.
	maxQuickHops = 32
	// maxQuickSteps and quickStepsEach, for each part of the arguments, bound how often a schema is
	// applied to a part. Usual schemas are applied once or a few times to each. A schema whose
	// alternatives contain the schema itself could be applied without end.
	maxQuickSteps  = 256
	quickStepsEach = 16
	// quickCounts bounds, in the same way, how often the characters of all texts are counted.
	quickCounts = 4
	// maxExactDigits is the number of decimal digits that a float64 represents exactly.
	maxExactDigits = 15
)

// judge applies schemas to one form.
type judge struct {
	*form
	left int // steps that are left
}

// settled reports that the i-th part fits and that a repair would not change it. False means that
// this is not known.
func (j *judge) settled(q *quick, i uint32, hops int) bool {
	j.left--
	if q == nil || hops > maxQuickHops || j.left < 0 || !j.own(q, i) {
		return false
	}
	for _, sub := range q.all {
		if !j.settled(sub, i, hops+1) {
			return false
		}
	}
	return len(q.alternatives) == 0 ||
		slices.ContainsFunc(q.alternatives, func(sub *quick) bool { return j.settled(sub, i, hops+1) })
}

// own is settled for the keywords of the schema itself.
func (j *judge) own(q *quick, i uint32) bool {
	p := &j.parts[i]
	if p.kind == kindNumber {
		return q.number(j.canonical[p.start:p.end])
	}
	if !q.kinds.has(p.kind) {
		return false
	}
	switch p.kind {
	case kindText:
		return j.text(q, j.canonical[p.start:p.end], p.marks&spelled != 0)
	case kindArray:
		return j.array(q, i)
	case kindObject:
		return j.object(q, i)
	default:
		return true
	}
}

func (j *judge) text(q *quick, said []byte, escaped bool) bool {
	if q.minLength >= 0 || q.maxLength >= 0 {
		if j.left -= len(said) / textStep; j.left < 0 {
			return false
		}
		n := utf8.RuneCount(said)
		if escaped {
			n = characters(said)
		}
		if n < q.minLength || q.maxLength >= 0 && n > q.maxLength {
			return false
		}
	}
	if q.words == nil {
		return true
	}
	return !escaped && slices.ContainsFunc(q.words, func(word string) bool { return word == string(said) })
}

// characters counts the characters of a text that contains escapes.
func characters(text []byte) int {
	count := 0
	for len(text) > 0 {
		_, n := character(text)
		text = text[n:]
		count++
	}
	return count
}

// number reports whether a number fits. Rounding to a float64 keeps the order of numbers, so that a
// number strictly within the bounds still is after rounding. A whole number that is written with a
// point or exponent is not judged, because a repair may rewrite it.
func (q *quick) number(v []byte) bool {
	whole := len(v) <= maxExactDigits && !bytes.ContainsAny(v, ".eE") && string(v) != "-0"
	if !q.kinds.has(kindNumber) && !(whole && q.kinds.has(kindInteger)) || !whole && len(v) > maxScalarText {
		return false
	}
	if !q.bounded {
		return true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	above := f > q.low || whole && q.lowCounts && f == q.low
	below := f < q.high || whole && q.highCounts && f == q.high
	return err == nil && above && below
}

func (j *judge) array(q *quick, i uint32) bool {
	n, end := 0, j.parts[i].next
	for at := i + 1; at < end; at = j.parts[at].next {
		if n++; !q.anyItems && !j.settled(q.items, at, 0) {
			return false
		}
	}
	return n >= q.minItems && (q.maxItems < 0 || n <= q.maxItems)
}

func (j *judge) object(q *quick, i uint32) bool {
	expected, end := 0, j.parts[i].next
	for at := i + 1; at < end; at = j.parts[at+1].next {
		name := &j.parts[at]
		if name.marks&spelled != 0 { // hardly any tool has such a name
			return false
		}
		sub, known := q.properties[string(j.canonical[name.start:name.end])]
		if sub.expected {
			expected++
		}
		switch {
		case known && sub.declared:
			if !j.settled(sub.quick, at+1, 0) {
				return false
			}
		case q.anyOthers && q.declares: // the name may be misspelled
			return false
		case q.anyOthers:
		case !j.settled(q.others, at+1, 0):
			return false
		}
	}
	return expected == q.expected
}
