//go:build unix && !linux

package proc

import "slices"

// Tree returns the roots.
func Tree(roots ...int) []int { return slices.Clone(roots) }
