//go:build more

package docs

import "testing"

// TestPagesOfSDKs follows the pages about Python and TypeScript, which need these languages and their packages.
func TestPagesOfSDKs(t *testing.T) { testPages(t, true) }

// TestExamplesOfSDKs does likewise with the examples.
func TestExamplesOfSDKs(t *testing.T) { testExamples(t, true) }
