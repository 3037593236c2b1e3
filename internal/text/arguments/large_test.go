package arguments_test

import (
	"strconv"
	"strings"
)

// branches returns a schema of n alternatives, each of which contains the schema itself.
func branches(n int) string {
	subs := make([]string, n)
	for i := range subs {
		subs[i] = `{"properties":{"a":{"$ref":"#"}},"required":["z` + strconv.Itoa(i) + `"]}`
	}
	return `{"anyOf":[{"type":"integer"},` + strings.Join(subs, ",") + `]}`
}

func nested(open string, n int, value, end string) string {
	return strings.Repeat(open, n) + value + strings.Repeat(end, n)
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"n` + strconv.Itoa(i) + `":1`)
	}
	return b.String()
}

// each calls one for the numbers from 0 to n-1 and joins the results.
func each(n int, one func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = one(i)
	}
	return strings.Join(all, ",")
}
