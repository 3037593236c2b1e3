package arguments

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Settled reports that the arguments fit the schema, that Repair would leave them as they are, and that none is Undeclared. False means that this is
// not known: Repair and Validate tell. It takes no allocation and, for schemas as tools have them, very little time.
func (s *Schema) Settled(p Parsed) bool {
	if p.form == nil || len(p.form.parts) == 0 {
		return false
	}
	j := judge{form: p.form, left: maxQuickSteps + quickStepsEach*len(p.form.parts) + quickCounts*len(p.form.canonical)/textStep}
	return j.settled(s.quick, 0, 0)
}

const (
	// maxQuickHops bounds how many schemas that refer to each other speak of one value here.
	maxQuickHops = 32
	// maxQuickSteps and quickStepsEach, for each part of the arguments, bound how often a schema is held against a part. Sound
	// schemas take one or a few for each. Where alternatives hold the schema itself, there could be any number.
	maxQuickSteps  = 256
	quickStepsEach = 16
	// quickCounts bounds how often the characters of all texts are counted, likewise.
	quickCounts = 4
	// maxExactDigits is how many digits a float64 holds exactly.
	maxExactDigits = 15
)

// judge holds one form against schemas.
type judge struct {
	*form
	left int // steps
}

// settled reports that the i-th part certainly fits, and that a repair would change nothing. False means that it is not known.
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

// own is settled for what the schema says itself.
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

// characters counts those of the inside of a text with escapes.
func characters(text []byte) int {
	count := 0
	for len(text) > 0 {
		_, n := character(text)
		text = text[n:]
		count++
	}
	return count
}

// number judges numbers that stand within their bounds also after rounding, which keeps their order. A whole number that
// is not written as one is not judged, for a repair may write it so.
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
		if name.marks&spelled != 0 { // a name that hardly any tool has
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
		case q.anyOthers && q.declares: // it may be misspelled
			return false
		case q.anyOthers:
		case !j.settled(q.others, at+1, 0):
			return false
		}
	}
	return expected == q.expected
}
