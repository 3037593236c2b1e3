// Package hostpb converts between package tool and toolhost.v1, the API of toolhost, for both of its ends: hostrpc
// serves it and client calls it. It also cuts results into the pieces that travel, and joins them again.
//
// FromX takes an X of package tool and returns its message; ToX the reverse. What toolhost.tool.v1 holds is converted by
// toolpb; the rules of that package (total, harmless, bytes shared) hold here too. It decides nothing and starts nothing.
package hostpb
