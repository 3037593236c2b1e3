//go:build more

package docs

import "testing"

// The commands of the pages about Python and TypeScript work. They need these languages and their
// packages.
func TestPagesOfSDKs(t *testing.T) { testPages(t, true) }

// The commands of the examples in Python and TypeScript work.
func TestExamplesOfSDKs(t *testing.T) { testExamples(t, true) }
